import pytest
from pydantic import ValidationError

from sumcurve.settings import Form, Optimizer

RECURRENT = {"kind": "recurrent", "embedding": 4, "hidden": 4, "feed": "nothing"}
TRANSFORMER = {
    "kind": "transformer", "width": 4, "heads": 2, "feedforward": 4, "encoder_layers": 1, "decoder_layers": 1
}  # fmt: skip


def _form(model, *phases):
    stop = {"every_updates": 1, "every_epochs": 1.0, "patience": 1, "max_updates": 1}
    given = [{"name": "nll", "loss": "nll", "optimizer": {"rate": 0.1}, "stop": stop} | phase for phase in phases]
    return Form.model_validate(
        {"model": model, "training": {"batch": 1, "vocabulary": 1, "valid_records": 1, "phases": given}}
    )


def test_label_smoothing_is_for_models_that_do_not_copy():
    smooth = {"label_smoothing": 0.1}
    assert _form(RECURRENT, smooth)
    assert _form(TRANSFORMER | {"copy_attention": False}, smooth)
    for model in (RECURRENT | {"copy_attention": True}, TRANSFORMER):
        with pytest.raises(ValidationError, match="label_smoothing is for models without copy_attention"):
            _form(model, smooth)


@pytest.mark.parametrize("phase", [{"coverage": True}, {"loss": "nll+coverage"}])
def test_coverage_is_for_recurrent_models_with_additive_attention(phase):
    assert _form(RECURRENT, phase)
    for model in (TRANSFORMER, RECURRENT | {"attention": "bilinear"}):
        with pytest.raises(ValidationError, match="needs a recurrent model with additive attention"):
            _form(model, phase)


def test_phases_have_names_of_their_own():
    assert _form(RECURRENT, {}, {"name": "more"})
    with pytest.raises(ValidationError, match="two phases share a name"):
        _form(RECURRENT, {}, {})


def test_noam_needs_a_warmup():
    assert Optimizer(rate=0.1, schedule="noam", warmup_updates=1)
    with pytest.raises(ValidationError, match="warmup_updates of at least 1"):
        Optimizer(rate=0.1, schedule="noam")
