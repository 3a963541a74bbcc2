"""A metric that finds no word in many references ranks nothing, and the pages say so."""

from dataclasses import replace

import pytest

from sumcurve.scores.rouge_f1 import EMPTY_REFERENCES, UNCOUNTED, RougeF1
from sumcurve.settings.study import Rouge
from sumcurve.store.records import Record, write_jsonl
from sumcurve.study.tables import write_study
from sumcurve.tables.results import Results


def with_wordless(study, number):
    """The study whose ROUGE found no word in so many references of its first corpus."""
    (corpus, *_) = study.corpora
    outputs = [
        replace(output, scores={"rouge": replace(items, counts={**items.counts, EMPTY_REFERENCES: number},
                                                 signature="rouge:1+2+Lsum|mode:rouge-score-0.1.2")})
        if output.corpus == corpus and (items := output.scores["rouge"])
        else output
        for output in study.outputs
    ]  # fmt: skip
    return corpus, replace(study, outputs=outputs)


def test_it_ranks_nobody_there_and_the_first_page_says_why(study, settings, tmp_path, monkeypatch):
    monkeypatch.setattr("sumcurve.study.tables.write_figures", lambda *_: None)
    corpus, blind = with_wordless(study, 30)
    results = Results(blind, settings)
    (other,) = set(results.corpora) - {corpus}
    assert results.ranking_metrics(corpus) == []
    assert results.ranking_metrics(other) == Results(study, settings).ranking_metrics(other)
    why = "ROUGE-1 counts no word in 30 of 40 references; mode unicode or characters reads other scripts"
    assert results.unread(corpus, "rouge1") == why
    write_study(tmp_path / "t", blind, settings)
    page = (tmp_path / "t" / "pages" / "README.md").read_text()
    assert f"**Metrics that find no words rank no method.** {why}. " in page
    assert f"‡ {why}. Not ranked: rows are in the order of names." in page
    assert f"{corpus}: {why}: not ranked." in (tmp_path / "t" / "pages" / "report.html").read_text()


@pytest.mark.parametrize(
    ("mode", "references", "wordless"),
    [
        ("rouge-score", ["नदी में पानी"] * 3 + ["an otter"] * 17, 3),
        ("rouge-score", ["नदी में पानी"] + ["an otter"] * 19, None),  # 5 %: ranked, and the column `empty` says it
        ("rouge-score", ["министр"] * 20, 20),
        ("rouge-score", ["河"] * 20, 20),
        ("unicode", ["नदी में पानी"] * 20, None),
        ("unicode", ["— !"] * 20, 20),
        ("characters", ["น้ำ"] * 20, None),
    ],
)
def test_references_without_a_word_are_counted_where_they_are_many(tmp_path, mode, references, wordless):
    records = [Record(f"r{place}", ["a b"], [text]) for place, text in enumerate(references)]
    write_jsonl(tmp_path / "summaries.jsonl", ({"id": record.id, "summary": ["an otter"]} for record in records))
    counts = RougeF1(Rouge(mode=mode)).score(tmp_path, records, {}).counts
    assert counts.get(EMPTY_REFERENCES) == wordless
    assert wordless is None or wordless > UNCOUNTED * len(records)
