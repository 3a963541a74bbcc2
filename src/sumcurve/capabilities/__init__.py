"""What a study may have beside the core: a folder each, and a line here.

A capability's folder has a module `capability` with `CAPABILITY` (see `capabilities.capability`). Nothing is imported
here; `sumcurve.study.doors` puts together what they bring.
"""

CAPABILITIES = (
    "apes",
    "axis",
    "chat",
    "contrasts",
    "exam",
    "extracts",
    "fairseq",
    "labels",
    "metrics",
    "people",
    "pretrained",
    "programs",
    "published",
    "trials",
)
