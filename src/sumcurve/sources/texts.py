"""A folder of texts, of which each file is one, with their summaries beside.

`a.txt` and `a.summary.txt`, `7/text.txt` and `7/abstract.txt`, `articles/a.txt` and `summaries/a.txt`: paired by the
words of their names (`parallel`). Or one file has both: CNN/DailyMail's `.story`, with highlights behind `@highlight`.
"""

from collections.abc import Sequence
from pathlib import Path

from sumcurve.sources import parallel
from sumcurve.sources.raw import EMPTY_TARGET, MISSING_KEY, NOT_UTF8, Refused
from sumcurve.sources.source import Rows, Source
from sumcurve.store.errors import CorpusError

HIGHLIGHT = "@highlight"


def rows(path: Path, names: Sequence[str] | None) -> Rows:
    """The one record of a text: `source`, `target`, and `references` of further summaries; nothing of a summary.

    A text without a summary is Refused. CorpusError for a file that cannot be read.
    """
    summaries = parallel.summaries_of(path)
    if summaries is None:
        return
    try:
        if path.suffix == ".story":
            source, *highlights = text_of(path).split(HIGHLIGHT)
            target = [line for text in highlights if (line := " ".join(text.split()))]
            yield {"source": source, "target": target} if target else Refused(EMPTY_TARGET, f"no {HIGHLIGHT}")
        elif not summaries:
            yield Refused(MISSING_KEY, "no file of a summary beside it")
        else:
            first, *more = map(text_of, summaries)
            yield {"source": text_of(path), "target": first, **({"references": more} if more else {})}
    except Refused as refused:
        yield refused


def text_of(path: Path) -> str:
    """A file's text; Refused where it is no UTF-8."""
    try:
        return path.read_text("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Refused(NOT_UTF8, f"{path.name}: {error.object[error.start : error.start + 16]!r}") from None
    except OSError as error:
        raise CorpusError(f"{path} cannot be read ({error.strerror}): copy it again") from error


SOURCE = Source(
    suffixes=[".story", ".txt", *(f".{word}" for word in parallel.SIDES)],
    unit="text",
    rows=rows,
    beside=parallel.beside,
    fields={"id": None, "references": "references"},
)
