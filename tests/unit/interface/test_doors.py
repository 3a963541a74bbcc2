"""Python and the command line as a whole: the same numbers, sentences and refusals of the same small files."""

import json

import pytest

import sumcurve as sc
from sumcurve.__main__ import parser
from sumcurve.machine.arguments import CommandError

SIZES, SYSTEMS, METHODS = (100, 200, 400, 800), (("x", 2), ("y", 3)), (("bart", 20), ("t5", 18))
FILES = {
    "r.txt": "the cat sat\na dog ran\nno bird sang\n",
    "r2.txt": "a cat sat down\nthe dog ran\nthe bird sang\n",
    "c.txt": "the cat sat down\na dog\nbirds sang\n",
    "d.txt": "a cat\nthe dog ran off\nno bird\n",
    "short.txt": "the cat\n",
    "blocks.txt": "the cat sat\na cat sat\n\na dog ran\n\nno bird sang\nbirds\n",
    "items.csv": "item,system,rouge1_f\n"
    + "".join(f"{n},{s},{(n * k) % 7 / 7}\n" for n in range(20) for s, k in (("a", 2), ("b", 3))),
    "a.csv": "rouge-1,note\n" + "".join(f"{n % 5 / 5},x\n" for n in range(12)),
    "b.csv": "rouge-1,note\n" + "".join(f"{n % 3 / 3},x\n" for n in range(12)),
    "few.csv": "rouge-1\n0.5\n0.4\n",
    "grid.csv": "Article ID,bart_rouge1,bart_rouge2,t5_rouge1,t5_rouge2\n"
    + "".join(f"{n},{n % 5 / 5},{n % 4 / 4},{n % 3 / 3},{n % 6 / 6}\n" for n in range(12)),
    "nested.jsonl": "".join(
        f"{json.dumps({'id': n, 'out': {s: {'bleu': (n + k) % 5, 'len': {'mean': n % k}} for s, k in SYSTEMS}})}\n"
        for n in range(12)
    ),
    "runs.csv": "model,train size,seed,eval/rouge1\n"
    + "".join(f"{m},{n},{s},{b + n**0.3 + s / 9}\n" for m, b in METHODS for n in SIZES for s in (1, 2)),
    "sweep.csv": "Name,eval/rouge1\n" + "".join(f"misty-dawn-{n},{20 + n % 5}\n" for n in range(8)),
    "empty.csv": "",
}  # fmt: skip
CASES = {  # arguments of the verb, and of the function, which have the same meaning
    "rouge": ("rouge --references r.txt --candidates c.txt", ("c.txt", "r.txt"), {}),
    "rouge, two systems": (
        "rouge --references r.txt --candidates c.txt --compare d.txt --stem --metrics rouge1",
        ("c.txt", "r.txt", "d.txt"),
        {"stem": True, "metrics": ["rouge1"]},
    ),
    "rouge, several systems": ("rouge --references r.txt --candidates c.txt d.txt r2.txt",
                               (["c.txt", "d.txt", "r2.txt"], "r.txt"), {}),
    "rouge, several annotators": ("rouge --references r.txt --references r2.txt --candidates c.txt",
                                  ("c.txt", ["r.txt", "r2.txt"]), {}),
    "rouge, blocks": ("rouge --references blocks.txt --candidates c.txt", ("c.txt", "blocks.txt"), {}),
    "rouge, unequal": ("rouge --references r.txt --candidates short.txt", ("short.txt", "r.txt"), {}),
    "rouge, unequal annotators": ("rouge --references r.txt --references short.txt --candidates c.txt",
                                  ("c.txt", ["r.txt", "short.txt"]), {}),
    "rouge, no file": ("rouge --references r.txt --candidates no.txt", ("no.txt", "r.txt"), {}),
    "rouge, scores": ("rouge --references r.txt --candidates items.csv", ("items.csv", "r.txt"), {}),
    "rouge, a column of none": ("rouge --references r.txt --candidates c.txt --compare-column x",
                                ("c.txt", "r.txt"), {"compare_column": "x"}),
    "rouge, mode": ("rouge --references r.txt --candidates c.txt --mode unicode --stem", ("c.txt", "r.txt"),
                    {"mode": "unicode", "stem": True}),
    "compare": ("compare items.csv", ("items.csv",), {}),
    "compare, files": ("compare a.csv b.csv", (["a.csv", "b.csv"],), {}),
    "compare, grid": ("compare grid.csv", ("grid.csv",), {}),
    "compare, nested": ("compare nested.jsonl", ("nested.jsonl",), {}),
    "compare, unequal": ("compare a.csv few.csv", (["a.csv", "few.csv"],), {}),
    "compare, texts": ("compare runs.csv", ("runs.csv",), {}),
    "compare, empty": ("compare empty.csv", ("empty.csv",), {}),
    "curve": ("curve runs.csv", ("runs.csv",), {}),
    "curve, reach": ("curve runs.csv --reach 25 --best 60", ("runs.csv",), {"reach": [25.0], "best": 60.0}),
    "curve, names": ("curve sweep.csv", ("sweep.csv",), {}),
    "curve, items": ("curve items.csv", ("items.csv",), {}),
    "power": ("power --sd-items 18 --sd-seed 0.8 --effect 2", (18.0,), {"sd_seed": 0.8, "effect": 2.0}),
    "power, items": ("power --per-item items.csv --effect 5", (), {"per_item": ["items.csv"], "effect": 5.0}),
    "power, seeds": ("power --sd-items 9 --seed-scores 31,32,30 28,29", (9.0,),
                     {"seed_scores": [[31.0, 32.0, 30.0], [28.0, 29.0]]}),
    "power, one seed": ("power --sd-items 9 --seed-scores 31", (9.0,), {"seed_scores": [[31.0]]}),
    "power, no seeds": ("power --sd-items 9 --paired", (9.0,), {"paired": True}),
    "power, systems": ("power --per-item grid.csv", (), {"per_item": ["grid.csv"]}),
    "efficiency": ("efficiency runs.csv", ("runs.csv",), {}),
    "efficiency, paper": ("efficiency cano-bojar-2020", ("cano-bojar-2020",), {}),
    "efficiency, items": ("efficiency items.csv", ("items.csv",), {}),
    "efficiency, no file": ("efficiency no.csv", ("no.csv",), {}),
}  # fmt: skip
REFUSED = {
    *("rouge, unequal", "rouge, unequal annotators", "rouge, no file", "rouge, scores", "rouge, a column of none"),
    *("rouge, mode", "compare, unequal", "compare, texts", "compare, empty", "curve, names", "curve, items"),
    *("power, one seed", "power, no seeds", "power, systems", "efficiency, items", "efficiency, no file"),
}


@pytest.fixture
def files(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, content in FILES.items():
        (tmp_path / name).write_text(content)


def said(act) -> str:
    """What an act prints or returns, or its refusal."""
    try:
        return act()
    except CommandError as error:
        return f"refused: {error}"


@pytest.mark.parametrize("case", CASES)
def test_both_doors_say_the_same(files, capsys, case) -> None:
    words, arguments, options = CASES[case]

    def by_line() -> str:
        parsed = parser().parse_args(words.split())
        parsed.run(parsed)
        return capsys.readouterr().out.strip()

    def in_python() -> str:
        result = getattr(sc, words.split()[0])(*arguments, **options)
        return "\n".join([*result.taken, *result.sentences]) if case.startswith("power") else f"{result!r}"

    printed = said(by_line)
    assert printed == said(in_python)
    assert printed.startswith("refused: ") == (case in REFUSED), printed
