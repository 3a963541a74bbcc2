"""How summarizers learn from data: training, scoring and data efficiency on growing fractions of a corpus."""

__version__ = "0.2.0"
