"""What is taken out of a structure before a parser sees it is what the parser would have told of it."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from noarkit.errors import NoarkitError
from noarkit.forms.noark5.read import plain_records
from noarkit.forms.noark5.read.plain_records import PlainRecords
from noarkit.forms.noark5.read.structure import Unit, units

HEAD = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<arkiv xmlns="urn:a" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">'
    "<systemID>a</systemID><arkivdel><systemID>d</systemID>\n"
)
TAIL = "</arkivdel></arkiv>\n"
RECORD = (
    '<registrering xsi:type="journalpost">\n<systemID>{0}</systemID>\n<tittel>T &amp; {0}</tittel></registrering>\n'
)


def read(path: Path) -> list[Unit] | tuple[str, object]:
    """All units, or the fault."""
    seen: set[str] = set()

    def first(text: str) -> bool:
        is_new = text not in seen
        seen.add(text)
        return is_new

    try:
        return list(units(path, first))
    except NoarkitError as fault:
        return fault.code, {name: value for name, value in fault.data.items() if name != "detail"}


def both_ways(
    content: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[list[Unit] | tuple[str, object], ...]:
    """The units read as ever, and with nothing taken."""
    path = tmp_path / "arkivstruktur.xml"
    path.write_bytes(content)
    as_ever = read(path)
    with monkeypatch.context() as patch:
        patch.setattr(PlainRecords, "_take", lambda *_: None)
        return as_ever, read(path)


def taken_of(content: bytes) -> int:
    """How many records are taken out of a document."""
    records = PlainRecords(io.BytesIO(content), "x")
    while records.read():
        pass
    return next(records._numbers)


def test_plain_records_are_taken() -> None:
    assert taken_of((HEAD + RECORD.format(1) * 3 + TAIL).encode()) == 3


PIECES = (
    "<tittel>plain</tittel>",
    "<tittel/>",
    "<tittel></tittel>",
    "<tittel >blank</tittel >",
    "<tittel>&amp;&lt;&gt;&quot;&apos;&amp;lt;</tittel>",
    "<tittel>&#230;&#xE6;</tittel>",
    "<tittel>&nbsp;</tittel>",
    "<tittel>& alone</tittel>",
    "<tittel>a > b</tittel>",
    "<tittel>]]></tittel>",
    "<tittel><![CDATA[<x>]]></tittel>",
    "<tittel>a<!-- <registrering> -->b</tittel>",
    "<!-- <registrering><tittel>x</tittel></registrering> -->",
    "<?what ever?>",
    "<tittel>a\r\nb\rc\n</tittel>",
    "<tittel>\x01</tittel>",
    "<tittel>\ufffe</tittel>",
    "<tittel>æøå €  </tittel>",
    "<part><navn>n</navn>loose<navn>m</navn></part>",
    "<part>\n<navn/>\n</part>",
    "<part><part><part><navn>deep</navn></part></part></part>",
    '<a:b xmlns:a="urn:x">prefixed</a:b>',
    '<ikkeIFormen xmlns="urn:noarkit:ikkeIFormen"><Journalpost><x>1</x></Journalpost></ikkeIFormen>',
    '<b xmlns="urn:noarkit:ikkeIFormen"><ikkeIFormen><x>1</x></ikkeIFormen></b>',
    "<tittel>unclosed",
    "<tittel>wrong</titel>",
    "</tittel>",
    "><a</a>",
    "<1>x</1>",
    "<registreringsID>2020/1</registreringsID>",
    "<registrering><tittel>inner</tittel></registrering>",
    '<registrering xsi:type="x"/>',
    "<mappe><tittel>inner</tittel></mappe>",
)


@given(
    st.lists(st.sampled_from(PIECES), max_size=4),
    st.lists(st.sampled_from(PIECES), max_size=4),
    st.sampled_from(("", *PIECES)),
    st.integers(20, 200),
)
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_stands_in_and_between_records_is_read_alike(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: list[str], second: list[str], between: str, block: int
) -> None:
    monkeypatch.setattr(plain_records, "_READ_BYTES", block)
    contents = ("".join(first), "".join(second))
    records = "".join(f'<registrering xsi:type="a">{inside}</registrering>{between}' for inside in contents)
    content = HEAD + RECORD.format(1) + records + RECORD.format(2) + TAIL
    as_ever, untaken = both_ways(content.encode("utf-8", "surrogatepass"), tmp_path, monkeypatch)
    assert as_ever == untaken


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.encode("utf-16"),
        lambda text: text.replace("UTF-8", "ISO-8859-1").encode("latin-1"),
        lambda text: text.encode("latin-1"),
        lambda text: b"\xef\xbb\xbf" + text.encode(),
        lambda text: text.replace("\n", "\r\n").encode(),
        lambda text: text.replace("<arkivdel>", '<arkivdel xmlns="urn:b">').encode(),
        lambda text: (
            text.replace("registrering>", "n:registrering>").replace("<registrering", "<n:registrering").encode()
        ),
        lambda text: text.replace("<arkiv ", "<!DOCTYPE arkiv><arkiv ").encode(),
        lambda text: text[:-30].encode(),
        lambda text: text.replace('xsi:type="journalpost"', 'xsi:type="a>b"').encode(),
        lambda text: text.replace('xsi:type="journalpost"', 'xsi:type="a" xsi:type="b"').encode(),
    ],
)
def test_documents_of_every_kind_are_read_alike(
    change: Callable[[str], bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = HEAD + RECORD.format("æ") + RECORD.format(2) + TAIL
    as_ever, untaken = both_ways(change(text), tmp_path, monkeypatch)
    assert as_ever == untaken


def test_a_record_longer_than_any_block_is_read_alike(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plain_records, "_READ_BYTES", 100)
    monkeypatch.setattr(plain_records, "_LONGEST_BYTES", 1_000)
    content = HEAD + RECORD.format("x" * 3_000) + RECORD.format(2) + TAIL
    as_ever, untaken = both_ways(content.encode(), tmp_path, monkeypatch)
    assert as_ever == untaken and isinstance(as_ever, list)


def test_more_shapes_than_are_kept_are_read_alike(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plain_records, "_MOST_SHAPES", 3)
    records = "".join(f"<registrering><e{number}>1</e{number}></registrering>" for number in [*range(10), *range(10)])
    as_ever, untaken = both_ways((HEAD + records + TAIL).encode(), tmp_path, monkeypatch)
    assert as_ever == untaken and isinstance(as_ever, list) and len(as_ever) == 22


def test_faults_behind_taken_records_are_told_at_their_lines(tmp_path: Path) -> None:
    path = tmp_path / "arkivstruktur.xml"
    path.write_text(HEAD + RECORD.format(1) * 5 + "<wrong>" + TAIL)
    fault = read(path)
    assert isinstance(fault, tuple) and fault[1] == {"where": str(path), "why": "malformed-xml", "line": 18}


def test_whoever_writes_the_mark_of_another_reading_is_not_taken_at_its_word(tmp_path: Path) -> None:
    path = tmp_path / "arkivstruktur.xml"
    mark = PlainRecords(io.BytesIO(), "x")._mark
    path.write_text(f"{HEAD}<registrering {mark}='0'><tittel>own</tittel></registrering>{TAIL}")
    result = read(path)
    assert isinstance(result, list) and result[-1].node == {"tittel": ["own"]}
