"""Names of texts by a spaCy pipeline on disk."""

from pathlib import Path

from sumcurve.capabilities.apes.entities import Named, load
from sumcurve.capabilities.apes.questions import merged, numbered

TEXT = ["Marta Lind moved to Aarhus .", "Lind's Bergen says Bergens ."]


def make_pipeline(folder: Path) -> str:
    import spacy

    nlp = spacy.blank("en")
    ruler = nlp.add_pipe("entity_ruler", name="ner")
    for label, name in (("PERSON", "Marta Lind"), ("PERSON", "Lind"), ("GPE", "Aarhus"), ("GPE", "Bergen")):
        ruler.add_patterns([{"label": label, "pattern": name}])
    nlp.to_disk(folder)
    return str(folder)


def test_names_of_every_text_have_their_lemmas(tmp_path: Path) -> None:
    texts = [TEXT, ["Nobody moved ."], [], TEXT[:1]]
    first, second, none, last = load(make_pipeline(tmp_path / "press")).names(texts)
    assert first.names == {
        "marta lind": "marta lind",
        "aarhus": "aarhu",
        "lind": "lind",
        "bergen": "bergen",
        "bergens": "bergen",  # a word whose lemma is a name
    }
    assert (second.names, none.names) == ({}, {})
    assert set(last.names) == {"marta lind", "aarhus"}


def test_words_whose_lemma_another_text_names_are_known() -> None:
    named = Named({"oslo": "oslo"}, {"osloers": "oslo", "bergens": "bergen", "says": "say"})
    assert named.known({"bergen": 0}) == {"oslo": "oslo", "osloers": "oslo", "bergens": "bergen"}
    names = numbered({"bergen": "bergen", "rome": "rome"})
    both = merged(names, named.known(names))
    assert both["bergens"] == names["bergen"]
    assert both["osloers"] == both["oslo"]
