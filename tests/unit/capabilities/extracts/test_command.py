import argparse
import gzip
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zstandard
from rouge_score.rouge_scorer import RougeScorer

import sumcurve as sc
from sumcurve.capabilities.extracts import SCORERS, certificates
from sumcurve.capabilities.extracts.certificates import Certificate
from sumcurve.capabilities.extracts.command import add_parser, articles_in
from sumcurve.machine.arguments import CommandError, Verbs

MEASURED = ("seconds", "digest")  # differ from run to run


@pytest.fixture
def sumcurve(capsys) -> Callable[..., str]:
    """Runs a command line and returns what it prints."""

    def run(*words: object) -> str:
        parser = argparse.ArgumentParser()
        add_parser(parser.add_subparsers(required=True, action=Verbs))
        arguments = parser.parse_args([str(word) for word in words])
        arguments.run(arguments)
        streams = capsys.readouterr()
        notice = "compiling, once on this machine"  # in whichever test comes first after kernels changed
        return streams.out + "".join(line for line in streams.err.splitlines(True) if not line.startswith(notice))

    return run


def invented(count: int, sentences: int = 12) -> list[dict[str, Any]]:
    rng = random.Random(count)
    words = [f"{first}{second}rt" for first in "bcdfghk" for second in "aeiou"]

    def text(number: int) -> list[str]:
        return [" ".join(rng.choice(words) for _ in range(rng.randint(3, 9))) + "." for _ in range(number)]

    return [{"id": f"a{number}", "sentences": text(sentences), "abstract": text(3)} for number in range(count)]


def write(path: Path, rows: list[Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def results(path: Path) -> list[dict[str, Any]]:
    """The lines of OUT, without what is measured."""
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    return [{name: value for name, value in row.items() if name not in MEASURED} for row in rows]


@pytest.mark.parametrize("metric", ["rouge1", "rouge2"])
def test_every_article_gets_a_line_that_rouge_score_confirms(sumcurve, tmp_path, metric) -> None:
    rows = invented(6)
    source, out = write(tmp_path / "in.jsonl", rows), tmp_path / "out.jsonl"
    printed = sumcurve("oracle", "--input", source, "--metric", metric, "--output", out)
    assert "6 proven" in printed
    scorer = RougeScorer([metric])
    found = [json.loads(line) for line in out.read_text().splitlines()]
    assert [line["id"] for line in found] == [row["id"] for row in rows]
    for row, line in zip(rows, found, strict=True):
        extract = " ".join(row["sentences"][index] for index in line["sentences"])
        assert scorer.score(" ".join(row["abstract"]), extract)[metric].fmeasure == pytest.approx(line["value"])
        assert line["value"] == line["numerator"] / line["denominator"] == line["bound"]
        assert set(line) == set(Certificate.model_fields)
    assert "6 certificates hold (6 proven optimal); 3 found again" in sumcurve(
        "oracle", "verify", out, "--input", source, "--share", 0.5
    )


def test_searches_are_labelled_heuristic_and_depend_on_the_seed_alone(sumcurve, tmp_path) -> None:
    source = write(tmp_path / "in.jsonl", invented(4))
    outs = [tmp_path / name for name in ("a.jsonl", "b.jsonl", "c.jsonl")]
    for out, seed in zip(outs, (1, 1, 2), strict=True):
        sumcurve("oracle", "--input", source, "--algorithm", "vns", "--output", out, "--seed", seed)
    first, second, third = map(results, outs)
    assert first == second != third
    assert {row["status"] for row in first} == {"heuristic"}
    tampered = [json.loads(line) for line in outs[0].read_text().splitlines()]
    tampered[1]["sentences"] = tampered[1]["sentences"][1:]
    with pytest.raises(CommandError, match=r"(?s)problems.*certificate 2: the digest"):
        sumcurve("oracle", "verify", write(outs[0], tampered), "--input", source)
    outs[1].write_text("{\n")
    with pytest.raises(CommandError, match=r"b.jsonl:2: not JSON"):
        sumcurve("oracle", "verify", outs[1], "--input", source)


def strings(row: dict[str, Any]) -> dict[str, Any]:
    """The same article, its sentences in one string of capitalised sentences."""
    text = {name: " ".join(sentence.capitalize() for sentence in row[name]) for name in ("sentences", "abstract")}
    return {"id": row["id"], "text": text["sentences"], "summary": text["abstract"]}


def test_all_keys_forms_and_packings_hold_the_same_articles(tmp_path) -> None:
    rows = invented(3)
    expected = list(articles_in(write(tmp_path / "in.jsonl", rows)).values())
    for keys in zip(
        ("id", "article_id", "id", "id"),
        ("sentences", "source", "article_text", "text"),
        ("abstract", "target", "summary", "abstract_text"),
        strict=True,
    ):
        renamed = [dict(zip(keys, (row["id"], row["sentences"], row["abstract"]), strict=True)) for row in rows]
        assert list(articles_in(write(tmp_path / "renamed.jsonl", renamed)).values()) == expected
    plain = (tmp_path / "in.jsonl").read_bytes()
    (tmp_path / "in.jsonl.gz").write_bytes(gzip.compress(plain))
    (tmp_path / "in.jsonl.zst").write_bytes(zstandard.compress(plain))
    for name in ("in.jsonl.gz", "in.jsonl.zst"):
        assert list(articles_in(tmp_path / name).values()) == expected
    split = list(articles_in(write(tmp_path / "text.jsonl", [strings(row) for row in rows])).values())
    assert [[sentence.lower() for sentence in one.sentences] for one in split] == [one.sentences for one in expected]
    marked = {"article_id": 7, "article_text": ["a b"], "abstract_text": ["<S> b c . </S>"]}
    (one,) = articles_in(write(tmp_path / "marked.jsonl", [marked])).values()
    assert (one.id, one.sentences, one.abstract) == ("7", ["a b"], ["b c ."])


@pytest.mark.parametrize(
    ("keys", "named"),
    [
        (("id", "article", "highlights"), {}),
        (("id", "document", "summary"), {}),
        (("instance_id", "src", "tgt"), {}),
        (("GUID", "Dialogue", "Summary"), {}),
        (("doc_id", "Body", "headline"), {}),
        (("key", "plaintext", "gist"), {"item": "key", "source_column": "plaintext", "abstract_column": "gist"}),
        (("id", "source", "title"), {"abstract_column": "title"}),
    ],
)
def test_usual_keys_and_named_ones_hold_the_same_articles(sumcurve, tmp_path, keys, named) -> None:
    rows = invented(2)
    renamed = [dict(zip(keys, (row["id"], row["sentences"], row["abstract"]), strict=True)) for row in rows]
    expected = list(articles_in(write(tmp_path / "in.jsonl", rows)).values())
    source, out = write(tmp_path / "renamed.jsonl", renamed), tmp_path / "out.jsonl"
    assert list(articles_in(source, columns=named).values()) == expected
    options = [word for name, key in named.items() for word in (f"--{name.replace('_', '-')}", key)]
    sumcurve("oracle", "--input", source, "--output", out, *options)
    sumcurve("oracle", "verify", out, "--input", source, *options)
    of_python = sc.oracle(renamed, **named).certificates
    assert [{name: row[name] for name in row if name not in MEASURED} for row in of_python] == results(out)


def test_rows_without_ids_are_numbered_and_tables_and_lists_of_tokens_are_read(tmp_path) -> None:
    (tmp_path / "a.csv").write_text(
        'document,summary\n"One cat. Two dogs.",Two dogs.\n"Three rats. Four hens.",Four hens.\n'
    )
    tokens = [{"src": [["One", "cat."], ["Two", "dogs."]], "tgt": [["Two", "dogs."]]}]
    tokens.append({"src": [["Three", "rats."], ["Four", "hens."]], "tgt": [["Four", "hens."]]})
    table, listed = articles_in(tmp_path / "a.csv"), articles_in(write(tmp_path / "a.jsonl", tokens))
    assert [*table.values()] == [*listed.values()]
    assert [one.id for one in table.values()] == ["1", "2"]
    with pytest.raises(CommandError, match=r"a.jsonl:1: no key for --source-column srx; did you mean src\?"):
        articles_in(tmp_path / "a.jsonl", columns={"source_column": "srx"})


@pytest.mark.parametrize(
    ("source", "target", "mode"),
    [
        ("猫坐在垫子上。狗跑了。", "狗跑了。", "characters"),
        ("雨が降った！犬は走った。", "犬は走った。", "characters"),
        ("बिल्ली बैठी। कुत्ता दौड़ा।", "कुत्ता दौड़ा।", "unicode"),
        ("هل جلس القط؟ ركض الكلب.", "ركض الكلب.", "unicode"),
        ("بلی بیٹھی۔ کتا دوڑا۔", "کتا دوڑا۔", "unicode"),
        ("แมวนั่งบนเสื่อ หมาวิ่ง", "หมาวิ่ง", "characters"),
        ("A cat sat<q>the dog ran", "the dog ran", "rouge-score"),
        ("<S> a cat sat </S> <S> the dog ran </S>", "the dog ran", "rouge-score"),
        ("a cat sat<n>the dog ran", "the dog ran", "unicode"),
        ("a cat sat\nthe dog ran", "the dog ran", "rouge-score"),
        ("今天下雨[SEP]狗跑了", "狗跑了", "characters"),
    ],
)
def test_a_sentence_that_is_the_abstract_is_found_in_every_script(tmp_path, source, target, mode) -> None:
    path = write(tmp_path / "in.jsonl", [{"id": "a", "source": source, "target": target}])
    (one,) = articles_in(path).values()
    assert len(one.sentences) == 2
    (best,) = sc.oracle([(source, target)], scorer=mode).certificates
    assert (best["value"], best["sentences"], best["status"]) == (1.0, [1], "proven")


@pytest.mark.parametrize("source", [" ".join(f"word{place}" for place in range(300)), "ไทย" * 1000, "字" * 300])
def test_a_text_that_stays_one_sentence_is_refused_where_it_has_more(tmp_path, source) -> None:
    row = {"id": "a", "source": source, "target": "b"}
    with pytest.raises(CommandError, match=r"in.jsonl:1: source stays one sentence of .* words.*; give a list"):
        articles_in(write(tmp_path / "in.jsonl", [row]))
    with pytest.raises(CommandError, match=r"article 1: source stays one sentence"):
        sc.oracle([row])
    assert len(articles_in(write(tmp_path / "in.jsonl", [row | {"source": [source]}]))) == 1  # as its owner divides it
    assert (
        len(articles_in(write(tmp_path / "in.jsonl", [row | {"source": "Dr. A. Smith of the U.S. Army left."}]))) == 1
    )


GOOD = {"id": "good", "sentences": ["a b"], "abstract": ["a b"]}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "2: not JSON"),
        ("[1]", "2: a list, not an object"),
        ('{"id": "x", "abstract": ["a"]}', "2: none of the keys sentences, source"),
        ('{"id": "x", "sentences": ["a"]}', "2: none of the keys abstract, target"),
        ('{"id": " ", "sentences": ["a"], "abstract": ["a"]}', "2: id is ' '"),
        ('{"id": null, "sentences": ["a"], "abstract": ["a"]}', "2: id is None"),
        ('{"id": "good", "sentences": ["a"], "abstract": ["a"]}', "2: id 'good' is that of .*in.jsonl:1"),
        ('{"id": "x", "sentences": 5, "abstract": ["a"]}', "2: sentences is a int"),
        ('{"id": "x", "sentences": ["a"], "abstract": ["b", ["a"]]}', r'2: element 2 of abstract is \["a"\]'),
        ('{"id": "x", "sentences": ["\\ud800"], "abstract": ["a"]}', "2: half of a surrogate pair"),
        ('{"id": "x", "sentences": ["a"], "abstract": ["a\\u0000b"]}', "2: abstract holds a NUL"),
        ('{"id": "x", "sentences": ["a\0b"], "abstract": ["a"]}', "2: a NUL character"),
    ],
)
def test_a_line_that_cannot_be_used_is_named_before_any_work(sumcurve, tmp_path, line, message) -> None:
    source, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    source.write_text(json.dumps(GOOD) + "\n" + line + "\n")
    with pytest.raises(CommandError, match=f"in.jsonl:{message}"):
        sumcurve("oracle", "--input", source, "--output", out)
    assert list(tmp_path.iterdir()) == [source]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--output OUT", "needs --input"),
        ("--input none.jsonl --output OUT", "none.jsonl: no such file"),
        ("--input in.jsonl --output nowhere/out.jsonl", "folder that exists"),
        ("--input in.jsonl --output in.jsonl", "in.jsonl"),
        ("--input empty.jsonl --output OUT", "empty.jsonl holds no article"),
        ("--input lines.jsonl --output OUT", "lines.jsonl holds no article"),
        ("--input torn.jsonl.gz --output OUT", "torn.jsonl.gz is truncated or damaged .*copy it again"),
        *(
            (f"--input in.jsonl --output OUT --algorithm {told}", f"{told.split()[1]}: it changes nothing")
            for told in (
                *("exact --seed 4", "greedy --seed 4", "greedy --seconds 3", "greedy --nodes 4", "f1-greedy --seed 4"),
            )
        ),
    ],
)
def test_files_and_options_that_cannot_be_used_are_named(sumcurve, tmp_path, monkeypatch, words, message) -> None:
    monkeypatch.chdir(tmp_path)
    source = write(tmp_path / "in.jsonl", [GOOD]).read_text()
    (tmp_path / "empty.jsonl").write_text("")
    (tmp_path / "lines.jsonl").write_text("\n\n")
    (tmp_path / "torn.jsonl.gz").write_bytes(gzip.compress(source.encode())[:-5])
    with pytest.raises(CommandError, match=message):
        sumcurve("oracle", *words.split())
    assert not (tmp_path / "OUT").exists()


@pytest.mark.parametrize("option", [["--seconds", "-1"], ["--seconds", "nan"], ["--nodes", "-1"]])
def test_budgets_below_zero_are_refused(sumcurve, tmp_path, option) -> None:
    with pytest.raises(SystemExit):
        sumcurve("oracle", "--input", tmp_path, "--output", tmp_path, *option)


@pytest.mark.parametrize("metric", ["rouge1", "rouge2"])
def test_odd_articles_get_an_answer(sumcurve, tmp_path, metric) -> None:
    rows = [
        {"id": "no sentences", "sentences": [], "abstract": ["a b"]},
        {"id": "blank", "text": " \n ", "summary": "A b."},
        {"id": "one sentence", "sentences": ["a b c"], "abstract": ["a b"]},
        {"id": "long abstract", "sentences": ["a b"], "abstract": ["a b", "c d", "e f"]},
        {"id": "no abstract", "sentences": ["a b"], "abstract": []},
        {"id": "repeated", "sentences": ["a b c"] * 30, "abstract": ["a b"]},
        {"id": "no words", "sentences": ["!", "", "a b"], "abstract": ["a b"]},
    ]
    source = write(tmp_path / "in.jsonl", rows)
    for number, budget in enumerate((["--seconds", "none"], ["--seconds", 0], ["--nodes", 0])):
        out = tmp_path / f"out{number}.jsonl"
        sumcurve("oracle", "--input", source, "--metric", metric, "--output", out, *budget)
        sumcurve("oracle", "verify", out, "--input", source, "--share", 1)
        found = {row["id"]: row for row in results(out)}
        assert all(row["value"] <= row["bound"] <= 1 for row in found.values())
        for name in ("no sentences", "blank", "no abstract"):
            assert (found[name]["value"], found[name]["status"], found[name]["sentences"]) == (0.0, "proven", [])
        assert found["no words"]["sentences"] == [2]
        assert found["repeated"]["value"] > 0


@pytest.mark.parametrize("scorer", SCORERS)
def test_empty_texts_are_counted_first(sumcurve, tmp_path, scorer) -> None:
    blank = [{"id": f"b{number}", "text": "A b.", "summary": text} for number, text in enumerate(("", " \n", "."))]
    source = write(tmp_path / "in.jsonl", [GOOD, *blank, {"id": "none", "sentences": [" "], "abstract": ["a"]}])
    words = ["--output", tmp_path / "out.jsonl", "--algorithm", "f1-greedy", "--scorer", scorer]
    first, second, counts, *_ = sumcurve("oracle", "--input", source, *words).splitlines()
    assert first.startswith(f"WARNING: 3 of 5 articles have an empty abstract (first: {source}:2)")
    assert second.startswith(f"WARNING: 1 of 5 articles have an empty source (first: {source}:5)")
    assert counts == f"{source}: 5 articles, 3 empty abstracts, 1 empty sources"


@pytest.mark.parametrize(("key", "text"), [("abstract", ""), ("abstract", "摘要"), ("source", "文章")])
def test_articles_of_which_no_text_has_a_word_are_refused(sumcurve, tmp_path, key, text) -> None:
    row = {"source": "a b", "abstract": "a b"} | {key: text}
    source = write(tmp_path / "in.jsonl", [{"id": str(number)} | row for number in range(2)])
    with pytest.raises(CommandError, match=f"none of its 2 articles has a word in its {key}, by scorer rouge-score"):
        sumcurve("oracle", "--input", source, "--output", tmp_path / "out.jsonl")
    assert list(tmp_path.iterdir()) == [source]


def test_an_output_is_written_whole_or_not_at_all(sumcurve, tmp_path, monkeypatch) -> None:
    """A run that ends early leaves what was there; the next one replaces it."""
    source, out = write(tmp_path / "in.jsonl", invented(3)), tmp_path / "out.jsonl"
    sumcurve("oracle", "--input", source, "--output", out)
    before = out.read_bytes()
    real, made = certificates.certificate, []

    def crash(*words: object, **more: object) -> dict[str, Any]:
        made.append(words)
        if len(made) > 2:  # one warms up
            raise KeyboardInterrupt
        return real(*words, **more)

    with monkeypatch.context() as patch:
        patch.setattr(certificates, "certificate", crash)
        with pytest.raises(KeyboardInterrupt):
            sumcurve("oracle", "--input", source, "--metric", "rouge2", "--output", out)
    assert out.read_bytes() == before
    assert sorted(tmp_path.iterdir()) == [source, out]
    sumcurve("oracle", "--input", source, "--metric", "rouge2", "--output", out)
    assert {row["metric"] for row in results(out)} == {"rouge2"}


def test_python_takes_the_file_that_the_command_takes(sumcurve, tmp_path) -> None:
    import sumcurve as package

    path = write(tmp_path / "a.json", [])
    path.write_text(json.dumps({"data": invented(3)}))
    sumcurve("oracle", "--input", path, "--output", tmp_path / "out.jsonl")
    timed = ("seconds", "digest")  # a digest is of all, seconds too
    written, returned = (
        [{name: value for name, value in row.items() if name not in timed} for row in rows]
        for rows in (results(tmp_path / "out.jsonl"), json.loads(json.dumps(package.oracle(str(path)).certificates)))
    )
    assert written == returned
    with pytest.raises(CommandError, match=r"none\.csv: no such file"):
        package.oracle("none.csv")
