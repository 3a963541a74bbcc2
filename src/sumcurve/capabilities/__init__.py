"""Optional capabilities of a study beside the core: a folder each, and a line here.

A capability's folder has a module `capability` with `CAPABILITY` (see `capabilities.capability`). Nothing is imported
here; `sumcurve.study.doors` combines them.
"""

CAPABILITIES = (
    "across",
    "apes",
    "axis",
    "chat",
    "contrasts",
    "corpora_public",
    "exam",
    "extract_rewrite",
    "extracts",
    "harvest",
    "labels",
    "metrics",
    "papers",
    "people",
    "pretrained",
    "programs",
    "published",
    "trials",
)
# Functions of the Python interface (`sumcurve.NAME`) that they bring, each with the module below the package.
FUNCTIONS = {"across": "capabilities.across.interface", "oracle": "capabilities.extracts.interface"}
