"""The running text of a docstring, without markup, tables, code and the lists of fields.

Recorded corpora were harvested by these rules: a change of one changes every harvested corpus.
"""

import re
from collections.abc import Iterator, Sequence

FIELDS, SKIP, PROSE = "fields", "skip", "prose"
# fmt: off
SECTIONS = {
    **dict.fromkeys([
        "parameters", "other parameters", "parameters and attributes", "returns", "return", "yields",
        "receives", "raises", "warns", "attributes", "arguments", "keyword arguments", "keyword args", "args",
        "methods", "properties", "keywords", "options",
    ], FIELDS),
    **dict.fromkeys([
        "see also", "references", "examples", "example", "usage", "citations", "bibliography",
    ], SKIP),
    **dict.fromkeys([
        "notes", "note", "warning", "warnings", "explanation", "description", "details", "algorithm",
        "summary",
    ], PROSE),
}
ADMONITIONS = frozenset([
    "note", "warning", "tip", "important", "caution", "attention", "hint", "danger", "error",
    "admonition", "rubric",
])
TYPE_FIELDS = frozenset([
    "type", "rtype", "vartype", "raises", "raise", "except", "exception", "versionadded", "meta",
])
# fmt: on

RULER = re.compile(r"([-=~^*#+_\"'`.:])\1{2,}$")
TABLE_RULER = re.compile(r"[=-]{2,}(?:\s+[=-]{2,})+$|\+[-=+]+\+$")
DIRECTIVE = re.compile(r"\.\.(?:\s+(?:([\w:-]+?)::\s*(.*))?|$)")
FIELD = re.compile(r":(\w+)(?:\s+[^:`]*)?:(?:\s+(.*)|$)")
BULLET = re.compile(r"(?:[-*+•]|\d{1,2}[.)]|\(\w\)|#\.)\s+(?=\S)")
TYPED_NAME = re.compile(r"^[\w*]+ \([^()]*\): (?=\S)")  # Google style
NAMES = re.compile(r"[*`'\w.\[\]]+(?:\s*,\s*[*`'\w.\[\]]+)*$")
PLACEHOLDER = re.compile(r"%\([\w:]+\)s")
SIGNATURE = re.compile(r"(?:[\w.]+ ?\((?:[^()]|\([^()]*\))*\)\s*(?:(?:->|<==>|=)[^.]{0,60})?\s*)+$")

ROLE_WITH_TEXT = re.compile(r":[\w:+-]+:`([^`<]+?)\s*<[^`>]*>`")
MATH_ROLE = re.compile(r":math:`[^`]*\\[^`]*`")
DOLLARS = re.compile(r"\$\$?[^$]+\$\$?")
ROLE = re.compile(r"(?::[\w:+-]+:)?(?<!`)`([^`]+)`(?!`)_{0,2}")
LINK = re.compile(r"`([^`<]+?)\s*<[^`>]*>`_{0,2}")
LITERAL = re.compile(r"``(.+?)``")
STRONG = re.compile(r"\*\*(\S(?:[^*]*\S)?)\*\*")
EMPHASIS = re.compile(r"(?<![\w*])\*(\S(?:[^*]*\S)?)\*(?![\w*])")
FOOTNOTE = re.compile(r"\s*\[[#*\w]+\]_")
URL = re.compile(r"<?\b(?:https?|ftp)://[^\s>)\]]+>?")
ESCAPE = re.compile(r"\\(?=[^\w\s]|\s)")
SPACE = re.compile(r"\s+")


def paragraphs_of(lines: Sequence[str]) -> tuple[list[str], bool]:
    """The paragraphs of running text without markup, and whether the first is a summary line.

    Call signatures above the first are left out, and so are paragraphs without letters and short ones that only
    introduced removed text.
    """
    paragraphs: list[str] = []
    has_summary = not starts_with_section(lines)
    dropped_lead = False
    for raw in prose(lines):
        text = plain(" ".join(raw))
        if not paragraphs and SIGNATURE.match(text):
            dropped_lead = True
            continue
        if paragraphs and text.endswith(":") and text.count(" ") < 4:
            continue
        if re.search("[A-Za-z]", text):
            paragraphs.append(text)
        elif not paragraphs and not dropped_lead:
            has_summary = False
    return paragraphs, has_summary and bool(paragraphs)


def is_template(paragraphs: Sequence[str]) -> bool:
    return any(map(PLACEHOLDER.search, paragraphs)) or re.search(r"\{\w*\}", paragraphs[0]) is not None


def dedented(docstring: str) -> list[str]:
    """The lines without common indentation and outer blank lines (as `inspect.cleandoc`, on every Python)."""
    lines = [line.rstrip() for line in docstring.expandtabs().split("\n")]
    margin = min((len(line) - len(line.lstrip(" ")) for line in lines[1:] if line), default=0)
    lines = [lines[0].lstrip(" ")] + [line[margin:] for line in lines[1:]]
    while lines and not lines[-1]:
        lines.pop()
    while lines and not lines[0]:
        lines.pop(0)
    return lines


def starts_with_section(lines: Sequence[str]) -> bool:
    return len(lines) > 1 and lines[0].lower().rstrip(":") in SECTIONS and RULER.match(lines[1]) is not None


def prose(lines: Sequence[str]) -> Iterator[list[str]]:
    """The paragraphs of a docstring that are running text, as lists of stripped lines.

    Left out: doctests, literal and code blocks, directives, tables, section headings and rulers, the sections
    See Also, References and Examples, and the `name : type` lines of field lists, whose descriptions stay. One loop,
    because the kind of a line depends on all lines before it.
    """
    paragraph: list[str] = []
    first = True  # nothing yielded yet: a heading is the title of a module
    section = PROSE
    base = 0  # indentation of the section's heading
    block: int | None = None  # lines that are indented more than this belong to a dropped block
    until_blank = False
    listed = False  # the paragraph began with a bullet
    position = 0
    while position < len(lines):
        line = lines[position]
        text = line.strip()
        indent = len(line) - len(line.lstrip(" "))
        following = lines[position + 1] if position + 1 < len(lines) else ""
        position += 1
        if not text:
            until_blank = False
            if paragraph:
                yield paragraph
                first = False
            paragraph = []
            continue
        if block is not None:
            if indent > block:
                continue
            block = None
        if until_blank:
            continue
        heading = RULER.match(following.strip()) is not None and not RULER.match(text)
        ends = heading or text.startswith((">>>", "In [", "..", "| ", "+-")) or RULER.match(text)
        bullet = BULLET.match(text)
        # a line of running text may start with a minus: a bullet needs a paragraph's end or a list before it
        if bullet and paragraph and not listed and not paragraph[-1].endswith((":", ".", ";")):
            bullet = None
        ends = ends or TABLE_RULER.match(text) or bullet or FIELD.match(text)
        if ends and paragraph:
            yield paragraph
            paragraph, first = [], False
        if heading and indent == len(following) - len(following.lstrip(" ")):
            position += 1
            section, base = SECTIONS.get(text.lower().rstrip(":"), PROSE), indent
            if first and text.lower().rstrip(":") not in SECTIONS:
                yield [text]
                first = False
            continue
        if RULER.match(text) or text.startswith(("| ", "+-")):
            continue
        if TABLE_RULER.match(text):
            until_blank = True
            continue
        if section == SKIP:
            continue
        if text.startswith((">>>", "In [")):
            until_blank = True
            continue
        directive = DIRECTIVE.match(text)
        if directive:
            name, argument = directive.groups()
            if name not in ADMONITIONS:
                block = indent
            elif argument and name not in ("admonition", "rubric"):
                paragraph = [argument]
            continue
        field = FIELD.match(text)
        if field:
            name, description = field.groups()
            if name in TYPE_FIELDS:
                block = indent
            elif description:
                paragraph = [description]
            continue
        if names_a_field(text, indent, following, section, base):
            if paragraph:
                yield paragraph
                paragraph, first = [], False
            continue
        if PLACEHOLDER.fullmatch(text):
            continue
        if not paragraph:
            listed = bullet is not None
        if bullet:
            text = text[bullet.end() :]
        text = TYPED_NAME.sub("", text, count=1) if not paragraph else text
        if text.endswith("::"):
            block = indent
            text = text[:-1].rstrip(" :") + ":" if text.strip(": ") else ""
        if text:
            paragraph.append(text)
        if block is not None and paragraph:
            yield paragraph
            paragraph, first = [], False
    if paragraph:
        yield paragraph


def names_a_field(text: str, indent: int, following: str, section: str, base: int) -> bool:
    """Tell whether a line is the `name : type` line above an indented description."""
    deeper = bool(following.strip()) and len(following) - len(following.lstrip(" ")) > indent
    name = text.split(" : ")[0].rstrip(" :")
    if section == FIELDS and indent == base:
        return deeper or " : " in text or NAMES.match(text) is not None
    return deeper and NAMES.match(name) is not None and (" : " in text or name == text)


def plain(text: str) -> str:
    """Running text without markup: roles, literals, emphasis and links unwrapped, URLs as URL."""
    text = MATH_ROLE.sub("MATH", text)
    text = ROLE_WITH_TEXT.sub(r"\1", text)
    text = LITERAL.sub(r"\1", text)
    text = LINK.sub(r"\1", text)
    text = ROLE.sub(lambda match: shown(match.group(1)), text)
    text = DOLLARS.sub("MATH", text)
    text = URL.sub("URL", text)
    text = STRONG.sub(r"\1", text)
    text = EMPHASIS.sub(r"\1", text)
    text = FOOTNOTE.sub("", text)
    text = ESCAPE.sub("", text)
    return SPACE.sub(" ", text).strip()


def shown(name: str) -> str:
    """Text that Sphinx shows for a cross-reference: `~a.b.c` is c, `.Session` and `_orm.Session` are Session."""
    if "\\" in name:
        return "MATH"
    if name.startswith("~"):
        return name.rsplit(".", 1)[-1].lstrip("~")
    return re.sub(r"^(?:!|\.|_\w+\.)(?=\w)", "", name)
