"""Repairs of raw texts before they are tokenised: an ordered choice of named steps, each from text to text.

Steps are pure: they use no file, no corpus and no other record. A study names its steps (`prepare.clean`),
and they run in that order on every sentence of source, target and references. Texts that a step changes, or leaves
empty, are counted under its name (`statistics.json` of the corpus).
"""

import html
import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import replace

from sumcurve.sources.language import identifier
from sumcurve.sources.raw import RawRecord, RawText, Refused

Step = Callable[[str], str]

# --- encoding


def encoding(text: str) -> str:
    """Repair UTF-8 that was read in another encoding (`Â£57bn`, `donâ€™t`), also twice, and cp1252's bytes read as
    Latin-1, as `ftfy.fix_encoding` does.
    """
    if text.isascii():
        return text
    import ftfy  # not required where no study uses it

    return ftfy.fix_encoding(text)


# --- markup

_ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")


def entities(text: str) -> str:
    """Decode HTML's character references (`&amp;`, `&#8217;`), also those that were escaped twice (`&amp;quot;`)."""
    for _ in range(2):
        text = _ENTITY.sub(lambda entity: html.unescape(entity[0]), text)
    return text


# Not <s>, </s> and <t>, which corpora put around sentences, and nothing that is no element of HTML: <unk>, a < b.
_ELEMENTS = (
    "a|abbr|article|aside|audio|b|blockquote|body|br|button|caption|center|cite|code|div|em|embed|figcaption|figure|"
    "font|footer|form|h[1-6]|head|header|hr|html|i|iframe|img|input|ins|label|li|link|main|meta|nav|noscript|object|ol|"
    "p|param|picture|pre|q|section|small|source|span|strike|strong|sub|sup|table|tbody|td|tfoot|th|thead|time|title|tr|"
    "u|ul|video"
)
_INLINE_ELEMENTS = "a|abbr|b|cite|code|em|font|i|ins|q|small|span|strike|strong|sub|sup|u"
_BOOLEAN = (  # attributes of HTML that stand without a value
    "allowfullscreen|async|autofocus|autoplay|checked|compact|controls|default|defer|disabled|download|hidden|inert|"
    "ismap|itemscope|loop|multiple|muted|nohref|noresize|noshade|novalidate|nowrap|open|playsinline|readonly|required|"
    "reversed|selected"
)
_ATTRIBUTE = (
    r"""(?:[a-z_:@][\w:.@-]*+\s*+=\s*+(?:"[^"<]*+"|'[^'<]*+'|[^\s<>]++)"""
    rf"""|(?:{_BOOLEAN})(?=[\s/>]))"""
)


def _tag(elements: str) -> re.Pattern[str]:
    """Opening and closing tags of elements, with attributes that are named as HTML names them."""
    opening = rf"(?:{elements})(?:(?:\s++|(?<=[\"']))(?:{_ATTRIBUTE}))*\s*+/?>"
    return re.compile(rf"<(?:{opening}|/(?:{elements})\s*+>)", re.I)


_INLINE, _TAG = _tag(_INLINE_ELEMENTS), _tag(_ELEMENTS)
_HIDING = re.compile(r"<(?:!--|(script|style)\b[^<>]*>)", re.I)
_SHOWING = {name: re.compile(rf"</{name}\s*>", re.I) for name in ("script", "style")} | {"": re.compile("-->")}


def markup(text: str) -> str:
    """Remove HTML's tags, comments, scripts and styles; a tag that ends a line of a page becomes a blank.

    A tag is an element of HTML between angles, with attributes that have a value or are known to have none, so that
    `a <b and c> d` stays. Comments, scripts and styles without an end stay, too.
    """
    if "<" not in text:
        return text
    return _TAG.sub(" ", _INLINE.sub("", _without_hidden(text)))


def _without_hidden(text: str) -> str:
    """Replace every comment, script and style by a blank; one without an end ends the search."""
    kept, place, endless = [], 0, set()
    for begin in _HIDING.finditer(text):
        name = (begin[1] or "").lower()
        if begin.start() < place or name in endless:
            continue
        end = _SHOWING[name].search(text, begin.end())
        if end is None:
            endless.add(name)
            continue
        kept.append(text[place : begin.start()])
        place = end.end()
    return " ".join([*kept, text[place:]])


# --- characters


def nfc(text: str) -> str:
    """Unicode's composed form."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def nfkc(text: str) -> str:
    """Unicode's compatibility form: full-width letters, digits and punctuation (，！１) become the usual ones."""
    return text if text.isascii() else unicodedata.normalize("NFKC", text)


_UNSEEN = re.compile("[\x00-\x08\x0e-\x1f\x7f\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060\ufeff\ufffe\uffff]")


def controls(text: str) -> str:
    """Remove control characters, byte order marks, soft hyphens and other invisible signs."""
    return text if text.isprintable() else _UNSEEN.sub("", text)


def spaces(text: str) -> str:
    """Every run of blanks, tabs and Unicode's spaces is one blank, and none stands at an end of a line."""
    return "\n".join(" ".join(line.split()) for line in text.split("\n"))


# --- text that is not the author's

# Of pages that came from the Internet Archive, and of the site around an article (CNN/DailyMail).
_ARCHIVE = re.compile(
    r"https?://web\.archive\.org/web/\d{4,14}(?:[a-z]{2}_)?/(?=https?://)|\bweb\.archive\.org/web/\d{4,14}/"
)
_WAYBACK = re.compile(
    r"(?:click here (?:for|to) [^.!?\n]{3,120}|scroll down for (?:the )?(?:video|more)s?[^.!?\n]{0,40}"
    r"|the wayback machine *[-–—] *https?://\S+|the internet archive discovers and captures web pages[^.!?\n]{0,80}"
    r"|view the web archive through the wayback machine|(?:success|loading)\.\.\.)\s*[.!]*",
    re.I,
)
# Around an article of the BBC (XSum) and of other papers.
_MONTH = "(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|"
_MONTH += "nov(?:ember)?|dec(?:ember)?)"
_DAY = r"\d{1,2}(?:st|nd|rd|th)?"
_DATE = rf"(?:[a-z]{{3,6}}day,? )?(?:{_DAY} {_MONTH}|{_MONTH} {_DAY})(?:,? \d{{4}})?"
_TIME = r"\d{1,2}[:.]\d\d(?: ?[ap]\.?m\.?)?(?: ?(?:gmt|bst|utc|e[sd]t|c[sd]t|p[sd]t))?"
_STAMP = rf"(?:last )?(?:updated|published):? (?:at )?{_TIME}(?:,?(?: on)? {_DATE})?"
_BOILERPLATE = re.compile(
    r"(?:media playback is (?:not supported|unsupported) on (?:this|your) device"
    rf"|{_STAMP}(?: ?\|? ?{_STAMP})?"
    r"|image (?:copyright|source)[^.!?\n]{0,60}|image caption"
    r"|share this (?:page|story|article|with(?: (?:e-?mail|facebook|messenger|twitter|pinterest|whatsapp|linkedin))*)"
    r"|these are external links and will open in a new window"
    r"|e-?mail to a friend"
    r"|follow us on (?:twitter|facebook)[^.!?\n]{0,80}"
    r"|(?:copyright (?:©|\(c\))?|©) ?(?:19|20)\d\d[^\n]{0,80}|all rights reserved)\s*[.!]*",
    re.I,
)


def wayback(text: str) -> str:
    """Remove lines that a page's site or archive added (`Click here for …`), and archives' part of addresses."""
    if "web.archive.org" in text:
        text = _ARCHIVE.sub("", text)
    return _without_lines(text, _WAYBACK)


def boilerplate(text: str) -> str:
    """Remove lines that a newspaper prints around every article (`Media playback is not supported on this device`)."""
    return _without_lines(text, _BOILERPLATE)


def _without_lines(text: str, pattern: re.Pattern[str]) -> str:
    """Remove lines that match the pattern as a whole: a sentence that only begins like one stays."""
    if "\n" not in text:
        return "" if pattern.fullmatch(text.strip()) else text
    return "\n".join(line for line in text.split("\n") if not pattern.fullmatch(line.strip()))


# --- ends of sentences

_BLANK_STOP = re.compile(r"(?<=[^\s.]) \.(?=\s|$)(?! \.)")
_ENDS = (".", "!", "?", "'", "`", '"', "’", "”", ")")


def blank_stops(text: str) -> str:
    """Remove the blank before a full stop, as version 3.0.0 of CNN/DailyMail has it; ` . . .` stays."""
    return _BLANK_STOP.sub(".", text) if " ." in text else text


def full_stops(text: str) -> str:
    """Add a full stop at the end of every line that ends with no sign of an end, so that captions and highlights are
    sentences (See et al. 2017's make_datafiles.py, with its signs).
    """
    return "\n".join(
        line if not line.strip() or line.rstrip().endswith(_ENDS) else f"{line.rstrip()}." for line in text.split("\n")
    )


# --- words

_UNKNOWN = re.compile(r"(?<!\S)<unk>(?!\S)", re.I)


def unknown_words(text: str) -> str:
    """Write `UNK` for the word `<unk>`: Gigaword's parts spell the mark of a rare word differently."""
    return _UNKNOWN.sub("UNK", text) if "<" in text else text


STEPS: dict[str, Step] = {  # by the names that a study has for them
    step.__name__: step
    for step in (
        *(encoding, entities, markup, nfc, nfkc, controls, spaces),
        *(wayback, boilerplate, blank_stops, full_stops, unknown_words),
    )
}
# Versions of steps whose code has changed their output: a version stands in names of corpora where it is above 1.
VERSIONS = {"boilerplate": 2, "encoding": 2, "markup": 2, "wayback": 2}
LANGUAGE = "language"

# Reasons for which a record is dropped
NOTHING_LEFT = "no text after {}"
OTHER_LANGUAGE = "another language"


def clean(
    record: RawRecord,
    steps: Sequence[str],
    language: str | None = None,
    keep: bool = False,
    effects: list[str] | None = None,
) -> RawRecord:
    """The record with its texts cleaned; a sentence that a step empties is removed.

    Raises Refused where a step leaves no text of a source or target, and where the source, behind all steps, is not in
    this language (None: any). With `keep`, for records of a published test part, such a step is passed over. The list
    `effects` receives `STEP changed`, `STEP left` of one that is passed over, or `STEP dropped` alone.
    """
    effects = [] if effects is None else effects
    texts: list[RawText] = [record.source, record.target, *record.references]

    def refuse(name: str, reason: str, value: object) -> None:
        if keep:
            effects.append(f"{name} left")
            return
        effects[:] = [f"{name} dropped"]
        raise Refused(reason, value)

    for name in steps:
        after = [cleaned(text, STEPS[name]) for text in texts]
        if not all(after):
            refuse(name, NOTHING_LEFT.format(name), next(t for t, a in zip(texts, after, strict=True) if not a))
        elif after != texts:
            effects.append(f"{name} changed")
            texts = after
    if language is not None:
        found = identifier()(" ".join(texts[0]) if isinstance(texts[0], list) else texts[0])
        if found != language:
            refuse(LANGUAGE, OTHER_LANGUAGE, found)
    source, target, *references = texts
    return replace(record, source=source, target=target, references=references)


def cleaned(text: RawText, step: Step) -> RawText:
    """The text after a step; of a list of sentences those that are not empty."""
    if isinstance(text, str):
        after = step(text)
        return after if after.strip() else ""
    return [after for sentence in text if (after := step(sentence)).strip()]
