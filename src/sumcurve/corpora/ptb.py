"""Tokens of the Penn Treebank as CoreNLP's PTBTokenizer writes them with -preserveLines and -options ptb3Escaping.

See et al. (2017) and most papers on CNN/DailyMail use this tokenizer, and so do Čano and Bojar (2020) on OAGS. The
rules are our own, after the Treebank's conventions and the tokenizer's documented options: brackets are -LRB-,
quotation marks `` and '', clitics stand alone, an abbreviation keeps its full stop and repeats it at the end of a
sentence, £ is #. Text is tokenised as it was written and put in small letters afterwards, because capitals mark where
sentences begin.

One expression, run by `automaton`. Where versions differ it follows the later one, with two exceptions as in the
versions before 4: hyphenated words stay whole, and so do words with a slash. Signs that CoreNLP deletes as unknown,
such as emoji, are kept.
"""

import re
import unicodedata
from functools import cache

from sumcurve.corpora.automaton import Rule, Rules
from sumcurve.corpora.tokens import PARAGRAPH

# --- letters

_NO_LETTERS = "¹²³¼½¾⁰-⁹₀-₉⅐-⅟↉①-⓿"  # \w has them
L = rf"[^\W\d_{_NO_LETTERS}]"
A = rf"[^\W_{_NO_LETTERS}]"  # a letter or a digit
MARKS = "[\u0300-\u036f]"  # accents of letters that are not composed
AS = rf"(?:{A}|{MARKS})*"
UPPER = "[A-ZÀ-ÖØ-Þ]"
WORD = rf"{L}{AS}(?:[.!?]{L}{AS})*"
APOSTROPHE = "['’]"
NO_LETTER = rf"(?!{L})"
NO_WORD = rf"(?!{A})"
NO_WORD_NOR_STOP = rf"(?!{A}|\.)"  # after a full stop: an ellipsis is not the full stop of an abbreviation
END = r"(?=\n|\Z)"
SPACE = r"[^\S\n]"


def any_case(word: str) -> str:
    """A pattern for a word whose letters are small or capital; other signs match themselves."""
    return "".join(f"[{letter.upper()}{letter.lower()}]" if letter.isalpha() else letter for letter in word)


def one_of(words: str) -> str:
    return "(?:" + "|".join(map(any_case, sorted(words.split(), key=len, reverse=True))) + ")"


# --- known words

# A capital letter after these begins a sentence.
_SMALL_BEHIND = (
    "jan feb apr jun jul aug sep sept oct nov mon tue tues wed thu thurs fri "
    "inc co cos corp ltd plc bancorp bhd assn univ intl pty pte "
    "jr sr bros esq ed\\.d ph\\.d b\\.sc m\\.sc d\\.sc ll\\.b ll\\.m ll\\.d "
    "ariz calif colo conn dak fla kans minn mich mont neb nev okla penn tenn wis wisc wyo "
    "etc ect al seq bldg pls wrt orig incl eg avg tel est ext sq sci lb cit pl"
)
# The same, but only with these capitals: small, they are words.
_CAPITALS_BEHIND = "Mar|Dec|Ala|Az|Ark|Ct|Del|Ga|Ill|Ind|Kan|Ky|La|Mass|Md|Miss|Mo|Ore|Pa|Tex|Va|Vt|Wash"
BEFORE_SMALL = f"(?:{one_of(_SMALL_BEHIND)}|{_CAPITALS_BEHIND})"
# A name follows these.
_NAME_BEHIND = (
    "mr mrs ms mx dr drs prof profs sen sens rep reps atty attys lt col gen messrs gov govs adm rev fr maj sgt "
    "cpl pvt capt st ste sta ave pres lieut hon brig comdr cmdr pfc spc supt supts det mt ft adj adv asst assoc "
    "ens insp mlle mme msgr sfc amb ven invt elec natl mtg mfg dept blvd rd viz exh exhs govt wm jos cie cf def soc"
)
BEFORE_NAME = f"(?:{one_of(_NAME_BEHIND)}|Ph|Sc|Pl|Smt)"
ACRONYM = r"[A-Za-z](?:\.[A-Za-z])+"
ALWAYS = one_of("vs a\\.k\\.a")
_NUMBER_BEHIND = (
    "ca ch chs fig figs prop no nos nr nrs vol vols sec secs sect sects art arts para paras pp op approx rs apt rt res"
)
BEFORE_NUMBERS = one_of(_NUMBER_BEHIND)
# After an acronym these begin a sentence, since no name begins with them.
SENTENCE_STARTERS = (
    "A About According After All Also Although An And Another As At Because Before Both But By During Each Earlier "
    "Every For From He Her Here His How However I If In It Its Last Later Many More Most My No Not Now Of On Once One "
    "Only Or Other Our She Since So Some Still Such That The Their Then There These They This Those Though Through To "
    "Two Under Until Upon We Were What When Where Which While Who Why With Would Yet You Your"
)

BRACKETS = {"(": "-LRB-", ")": "-RRB-", "[": "-LSB-", "]": "-RSB-", "{": "-LCB-", "}": "-RCB-"}
CURRENCIES = {"£": "#", "€": "$", "¤": "$", "¢": "cents"}
FRACTIONS = {
    sign: unicodedata.normalize("NFKC", sign).replace("\u2044", "/")
    for sign in "¼½¾⅐⅑⅒⅓⅔⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞"
}  # fmt: skip
OPENING = {"“": "``", "‘": "`", "«": "``", "‹": "`", "„": "``", "‚": "`", "‛": "`"}
CLOSING = {"”": "''", "’": "'", "»": "''", "›": "'", "‟": "''"}

# A repetition that may fail at the end of a run of signs is bounded, here and below: else each sign would scan it all.
# The parts of a domain's name have at most 63 characters (RFC 1035), the text before an @ has 64 (RFC 5321).
_NO_ADDRESS = r"\s<>|`(){}\[\]“”‘’«»„"
ADDRESSES = [
    Rule(
        "address",
        rf"(?:{one_of('https http ftp svn mailto')}):\/\/[^{_NO_ADDRESS}]+[^{_NO_ADDRESS}.!?¡¿,·;:&\"'*\-]",
    ),
    Rule("mail", r"[A-Za-z0-9._%+\-]{1,64}@[A-Za-z0-9][A-Za-z0-9.\-]*[A-Za-z0-9]"),
    Rule(
        "site",
        rf"(?:[Ww][Ww][Ww]\.(?:[^{_NO_ADDRESS}.!?,]+\.)+[a-zA-Z][a-zA-Z][a-zA-Z]?[a-zA-Z]?"
        rf"|(?:[^{_NO_ADDRESS}.!?,:/$\"']{{1,63}}\.){{1,8}}(?:com|net|org|edu))"
        rf"(?:/[^\s`<>|]+[^{_NO_ADDRESS}.!?,;:&\"'\-])?(?![A-Za-z])",
    ),
    Rule("member", "@[A-Za-z_][A-Za-z0-9_]*"),
    Rule("subject", rf"#{L}(?:{A}|_)*{A}"),
]

QUOTES = [
    Rule("quote and quotes", r"'''(?!['\w])", back=2),
    Rule("opening quotes", rf'(?:"|[`\'‘’]\')(?={A}|[$])', "``"),
    Rule("closing quotes", r'"|[`\'‘’]\'', "''"),
    Rule("backquotes", "``", "``"),
    Rule("double closing quote", "’’", "''"),
    Rule("opening quote", rf"'{L}\S", "`", back=2),
    Rule("opening quote before a letter", rf"'[AaIiUu]{SPACE}", "`", back=2),
    *(Rule(f"quote {sign}", sign, text) for sign, text in {**OPENING, **CLOSING}.items()),
]

CLITICS = [
    # Text before them that has an apostrophe itself or could include theirs.
    Rule("word before n't", rf"{L}*[^\W\d_nN]{any_case('n')}{APOSTROPHE}{any_case('t')}{NO_LETTER}", back=3),
    Rule("word before 's", rf"{WORD}{APOSTROPHE}[sSmMdD]{NO_LETTER}", back=2),
    Rule("word before 'll", rf"{WORD}{APOSTROPHE}(?:{one_of('ll re ve')}){NO_LETTER}", back=3),
    Rule("n't", rf"{any_case('n')}{APOSTROPHE}{any_case('t')}{NO_LETTER}"),
    Rule("clitic", rf"{APOSTROPHE}{one_of('s m d ll re ve em')}{NO_LETTER}"),
    Rule("can not", any_case("cannot") + NO_WORD, back=3),
    Rule("gon na", one_of("gonna gotta wanna lemme gimme") + NO_WORD, back=2),
    Rule("'t is", APOSTROPHE + any_case("tis") + NO_LETTER, back=2),
    Rule("'t was", APOSTROPHE + any_case("twas") + NO_LETTER, back=3),
    Rule("y'", rf"(?:[Yy]|[Tt][Hh]){APOSTROPHE}{L}", back=1),
]

APOSTROPHES = [
    Rule("d'Arc, o'clock", rf"[dDoOlL]{APOSTROPHE}{L}{AS}(?:-(?:[dDoOlL]{APOSTROPHE})?{A}+)*"),
    Rule("ma'am", rf"{L}*[aeiouyAEIOUY]{APOSTROPHE}[aeiouA-Z]{L}*"),
    Rule("'n'", rf"{APOSTROPHE}[nN]{APOSTROPHE}|{APOSTROPHE}[nN]{NO_LETTER}"),
    Rule("'til", rf"{APOSTROPHE}{one_of('till til cause twixt')}{NO_LETTER}"),
    Rule("'90s", rf"{APOSTROPHE}[1-9]0s{NO_LETTER}"),
    Rule("'89", rf"{APOSTROPHE}[0-9][0-9](?=\s|\Z)"),
    Rule("word before 'n'", rf"{L}{AS}{APOSTROPHE}[nN]{NO_LETTER}", back=2),
    Rule("Qur'an, c'mon", rf"{L}{AS}(?:{APOSTROPHE}{L}{AS})+"),
    Rule("ol'", rf"(?:{one_of('ol somethin dunkin')}){APOSTROPHE}{NO_LETTER}"),
]


def _before_starters() -> list[Rule]:
    """An acronym before a word that begins a sentence: its full stop ends one, too. One letter is no acronym."""
    rules = []
    for length in sorted({len(word) for word in SENTENCE_STARTERS.split()}):
        words = "|".join(word for word in SENTENCE_STARTERS.split() if len(word) == length)
        behind = rf"\.{SPACE}(?:{words})[\s?!]"
        rules.append(Rule(f"letter that ends a sentence, {length}", rf"[A-Za-z]{behind}", back=length + 3))
        rules.append(
            Rule(
                f"abbreviation that ends a sentence, {length}",
                rf"(?:{ACRONYM}|{BEFORE_NAME}){behind}",
                back=length + 2,
                again=1,
            )
        )
    return rules


HYPHENATED = Rule("hyphenated", rf"{A}(?:[.,]|{A}){{0,63}}(?:[-_](?:{ACRONYM}(?:\.(?!\.))?|{A}+(?:\.\d+)?))+")

ABBREVIATIONS = [
    *_before_starters(),
    Rule("company", rf"{one_of('pty pte pvt co')}\.{SPACE}(?:{one_of('ltd lim llc')})", back=4),
    Rule("abbreviation before a capital", rf"{BEFORE_SMALL}\.{SPACE}{UPPER}", back=2, again=1),
    Rule("abbreviation at the end", rf"{BEFORE_SMALL}\.{END}", again=1),
    Rule("letter at the end", rf"[A-Za-z]\.{END}", back=1),
    Rule("abbreviation", rf"(?:{BEFORE_SMALL}|{BEFORE_NAME}|{ACRONYM}|{ALWAYS}|[A-Za-z])\.{NO_WORD_NOR_STOP}"),
    Rule("abbreviation before a number", rf"{BEFORE_NUMBERS}\.(?=\d)"),
    Rule("abbreviation before a blank and a number", rf"{BEFORE_NUMBERS}\.{SPACE}\d", back=2),
    Rule("acronym in a word", rf"{ACRONYM}\.(?={APOSTROPHE})"),
]

# Before rules that would match a part of them
MIXED = Rule("number and fraction", r"\d+-\d+/\d+(?![\d/])")
HOUR = Rule("hour", rf"\d\d?(?::\d\d)?[AaPp]\.[Mm]\.{NO_WORD_NOR_STOP}", back=4)

NUMBERS = [
    Rule("date", r"\d\d?[-/]\d\d?[-/]\d\d\d?\d?(?!\d)|\d{4}[-/]\d\d?[-/]\d\d?(?!\d)"),
    Rule("slashed", rf"{A}+(?:-{L}+)?(?:-{L}+)?/{A}+(?:-{L}+)?(?:-{L}+)?(?:/{A}+(?:-{L}+)?(?:-{L}+)?)?"),
    Rule("number and letters", rf"\d+{L}{AS}"),
    Rule("number", r"[-+−]?(?:\d+(?:[.,:]\d+)*|(?:[.,]\d+)+)"),
    Rule("raised number", "[¹²³⁰-⁹]+|[₀-₉]+"),
    *(Rule(f"fraction {sign}", sign, text) for sign, text in FRACTIONS.items()),
    Rule("degrees", "°[CF]" + NO_WORD),
]

WORDS = [
    Rule("bracket, written", rf"-(?:{one_of('lrb rrb lsb rsb lcb rcb')})-"),
    Rule("tag", r"</?[A-Za-z!?][^\s<>:]*>"),
    Rule("exclamation in a name", "(?:Yahoo|Jeopardy)!"),
    Rule("language", rf"[Cc]\+\+|[CcFf]#{NO_WORD}"),
    Rule("dollars", r"[A-Z]*\$"),
    Rule("ampersand, written", "&amp;", "&"),
    Rule("ampersands", r"[A-Z]+(?:[+&][A-Z]+)+" + NO_WORD),
    Rule("abbreviation inside a sentence", rf"{WORD}\.(?=[,;:])"),
    Rule("word", WORD),
]

SIGNS = [
    *(
        Rule(f"face {eyes}{nose}{mouth}", rf"[{eyes}]{nose}[{mouth}]{NO_WORD}", eyes + nose + BRACKETS[mouth])
        for eyes in ":;="
        for nose in ("", "-")
        for mouth in "()"
    ),
    Rule("face", rf"[:;=]-?[DPp]{NO_WORD}"),
    *(Rule(f"bracket {sign}", rf"\{sign}", text) for sign, text in BRACKETS.items()),
    *(Rule(f"currency {sign}", sign, text) for sign, text in CURRENCIES.items()),
    Rule("ellipsis and full stop", rf"\.{{3,}}\.{SPACE}{L}", "...", back=3),
    Rule("ellipsis", r"\.{3,}|…", "..."),
    Rule("ellipsis with blanks", r"\. (?:\. )+\.", "..."),
    Rule("long dash", r"[—–―‒]|---?-?(?!-)", "--"),
    Rule("hyphens", "-+"),
    Rule("hyphen", "[‐‑]", "-"),
    Rule("ends", r"[?!]+"),
    Rule("angles", "<<|>>"),
    Rule("equal", "=+"),
    Rule("run", r"_+|\*+|#+|@+"),
    Rule("blanks", r"[^\S\n]+", ""),
    Rule("line", r"\n", "\n"),
    Rule("sign", r"\S"),
]

RULES = [
    *ADDRESSES,
    *QUOTES[:1],
    *CLITICS,
    *APOSTROPHES,
    *QUOTES[1:],
    MIXED,
    HOUR,
    HYPHENATED,
    *ABBREVIATIONS,
    *NUMBERS,
    *WORDS,
    *SIGNS,
]


@cache
def ptb() -> Rules:
    """The rules, compiled; states that their automaton made for one text are reused for the next."""
    return Rules(RULES, {"’": "'"})


def tokenize(text: str) -> str:
    """The tokens of every line with blanks between them, in the case of the text; lines stay as they are."""
    return ptb().tokenize(text)


# --- sentences

_SMALL = frozenset(_SMALL_BEHIND.replace("\\", "").split())
_CAPITALS = frozenset(_CAPITALS_BEHIND.split("|"))
_NAMES = frozenset([*_NAME_BEHIND.split(), "ph", "sc", "pl", "smt", "vs", "a.k.a"])
_NUMBERS = frozenset(_NUMBER_BEHIND.split())
_STARTERS = frozenset(SENTENCE_STARTERS.split())
_CLOSING, _OPENING = "\"'”’)\\]»", "\"'“‘`(\\[«"
# Possible ends of a sentence: the signs, the signs around them, and the blank after them.
_END = re.compile(rf"([.!?…]+)[{_CLOSING}]*(?: (?:''|[{_CLOSING}])(?= ))? ")
_FIRST = re.compile(rf"[{_OPENING} ]*(\w*)")
_LETTERS = re.compile(r"[A-Za-z](?:\.[A-Za-z])*")


def sentences(text: str) -> list[str]:
    """The sentences of a text, each on one line; an empty line always ends one.

    A sentence ends where the tokeniser finds an end: not after an abbreviation that a name, a number or a small letter
    follows, not after initials unless a word such as `The` follows, and not before a small letter. A sign between
    blanks ends one in any case: such a text is tokenised already.
    """
    lines: list[str] = []
    for paragraph in PARAGRAPH.split(text):
        line = " ".join(paragraph.split())
        start = 0
        for end in _END.finditer(line):
            if _ends(line, end.start(), end.group(1), end.end()):
                lines.append(line[start : end.end() - 1])
                start = end.end()
        if start < len(line):
            lines.append(line[start:])
    return lines


def _ends(line: str, sign: int, signs: str, behind: int) -> bool:
    if len(signs) == 1 and line[sign - 1 : sign] == " " and behind == sign + 2:
        return True
    first = _FIRST.match(line, behind)
    following = first.group(1) if first else ""
    if following[:1].islower():
        return False
    if signs != ".":
        return True
    word = line[line.rfind(" ", 0, sign) + 1 : sign].lstrip("\"'“‘`([«")
    small = word.lower()
    if small in _SMALL or word in _CAPITALS:
        return following[:1].isupper()
    if small in _NAMES or _LETTERS.fullmatch(word):
        return following in _STARTERS
    return not (small in _NUMBERS and following[:1].isdigit())
