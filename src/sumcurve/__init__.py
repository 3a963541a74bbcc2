"""Measurements of how summarizers learn from data: training, scores and efficiency on growing fractions of a corpus.

The functions below need no study. Each is imported when it is first used, and returns a result that prints as tables,
is shown as HTML in a notebook, and returns numbers by `to_pandas()`.

>>> import sumcurve as sc
>>> sc.rouge(["the cat sat"], ["the cat lay"])          # ROUGE with intervals; compare=… for a second system
>>> sc.compare("scores.csv")                            # who is significantly better, on the same items
>>> sc.curve("results.csv")                             # what more data would bring
>>> sc.power(sd_items=18, sd_seed=0.8, effect=2.2)      # items and seeds that show a difference
>>> sc.efficiency("cano-bojar-2020")                    # σ, θ, ε
>>> sc.oracle([("One. Two. Three.", "Two.")])           # optimal extracts
>>> sc.load("results/tables/docstrings").scores         # a study's tables as data frames
>>> sc.across(["aeslc", "dialogsum"])                  # recorded studies side by side
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from sumcurve.capabilities import FUNCTIONS
from sumcurve.machine.version import VERSION

if TYPE_CHECKING:
    from sumcurve.interface.compare import compare
    from sumcurve.interface.curve import curve
    from sumcurve.interface.efficiency import efficiency
    from sumcurve.interface.power import power
    from sumcurve.interface.rouge import rouge
    from sumcurve.interface.study import load

__version__ = VERSION
__all__ = ["compare", "curve", "efficiency", "load", "power", "rouge", *FUNCTIONS]

_HOMES = {name: f"interface.{name}" for name in __all__} | {"load": "interface.study"} | FUNCTIONS


def __getattr__(name: str) -> Any:
    """A function of the interface, imported at its first use."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    function = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = function
    return function


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
