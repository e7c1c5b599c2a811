"""An extract says the same in whichever way it is read: cut in portions or not, by one process or several, taken by
its shapes or element by element. Its size alone decides between these."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from noarkit.catalogue.places.extract import ExtractPlace
from noarkit.catalogue.port import Item
from noarkit.catalogue.store import write_catalogue
from noarkit.errors import PackageFault
from noarkit.events import ignore_event
from noarkit.forms.findings import ValidateResult
from noarkit.forms.noark5.read.portions import CannotCut
from noarkit.forms.noark5.read.structure import units
from noarkit.forms.noark5.rules.run import Noark5ValidateOptions, validate_extract
from noarkit.forms.noark5.source import ExtractSource
from noarkit.model.disclosure import MASK
from noarkit.reports.unit_names import unit_names
from tests.catalogue.test_extract_rows import IDENTITY, Cut
from tests.sources.package.made import NAMESPACES, document, folder, made, record, series, uuid

ODD = (
    "<beskrivelse>plain</beskrivelse>",
    "<beskrivelse/>",
    "<beskrivelse></beskrivelse>",
    "<beskrivelse > blanks\t</beskrivelse >",
    "<beskrivelse>&amp;&lt;&gt;&quot;&apos;&amp;lt;</beskrivelse>",
    "<beskrivelse>&#230;&#xE6;&#10;&#13;</beskrivelse>",
    "<beskrivelse>a\r\nb\rc\n</beskrivelse>",
    "<beskrivelse>a > b ]] \\ \" ' 100 %s</beskrivelse>",
    "<beskrivelse>\x7f\x85 \ue0000001\ue001 æøå € 𝄞</beskrivelse>",
    "<beskrivelse><![CDATA[<mappe> & ]]></beskrivelse>",
    "<beskrivelse>a<!-- <registrering> -->b</beskrivelse>",
    "<beskrivelse xml:lang='nn'>a</beskrivelse>",
    '<beskrivelse xml:space="preserve">a>b</beskrivelse>',
    "<!-- <registrering><tittel>x</tittel></registrering> -->",
    "<?what <mappe> ever?>",
    "<merknad>loose<merknadstekst>a</merknadstekst>text<merknadstekst>b</merknadstekst></merknad>",
    "<merknad>\n<merknadstekst/>\n</merknad>",
    "<gradering/>",
    "<gradering><grad> </grad></gradering>",
    "<skjermEInnsyn> 1 </skjermEInnsyn>",
    "<referanseTilMappe> 00000000-0000-4000-8000-000000000010 </referanseTilMappe>",
    '<a:b xmlns:a="urn:x">prefixed</a:b>',
    '<beskrivelse xmlns="urn:x">of others</beskrivelse>',
    "<virksomhetsspesifikkeMetadata><q xmlns='urn:q'><w>1</w></q></virksomhetsspesifikkeMetadata>",
    "<opprettetAv>&amp;</opprettetAv>",
    "<opprettetAv> </opprettetAv>",
    "<opprettetDato>2999-01-01T00:00:00</opprettetDato>",
    "<registrering><tittel>in another</tittel></registrering>",
    "<x>noarkit-record</x><x>noarkit-stand-in</x>",
)
BROKEN = (
    "<beskrivelse>\0</beskrivelse>",
    "<beskrivelse>\x01</beskrivelse>",
    "<beskrivelse>\ufffe</beskrivelse>",
    "<beskrivelse>&#0;</beskrivelse>",
    "<beskrivelse>]]></beskrivelse>",
    "<beskrivelse>&nbsp;</beskrivelse>",
    "<beskrivelse a='1' a='2'>x</beskrivelse>",
    "<n:beskrivelse>x</n:beskrivelse>",
    "<1>x</1>",
    "<beskrivelse>",
    "</beskrivelse>",
    "</registrering>",
    "<mappe></registrering></mappe>",
)
ROOTS = (
    f"<arkiv {NAMESPACES}>",
    f"<?xml version='1.0'?>\r\n<arkiv {NAMESPACES}>",
    f'\ufeff<?xml version="1.0" encoding="utf-8" standalone="yes"?><arkiv {NAMESPACES} xmlns:a="urn:x">',
)


def structure(root: str, inside: list[list[str]], between: str) -> bytes:
    """A structure with a record for each of these, and some that are plain before and behind."""
    records: list[str] = [record(100 + n, title=f"<tittel>Plain {n}</tittel>") for n in range(3)]
    records += [
        record(200 + n, document(300 + n), *pieces, title=f"<tittel>Odd {n}</tittel>") + between
        for n, pieces in enumerate(inside)
    ]
    half = len(records) // 2
    folders = (folder(10, *records[:half]), folder(11, *records[half:], after="<saksstatus>x</saksstatus>"))
    return f"{root}<systemID>{uuid(1)}</systemID><tittel>A</tittel>{made()}{series(*folders)}</arkiv>".encode()


def rows(items: Iterable[Item], path: Path) -> dict[str, list[tuple[object, ...]]]:
    """Every row of the catalogue that these items become, and every word with its place."""
    write_catalogue(path, IDENTITY, items)
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE VIRTUAL TABLE temp.word USING fts5vocab(main, words, instance)")
        documents = "item, ref, title, name, variant, version, media_type, puid, size, sha256, locator, fields, custody"
        return {
            "items": db.execute("SELECT * FROM item ORDER BY n").fetchall(),
            "documents": db.execute(f"SELECT {documents}, screened FROM document ORDER BY item, ref").fetchall(),
            "links": db.execute("SELECT * FROM link ORDER BY 1, 2, 3").fetchall(),
            "words": db.execute("SELECT * FROM temp.word ORDER BY 1, 2, 3, 4").fetchall(),
        }


def extract(content: bytes, folder: Path) -> Path:
    place = folder / "extract"
    place.mkdir(exist_ok=True)
    (place / "arkivstruktur.xml").write_bytes(content)
    return place


def findings(place: Path) -> ValidateResult:
    """All that is said of an extract, but how long it took."""
    report = validate_extract(place, Noark5ValidateOptions(workers=0, today="2026-01-01"))
    return replace(report, seconds=0.0, summary={**report.summary, "bytes": ()})


@given(
    st.sampled_from(ROOTS),
    st.lists(st.lists(st.sampled_from(ODD), max_size=3), min_size=1, max_size=4),
    st.sampled_from(("", "\r\n", *ODD)),
    st.sampled_from((1, 700, 50_000_000)),
)
@example(ROOTS[0], [[], []], "<beskrivelse>among records</beskrivelse>", 1)
@example(ROOTS[0], [[]], "<skjermEInnsyn>true</skjermEInnsyn>", 1)
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_odd_records_become_the_same_rows_however_they_are_read(
    tmp_path: Path, root: str, inside: list[list[str]], between: str, portion_bytes: int
) -> None:
    place = extract(structure(root, inside, between), tmp_path)
    streamed = rows(iter(list(ExtractPlace(place).items(ignore_event))), tmp_path / "stream.db")
    with suppress(CannotCut):  # and is streamed
        assert rows(Cut(place / "arkivstruktur.xml", portion_bytes, None), tmp_path / "cut.db") == streamed


@pytest.mark.parametrize("piece", BROKEN)
@pytest.mark.parametrize("is_between", [True, False])
def test_what_is_not_well_formed_is_so_for_every_reader(piece: str, is_between: bool, tmp_path: Path) -> None:
    content = structure(ROOTS[0], [[] if is_between else [piece], []], piece if is_between else "")
    place = extract(content, tmp_path)
    with pytest.raises(PackageFault):
        list(units(place / "arkivstruktur.xml", lambda _: True))
    for portion_bytes in (1, 50_000_000):
        with pytest.raises((CannotCut, PackageFault)):
            rows(Cut(place / "arkivstruktur.xml", portion_bytes, None), tmp_path / "cut.db")
    rows(ExtractPlace(place).items(ignore_event), tmp_path / "whole.db")
    assert findings(place).codes & {"N006", "N007"}


@pytest.mark.parametrize("piece", ODD)
def test_size_decides_nothing_but_how_many_processes_read(piece: str, tmp_path: Path) -> None:
    place = extract(structure(ROOTS[0], [[piece], [piece]], piece), tmp_path)
    alone, beside = (
        rows(ExtractPlace(place, large_bytes=most).items(ignore_event), tmp_path / f"{most}.db") for most in (2**40, 0)
    )
    assert alone == beside
    alone_items, items_beside = (
        [repr(item) for item in ExtractSource(place, large_bytes=most).records(ignore_event)] for most in (2**40, 0)
    )
    assert alone_items == items_beside


@given(
    st.lists(st.lists(st.sampled_from(ODD), max_size=3), min_size=1, max_size=4),
    st.sampled_from(("", "\r\n", *ODD)),
)
@example([["<beskrivelse></beskrivelse>"]], "")
@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_findings_of_odd_records_are_those_of_every_element_read(
    tmp_path: Path, inside: list[list[str]], between: str
) -> None:
    # a name is looked at before a record with it is taken out, and these are all of the first portion
    content = structure(ROOTS[0], inside, between).replace(b"<opprettetAv>Kari</opprettetAv>", b"")
    taken = findings(extract(content, tmp_path))
    # behind a comment nothing is taken out before it is parsed
    assert taken == findings(extract(content.replace(b"<systemID>", b"<!-- --><systemID>", 1), tmp_path))


@pytest.mark.parametrize("piece", ODD)
def test_a_report_names_units_as_the_catalogue_does(piece: str, tmp_path: Path) -> None:
    place = extract(structure(ROOTS[0], [[piece], [piece]], piece), tmp_path)
    items = rows(ExtractPlace(place).items(ignore_event), tmp_path / "rows.db")["items"]
    named = {
        str(ref): " ".join(str(part) for part in (kind, ident, f"«{MASK if screened else title}»") if part)
        for _, ref, _, kind, title, ident, _, _, _, _, screened, *_ in items
        if "/" not in str(ref)  # of what has no systemID, nothing is told
    }
    assert unit_names(place, named.keys()) == named
