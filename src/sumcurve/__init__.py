"""How summarizers learn from data: training, scoring and data efficiency on growing fractions of a corpus.

The functions below need no study. Each is imported when it is first used, and returns a result that prints as tables,
shows as HTML in a notebook, and gives numbers by `to_pandas()`.

>>> import sumcurve as sc
>>> sc.rouge(["the cat sat"], ["the cat lay"])          # ROUGE with intervals; compare=… for a second system
>>> sc.compare("scores.csv")                            # who is significantly better, on the same items
>>> sc.curve("results.csv")                             # what more data would bring
>>> sc.power(sd_items=18, sd_seed=0.8, effect=2.2)      # items and seeds that show a difference
>>> sc.efficiency("cano-bojar-2020")                    # σ, θ, ε
>>> sc.oracle([("One. Two. Three.", "Two.")])           # the best extracts, proven
>>> sc.load("results/tables/docstrings").scores         # a study's tables as data frames
>>> sc.across(["docstrings", "docstrings-large"])       # recorded studies side by side
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sumcurve.capabilities.extracts.interface import oracle
    from sumcurve.interface.across import across
    from sumcurve.interface.compare import compare
    from sumcurve.interface.curve import curve
    from sumcurve.interface.efficiency import efficiency
    from sumcurve.interface.power import power
    from sumcurve.interface.rouge import rouge
    from sumcurve.interface.study import load

__version__ = "0.2.0"
__all__ = ["across", "compare", "curve", "efficiency", "load", "oracle", "power", "rouge"]

_HOMES = {"load": "interface.study", "oracle": "capabilities.extracts.interface"}  # others: interface.NAME


def __getattr__(name: str) -> Any:
    """A function of the interface, imported when it is first asked for."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    function = getattr(import_module(f"{__name__}.{_HOMES.get(name, f'interface.{name}')}"), name)
    globals()[name] = function
    return function


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
