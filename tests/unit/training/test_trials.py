"""The small settings are those that the logged trials chose, and every method had the same trials."""

from pathlib import Path

import pytest

from sumcurve.plan import Plan, read_settings
from sumcurve.settings import Recipe
from sumcurve.training.trials import (
    Trial,
    TrialsSettings,
    best_trial,
    corpus_of,
    read_rows,
    recipe_of,
    small,
    trial_digest,
)

CONFIG = Path(__file__).parents[3] / "config"
SETTINGS = read_settings(CONFIG / "trials.yaml", TrialsSettings)
PLAN = Plan.read(CONFIG, SETTINGS.study)
TWINS = {"ent_loss": "ent", "ent_penalty": "ent", "ent_gold": "ent_base"}  # the trained model's trials are the other's


def rate_and_dropout(recipe: Recipe) -> tuple[float, float]:
    return recipe.training.phases[0].optimizer.rate, recipe.model.dropout


def test_every_method_had_the_same_trials_of_its_present_settings() -> None:
    rows = read_rows(CONFIG / "trials.csv")
    found = {(row["method"], float(row["rate"]), float(row["dropout"]), row["corpus"], row["digest"]) for row in rows}
    wanted = set()
    for method in PLAN.settings.methods:
        recipe = small(CONFIG, method)
        corpus = corpus_of(PLAN, recipe, SETTINGS)
        for trial in SETTINGS.trials:
            key = trial_digest(recipe_of(recipe, trial), corpus, SETTINGS)
            wanted.add((method, trial.rate, trial.dropout, corpus, key))
    assert found == wanted, "run `make trials`, and put the best of each method into its file"


@pytest.mark.parametrize("method", [*PLAN.settings.methods, *TWINS])
def test_small_settings_are_the_best_trial(method: str) -> None:
    best = best_trial(read_rows(CONFIG / "trials.csv"), TWINS.get(method, method))
    assert rate_and_dropout(small(CONFIG, method)) == (float(best["rate"]), float(best["dropout"]))


def test_a_trial_changes_rate_and_dropout_alone() -> None:
    trial = Trial(rate=0.0123, dropout=0.456)
    for method in PLAN.settings.methods:
        before = small(CONFIG, method)
        after = recipe_of(before, trial)
        assert rate_and_dropout(after) == (0.0123, 0.456)
        assert recipe_of(after, Trial(rate=rate_and_dropout(before)[0], dropout=before.model.dropout)) == before


def test_the_best_trial_has_the_highest_rouge_then_the_lowest_nll() -> None:
    rows = [
        {"method": "a", "rouge": "9.5", "nll": "2", "rate": "1"},
        {"method": "a", "rouge": "10.0", "nll": "3", "rate": "2"},
        {"method": "a", "rouge": "10.0", "nll": "2.5", "rate": "3"},
        {"method": "b", "rouge": "11.0", "nll": "1", "rate": "4"},
    ]
    assert best_trial(rows, "a")["rate"] == "3"
