"""The notebook runs, and every cell that ends in a value shows one; so does the example of the page on Python."""

import ast
import re
from pathlib import Path

import pytest

from sumcurve.tables.result import Result

ROOT = Path(__file__).parents[3]
NOTEBOOK = ROOT / "docs" / "tutorials" / "notebook.py"


def test_every_cell_runs_and_shows_its_value(monkeypatch) -> None:
    monkeypatch.chdir(ROOT)
    names: dict[str, object] = {}
    shown = []
    for cell in NOTEBOOK.read_text().split("# %%\n")[1:]:
        *statements, last = ast.parse(cell.split("# %% [markdown]")[0]).body
        exec(compile(ast.Module(statements, []), str(NOTEBOOK), "exec"), names)
        if isinstance(last, ast.Expr):
            shown.append(eval(compile(ast.Expression(last.value), str(NOTEBOOK), "eval"), names))
        else:
            exec(compile(ast.Module([last], []), str(NOTEBOOK), "exec"), names)
    assert len(shown) > 8
    assert all(hasattr(value, "_repr_html_") or hasattr(value, "_repr_mimebundle_") for value in shown)
    results = [value for value in shown if isinstance(value, Result)]
    assert len(results) > 4
    assert all(value.sentences and value.tables for value in results)
    assert len({*names["references"]}) == len(names["references"]) >= 10  # an interval over items takes distinct ones


def test_twenty_lines_lead_from_two_lists_of_strings_to_the_test_that_the_page_prints(
    capsys: pytest.CaptureFixture[str],
) -> None:
    page = (ROOT / "docs" / "reference" / "python.md").read_text()
    (found,) = re.findall(r"a test\n.*?```python\n(.*?)```.*?```text\n(.*?)```", page, flags=re.S)
    example, quoted = found
    assert len(example.splitlines()) <= 20
    exec(compile(example, "python.md", "exec"), {})
    assert capsys.readouterr().out.startswith(quoted)
