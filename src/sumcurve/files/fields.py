"""Names of fields of texts in common corpora and files, in small letters: the first that is there counts."""

import re
from collections.abc import Iterable

ID = ("id", "guid")
SOURCE = ("source", "document", "article", "text", "dialogue", "body", "content")  # our name first
TARGET = ("target", "summary", "highlights", "abstract", "headline", "title")
REFERENCES = ("references", "reference", "refs", "ref")
# Names that count where none of those is there
_SOURCES = """input prompt instruction question original complex normal ctext story passage src doc news
    news_article full_text fulltext article_text transcript conversation post review report maintext documents isi
    artikel berita texto texte metin sentences src_txt"""
_TARGETS = """output completion response answer simplified simple simplification summaries tgt headlines titles
    targets abstracts tldr gold reference_summary human_summary simplifications summary_text abstract_text
    article_summary judul ringkasan resumen resume resumo zusammenfassung ozet baslik tgt_txt"""
MORE_SOURCES, MORE_TARGETS = tuple(_SOURCES.split()), tuple(_TARGETS.split())


def called(there: Iterable[object], names: Iterable[str]) -> str | None:
    """The first of these names that is there, as it is written there; None where there is none.

    Case does not count, and blanks and hyphens are as underscores: `Article ID` is article_id.
    """
    folded = {re.sub(r"[\s-]", "_", str(name).strip().casefold()): str(name) for name in reversed([*there])}
    return next((folded[name] for name in names if name in folded), None)
