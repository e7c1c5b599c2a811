"""What an original loses on its way through the archive is named, value by value: an account by two XML files alone."""

from __future__ import annotations

import re
import sqlite3
from collections import Counter
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from lxml import etree

from noarkit.catalogue.screening import PlanDisclosures
from noarkit.errors import LossNotAccepted
from noarkit.events import ignore_event
from noarkit.forms.noark5.source import EXTERNAL_SYSTEM, find_extract
from noarkit.graph.losses import losses
from noarkit.loading.folder import RunFolder
from noarkit.loading.plan import PlanSpec, make_plan
from noarkit.reports.plan_page import lost_facts
from tests.roundtrip.circle import NOW, archive_in, circle_of_package, extract_to, files_of, ingest, plan_extract

EDITIONS = ("5.0", "5.0-latest-lf", "5.0-pre2023-as-bundled-in-arkade-2.12.4")
SAMPLES = ("synth-full-5.0", "synth-full-3.1", "arkade-Version5_5", "documaster-valid-case-archive/extraction")
_TYPE = "{http://www.w3.org/2001/XMLSchema-instance}type"
# a package lays its files out its own way, and proves them by its own checksum
_OF_THE_FILE = ("dokumentobjekt/referanseDokumentfil",)
# closing what was loaded is the wish of the plan, and its page says so
_CLOSED = ("registrering/journalstatus", "dokumentbeskrivelse/dokumentstatus", "mappe/saksstatus")
# a classification system that several series have stands once in the archive, and each copy of it gets an id of its own
_OF_A_COPY = ("klasse/systemID", "klassifikasjonssystem/systemID")
# a package whose systemIDs are no UUIDs gets others, and what refers to them fits no element of 5.0
WITHOUT_UUIDS = ("arkade-Version5_5",)
_NOT_UUIDS = (
    *(f"{name}/systemID" for name in ("arkiv", "arkivdel", "mappe", "registrering", "dokumentbeskrivelse")),
    *_OF_A_COPY,
    *(f"{name}/referanseArkivdel" for name in ("mappe", "registrering", "dokumentbeskrivelse")),
    "kryssreferanse/referanseTilKlasse",
    "kryssreferanse/referanseTilMappe",
)
# the package as a whole: the system that it comes from, and its period
_OF_THE_WHOLE = ("arkivuttrekk/systemName", "archivalPeriod/startDate", "archivalPeriod/endDate")
# the elements that version 5.0 has other names for than 3.1 and 4.0
_NAMES = {
    "sakspart": "part",
    "sakspartID": "partID",
    "sakspartNavn": "partNavn",
    "sakspartRolle": "partRolle",
    "presedensstatus": "presedensStatus",
}
_TIME = re.compile(r"\d{4}-\d\d-\d\dT.*")
_ZONE = ZoneInfo("Europe/Oslo")
Values = Counter[tuple[str, str]]


def values_of(structure: Path) -> Values:
    """Every value of an arkivstruktur.xml, by the names of its element and the one around it."""
    found: Values = Counter()
    for element in etree.parse(structure).getroot().iter("*"):
        around = element.getparent()
        path = _name(element) if around is None else f"{_name(around)}/{_name(element)}"
        kind = element.get(_TYPE, "").rpartition(":")[2]
        if kind and kind != "basisregistrering":  # in 5.0 that is a registrering without a type
            found[f"{_name(element)}/xsi:type", kind] += 1
        if len(element) == 0 and element.text and (text := element.text.strip()):
            path = path.replace("gradering/gradering", "gradering/grad")
            found[path, _same(text)] += 1
    return Counter({key: 1 if key[0] in _OF_A_COPY else count for key, count in found.items()})


def _name(element: etree._Element) -> str:
    name = etree.QName(element).localname
    return _NAMES.get(name, name)


def _same(text: str) -> str:
    """A moment is the same with an offset and without, a number with zeros before it and without."""
    if not _TIME.fullmatch(text):
        return text.lstrip("0") if text.isdigit() else text
    moment = datetime.fromisoformat(text)
    return (moment if moment.tzinfo else moment.replace(tzinfo=_ZONE)).astimezone(UTC).isoformat()


def named(run: Path) -> Values:
    """The values that the run says the archive has no place for, in the same form."""
    with closing(sqlite3.connect(run / "graph.db")) as db:
        return Counter((_path(one.element), _same(one.value)) for one in losses(db))


def _path(element: str) -> str:
    return "/".join(_NAMES.get(name, name) for name in element.split("/")[-2:]).replace(
        "gradering/gradering", "gradering/grad"
    )


def package_of(name: str, reference: Path) -> Path:
    """One of the samples."""
    return reference.parent / "samples" / "noark5" / name


@pytest.mark.parametrize("name", SAMPLES)
def test_every_value_that_is_left_out_is_named(name: str, reference: Path, tmp_path: Path) -> None:
    original = package_of(name, reference)
    with archive_in(tmp_path / "archive") as archive:
        way = ingest(original, tmp_path / "run", archive, carry=False)
        extract_to(archive, tmp_path / "extract", include_open=True)
    assert way.numbers.archived == way.numbers.read
    lost = values_of(original / "arkivstruktur.xml") - values_of(tmp_path / "extract" / "arkivstruktur.xml")
    silent = {
        key: count for key, count in (lost - named(tmp_path / "run")).items() if key[0] not in (*_OF_THE_FILE, *_CLOSED)
    }
    assert silent == {}


@pytest.mark.parametrize("name", SAMPLES)
def test_what_the_archive_has_no_field_for_comes_out_in_its_own_element(
    name: str, reference: Path, tmp_path: Path
) -> None:
    original = package_of(name, reference)
    circle = circle_of_package(original, tmp_path)
    lost = values_of(original / "arkivstruktur.xml") - values_of(circle.first / "arkivstruktur.xml")
    excused = (*_OF_THE_FILE, *_CLOSED, *(_NOT_UUIDS if name in WITHOUT_UUIDS else ()))
    assert {path for path, _ in lost} - set(excused) == set()
    left = {path for path, _ in named(tmp_path / "run-a") if " in " not in path}  # others stand elsewhere
    assert left - set(excused) == set(_OF_THE_WHOLE)
    for edition in EDITIONS:
        schema = etree.XMLSchema(etree.parse(reference / "xsd" / "noark5" / edition / "arkivstruktur.xsd"))
        assert schema.validate(etree.parse(circle.first / "arkivstruktur.xml")), schema.error_log
    first, second = files_of(circle.first), files_of(circle.second)
    assert {name for name in {*first, *second} if first.get(name) != second.get(name)} == set()


def test_what_is_carried_is_counted_and_is_not_lost(reference: Path, tmp_path: Path) -> None:
    plan_extract(package_of("synth-full-5.0", reference), tmp_path / "run")
    with closing(sqlite3.connect(tmp_path / "run" / "graph.db")) as db:
        facts = lost_facts(db, PlanDisclosures(db))
    told = facts["carried"]
    assert isinstance(told, dict)
    assert told["fields"] > 50
    assert told["values"] > 6000
    elements = facts["elements"]
    assert isinstance(elements, list)
    assert sum(" in " not in one["element"] for one in elements) == len(_OF_THE_WHOLE)  # others stand elsewhere


def test_a_grade_is_carried_only_where_somebody_accepted_that_it_protects_nothing(
    reference: Path, tmp_path: Path
) -> None:
    source = find_extract(str(package_of("synth-full-5.0", reference)))
    assert source is not None
    what = PlanSpec(source, source.mapper(), source.default_recipe(), EXTERNAL_SYSTEM)
    with pytest.raises(LossNotAccepted, match="gradering"):
        make_plan(what, RunFolder(tmp_path / "run"), ignore_event, lambda: NOW)
