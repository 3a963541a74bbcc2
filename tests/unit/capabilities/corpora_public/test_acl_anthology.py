"""Papers as the Anthology's files have them; all of these are invented."""

from pathlib import Path

import pytest

from sumcurve.capabilities.corpora_public.acl_anthology import LARGEST, NO_ABSTRACT, NO_TITLE, WITHDRAWN
from sumcurve.sources.content import Content
from sumcurve.sources.raw import EMPTY_SOURCE, Dropped, RawRecord
from sumcurve.store.errors import CorpusError
from sumcurve.study.doors import SOURCES

HEAD = "<?xml version='1.0' encoding='UTF-8'?>\n"


def paper(
    number: int | str, title: str = "<title>On Herons</title>", rest: str = "<abstract>They fish.</abstract>"
) -> str:
    return f'<paper id="{number}">{title}<author><first>A</first><last>B</last></author>{rest}</paper>'


def volume(name: str, *papers: str, year: str | None = "2020") -> str:
    told = f"<year>{year}</year>" if year else ""
    return f'<volume id="{name}"><meta>{told}</meta><frontmatter><url>x</url></frontmatter>{"".join(papers)}</volume>'


def write(folder: Path, name: str, *volumes: str) -> Path:
    path = folder / f"{name}.xml"
    path.write_text(f'{HEAD}<collection id="{name}">{"".join(volumes)}</collection>')
    return path


def read(path: Path) -> tuple[list[RawRecord], list[Dropped]]:
    rows = list(Content(path, SOURCES["acl_anthology"]).records())
    return [row for row in rows if isinstance(row, RawRecord)], [row for row in rows if isinstance(row, Dropped)]


def test_ids_are_the_anthologys_and_groups_are_years_and_volumes(tmp_path) -> None:
    write(tmp_path, "2020.law", volume("1", paper(1), paper(12)), volume("main", paper(3), year="2021"))
    write(tmp_path, "P99", volume("1", paper(1), paper(12), year=None))
    write(tmp_path, "W19", volume("1", paper(3), year=None), volume("52", paper(12)))
    write(tmp_path, "D19", volume("1", paper(3)), volume("52", paper(12)))
    write(tmp_path, "C69", volume("1", paper(1), year=None))
    (tmp_path / "schema.rnc").write_text("MarkupText = text")
    records, dropped = read(tmp_path)
    assert dropped == []
    assert {record.id: record.group for record in records} == {
        "2020.law-1.1": "2020/2020.law-1",
        "2020.law-1.12": "2020/2020.law-1",
        "2020.law-main.3": "2021/2020.law-main",
        "P99-1001": "1999/P99-1",
        "P99-1012": "1999/P99-1",
        "W19-0103": "2019/W19-1",
        "W19-5212": "2020/W19-52",
        "D19-1003": "2020/D19-1",
        "D19-5212": "2020/D19-52",
        "C69-0101": "1969/C69-1",
    }


@pytest.mark.parametrize(
    ("marked", "text"),
    [
        ("<fixed-case>H</fixed-case>erons &amp; <fixed-case>BERT</fixed-case>", "Herons & BERT"),
        (
            "They <i>fish</i>, <b>very <i>well</i></b>:\n   <url>http://pond.example/a_b</url>.",
            "They fish, very well: http://pond.example/a_b.",
        ),
        ("an <tex-math>F_1</tex-math> of 3", "an F_1 of 3"),
        ("<tex-math>\\beta</tex-math>-herons", "beta -herons"),
        ("in <tex-math>O(n^{3} \\log n)</tex-math> steps", "in O(n^3 log n) steps"),
        ("<tex-math>$\\mathcal{P}^2$</tex-math>: +<tex-math>10\\%</tex-math>", "P^2: +10%"),
        ("Heron<tex-math>_{\\text{large}}</tex-math>", "Heron_large"),
        ("<fixed-case><tex-math>\\alpha = \\mathbf{x}</tex-math></fixed-case> &lt; 2", "alpha = x < 2"),
    ],
)
def test_of_marked_up_text_the_text_is_taken(tmp_path, marked, text) -> None:
    path = write(
        tmp_path, "2020.law", volume("1", paper(1, f"<title>{marked}</title>", f"<abstract>{marked}</abstract>"))
    )
    ((record,), dropped) = read(path)
    assert (record.target, record.source, dropped) == (text, text, [])


def test_papers_that_are_no_records_are_dropped_by_reason(tmp_path) -> None:
    good = "<abstract>They fish.</abstract>"
    path = write(
        tmp_path,
        "2020.law",
        volume(
            "1",
            paper(1),
            paper(2, rest=""),
            paper(3, title=""),
            paper(4, rest="<abstract><i> </i></abstract>"),
            paper(5, rest=f'{good}<retracted date="2021-01-01">Wrong.</retracted>'),
            paper(6, rest=f'{good}<removed date="2021-01-01">Wrong.</removed>'),
        ),
    )
    records, dropped = read(path)
    assert [record.id for record in records] == ["2020.law-1.1"]
    reasons = [(one.place.number, one.reason) for one in dropped]
    assert reasons == [(2, NO_ABSTRACT), (3, NO_TITLE), (4, EMPTY_SOURCE), (5, WITHDRAWN), (6, WITHDRAWN)]


LAUGHS = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            f'<!DOCTYPE c [<!ENTITY l0 "ha">{LAUGHS}]><collection id="a">&l9;</collection>',
            r"declares a document type \(c\)",
        ),
        ('<!DOCTYPE c SYSTEM "file:///etc/passwd"><collection id="a"/>', r"declares a document type \(c\)"),
        ('<collection id="a">&l9;</collection>', "is truncated or damaged .*undefined entity"),
        ('<collection id="a"><volume>', "is truncated or damaged"),
        ("", "is truncated or damaged"),
        ('<?xml version="1.0" encoding="pond"?><collection id="a"/>', "is truncated or damaged"),
        ('<html id="a"/>', "begins with <html>, not with a <collection id=…>"),
        (" " * (LARGEST + 1), "has more than"),
    ],
)
def test_a_file_that_no_anthology_has_is_an_error(tmp_path, content, message) -> None:
    (tmp_path / "a.xml").write_text(content)
    with pytest.raises(CorpusError, match=rf"a\.xml {message}"):
        read(tmp_path)


def test_elements_in_elements_without_end_are_read_in_bounded_stack(tmp_path) -> None:
    deep = "<b>" * 50_000 + "x" + "</b>" * 50_000
    (records, _) = read(write(tmp_path, "2020.law", volume("1", paper(1, rest=f"<abstract>{deep}</abstract>"))))
    assert records[0].source == "x"
