"""Values of test items as Parquet."""

import pandas as pd
import pytest

from sumcurve.study.tables import made
from sumcurve.tables.items import FILE, write_items
from sumcurve.tables.results import Results

OUTPUT = ["corpus", "method", "search", "part", "seed"]


def test_means_over_items_are_those_of_table_seeds(rich_study, settings, tmp_path):
    write_items("rich", rich_study, tmp_path)
    items = pd.read_parquet(tmp_path / FILE)
    assert set(items.study) == {"rich"}
    means = items[items.metric == "rouge1"].groupby([*OUTPUT, "records"], observed=True).value.mean().to_dict()
    seeds = made("seeds", Results(rich_study, settings)).frame()
    trained = seeds[seeds.seed.notna()]
    assert len(trained) > 5
    for row in trained.itertuples():
        mean = means[row.corpus, row.method, row.search or "", row.part, row.seed, row.records]
        assert mean == pytest.approx(row.rouge1)


def test_untrained_systems_have_no_records_and_trained_ones_their_seconds(rich_study, tmp_path):
    write_items("rich", rich_study, tmp_path)
    items = pd.read_parquet(tmp_path / FILE)
    for output in rich_study.outputs:
        cells = [output.corpus, output.method, output.search or "", output.part]
        rows = items[(items[OUTPUT[:4]] == cells).all(axis=1)]
        rows = rows[rows.seed.isna() if output.seed is None else rows.seed == output.seed]
        assert rows.records.isna().all() == (output.records is None)
        assert rows.seconds.isna().all() == (output.timing is None)
