from importlib.metadata import PackageNotFoundError, distribution

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nltk.stem.porter import PorterStemmer
from rouge_score.tokenize import tokenize

from examples import examples
from sumcurve.rouge_engine import stemmers as rouge_stemmers
from sumcurve.rouge_engine.stemmers import MissingExceptions, Porter155, exceptions, nltk_stemmer, stemmer_155

try:
    distribution("py-rouge")
    TABLE = True
except PackageNotFoundError:
    TABLE = False
needs_table = pytest.mark.skipif(not TABLE, reason="py-rouge is not installed")

MARTIN = PorterStemmer(PorterStemmer.MARTIN_EXTENSIONS)
SUFFIXES = """
    ational tional enci anci izer bli abli alli entli eli ousli ization ation ator alism iveness fulness ousness aliti
    iviti biliti logi icate ative alize iciti ical ful ness al ance ence er ic able ible ant ement ment ent sion tion
    ou ism ate iti ous ive ize y e ll s sses ies ss eed ed ied ing at bl iz fulli ion
"""
WORD = st.builds(
    lambda letters, suffixes: letters + "".join(suffixes),
    st.text("abcdeilmnoprstuy0", max_size=7),
    st.lists(st.sampled_from(SUFFIXES.split()), max_size=3),
).filter(lambda word: len(word) >= 4)


def peeled(word: str) -> str:
    """Step 4 in three passes, with NLTK's measure."""
    first = ["al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ou", "ism", "ate", "iti", "ous", "ive", "ize"]
    for suffix in sorted(first, key=len, reverse=True):
        if word.endswith(suffix):
            word = word[: -len(suffix)] if MARTIN._measure(word[: -len(suffix)]) > 1 else word
            break
    rests = [word.removesuffix(suffix) for suffix in ("ement", "ment", "ent") if word.endswith(suffix)]
    word = next((rest for rest in rests if MARTIN._measure(rest) > 1), word)
    if word.endswith(("sion", "tion")) and MARTIN._measure(word[:-3]) > 1:
        word = word[:-3]
    return word


@given(WORD)
@examples(1500)
def test_steps_agree_with_nltk(word) -> None:
    expected = word
    for step in (MARTIN._step1a, MARTIN._step1b, MARTIN._step1c, MARTIN._step2, MARTIN._step3):
        expected = step(expected)
    expected = MARTIN._step5b(MARTIN._step5a(peeled(expected)))
    assert Porter155().stem(word) == expected


# What the official script makes of them
DEPARTURES = """
    argument argum  agreements agreem  accidentally accid  congressional congress  commissioner commiss
    representation repres  revolutionized revolut  unrepentant unrep  possibly possibl  technology technolog
    internationally internat
"""


def test_the_departures_of_rouge_155() -> None:
    words, stems = DEPARTURES.split()[::2], DEPARTURES.split()[1::2]
    assert [Porter155().stem(word) for word in words] == stems


@given(st.text("aeioubcdlmnrstyz19", min_size=1, max_size=4) | WORD)
@examples(300)
def test_words_are_stemmed_as_in_the_package_rouge_score(word) -> None:
    assert [nltk_stemmer()(word)] == tokenize(word, PorterStemmer())


@given(st.text("aeioubcdlmnrstyz19", min_size=4, max_size=8) | WORD)
@examples(500)
def test_no_stem_is_empty(word) -> None:
    assert nltk_stemmer()(word)
    assert Porter155().stem(word)


@needs_table
def test_irregular_forms_come_before_suffixes() -> None:
    stem, name = stemmer_155()
    assert [stem(word) for word in ("given", "were", "geese", "best")] == ["give", "be", "goose", "well"]
    assert Porter155().stem("goose") == "goos"  # a base is not stemmed again
    assert stem("men") == "men"  # three letters, though men -> man is listed
    assert stem("ashes") == Porter155().stem("ashes")  # only newer versions of WordNet list it
    assert "py-rouge" in name
    assert rouge_stemmers.EXCEPTIONS_SHA256[:8] in name


@needs_table
def test_wordnets_own_files_give_the_same_table(tmp_path, monkeypatch) -> None:
    table = exceptions().bases
    lines = [f"{word} {base} another" for word, base in table.items()]
    for number, name in enumerate(rouge_stemmers.WORDNET_FILES):
        (tmp_path / name).write_text("\n".join(lines[number::4]) + "\n")
    with (tmp_path / "noun.exc").open("a") as noun, (tmp_path / "adv.exc").open("a") as adv:
        noun.write("better good\nashes ash\na_la_carte menu\n")  # overridden, newer, no token
        adv.write("better well\n")
    assert exceptions(tmp_path).bases == table
    monkeypatch.setenv(rouge_stemmers.WORDNET, str(tmp_path))
    assert exceptions().source.startswith("wordnet-")
    assert stemmer_155()[1].startswith("porter-1.5.5+wordnet-")


@pytest.mark.parametrize(
    ("lines", "message"),
    [("given give\n", r"1 words.*not those of ROUGE-1\.5\.5"), ("given give\nalone\n", r"noun\.exc:2: .*'alone'")],
)
def test_another_and_a_malformed_table_are_refused(tmp_path, lines, message) -> None:
    for name in rouge_stemmers.WORDNET_FILES:
        (tmp_path / name).write_text(lines)
    with pytest.raises(ValueError, match=message):
        exceptions(tmp_path)


def test_without_a_table_the_error_says_what_to_install(tmp_path, monkeypatch) -> None:
    def missing(name: str) -> None:
        raise PackageNotFoundError(name)

    monkeypatch.delenv(rouge_stemmers.WORDNET, raising=False)
    monkeypatch.setattr(rouge_stemmers, "distribution", missing)
    with pytest.raises(MissingExceptions, match=r"pip install py-rouge.*SUMCURVE_WORDNET"):
        exceptions()
    with pytest.raises(MissingExceptions, match=r"noun\.exc is missing"):
        exceptions(tmp_path)
