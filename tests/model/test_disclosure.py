"""What may be shown has one owner, and one answer wherever a thing stands."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing

import pytest

from noarkit.catalogue.places.archive_tree import ArchiveTree
from noarkit.catalogue.places.noark_objects import heading
from noarkit.catalogue.places.unit_items import LookUps, no_custody, unit_item
from noarkit.catalogue.port import Json
from noarkit.catalogue.screening import BundleDisclosures, PlanDisclosures
from noarkit.graph.entity import Content
from noarkit.model.disclosure import OPEN, Disclosure, of_document, of_fields, of_whole, screens
from noarkit.recipes import read_recipe
from noarkit.recipes.screening import LeftOutScreening
from tests.package_code import MODULES, PACKAGE, text_of

# what decides nothing of what is shown: rules and readers of forms, the service, services, recipes, the wire; and what
# writes the field itself, or orders and translates fields
_APART = (
    *("sources/files/register/", "sources/column_meanings.py"),
    *("sources/database/proposal.py", "sources/database/case_fields.py"),  # these four propose recipes
    *("model", "server", "services", "archive", "recipes", "words", "manual", "loading", "forms/noark5/rules"),
    *("forms/noark5/read", "forms/noark5/write", "forms/comparison/editions.py", "reading_room/cards.py"),
    "extraction/run.py",
)
GRADE = {
    "noarkit-original": {"noarkit-elements": {"values": ["<o><gradering><gradering>F</gradering></gradering></o>"]}}
}
CASES: Mapping[str, tuple[dict[str, Json], bool]] = {
    "code": ({"skjerming": "UO"}, True),
    "element": ({"skjerming": {"tilgangsrestriksjon": "UO"}}, True),
    "grade": ({"gradering": {"gradering": "Fortrolig"}}, True),
    "carried grade": ({"virksomhetsspesifikkeMetadata": GRADE}, True),  # type: ignore[dict-item]  # plain JSON
    "hidden": ({"skjermEInnsyn": True}, True),
    "hidden in XML": ({"skjermEInnsyn": " true "}, True),
    "hidden as a number": ({"skjermEInnsyn": "1"}, True),
    "no code": ({"skjerming": None}, False),
    "empty code": ({"skjerming": ""}, False),
    "empty element": ({"gradering": ""}, False),
    "empty group": ({"gradering": {"gradering": " "}}, False),
    "not hidden": ({"skjermEInnsyn": "false"}, False),
    "nothing": ({}, False),
}


def _no_file(path: str, sha256: str | None, algorithm: str, checksum: str) -> Content:
    raise AssertionError(path)


@pytest.mark.parametrize("case", CASES)
def test_an_object_is_screened_alike_in_a_run_an_archive_an_extract_and_a_query(case: str) -> None:
    fields, is_screened = CASES[case]
    assert of_fields(fields).is_screened is is_screened
    assert heading(fields).is_screened is is_screened
    assert (
        unit_item("mappe", ("a", None, ""), dict(fields), LookUps(_no_file, custody=no_custody)).screened is is_screened
    )
    with closing(sqlite3.connect(":memory:")) as db:
        db.execute("CREATE TABLE entity (fields TEXT)")
        db.execute("INSERT INTO entity VALUES (?)", (json.dumps(fields),))
        query = f"SELECT {screens('e')} FROM entity e"  # our own words
        stored = "skjermEInnsyn" in fields and fields["skjermEInnsyn"] == " true "  # a plan holds booleans
        if case not in ("empty group",) and not stored:
            assert bool(db.execute(query).fetchone()[0]) is is_screened
    assert of_fields({}, of_fields(fields)) == (Disclosure(True, "above") if is_screened else OPEN)
    whole = of_whole(OPEN, [{"korrespondansepart": [fields]}])
    assert (whole.is_screened, whole.hides_key) == (False, is_screened)
    assert of_document({"dokumentbeskrivelse": fields}).is_screened is is_screened


RECIPE = """
[target]
external_system = "x"
{personal}
[[map]]
for = "letter"
type = "Basisregistrering"
{screening}
fields = {{ tittel = "x" }}
[[map]]
for = "map"
type = "Basisregistrering"
fields = {{ tittel = "x" }}
"""


@pytest.mark.parametrize(
    ("screening", "personal", "line", "expected"),
    [
        ('screening = "UO"', "", 0, True),
        ('screening = "= record.s"', "", 0, True),
        ('screening = "UO"', "", 9, True),
        ('screening = "UO"', "", 13, False),
        ('screening = "= none"', "", 0, False),
        ("", "", 0, False),
        ('documents = [ { screening = "UO" } ]', "", 0, True),
        ("", '[personal_data]\nidentity_numbers = "screen"\nscreening = "UO"', 0, True),
        ("", '[defaults.Basisregistrering]\nskjerming = "UO"', 0, True),
        ('screening = "UO"', '[personal_data]\nleft_out = "show"', 0, False),
    ],
)
def test_a_record_that_nobody_mapped_is_as_the_rule_that_would_have_mapped_it(
    screening: str, personal: str, line: int, expected: bool
) -> None:
    recipe = read_recipe(RECIPE.format(screening=screening, personal=personal))
    assert not [problem for problem in recipe.problems if not problem.warning]
    assert LeftOutScreening(recipe).may_screen(line) is expected


def test_what_came_without_a_recipe_is_unknown_and_unknown_is_masked() -> None:
    assert LeftOutScreening(None).may_screen()


def test_a_record_that_hides_its_parties_hides_these_alone() -> None:
    bundle = BundleDisclosures(1, OPEN)
    assert bundle.of_entity(1, None, "Journalpost", {"skjermKorrespondanseParterEInnsyn": True}) == OPEN
    assert bundle.of_entity(2, 1, "Korrespondansepart", {}) == Disclosure(True, "above")
    assert bundle.of_entity(3, 1, "Dokument", {}) == OPEN


def test_nobody_else_decides_what_is_screened() -> None:
    deciders = [
        f"{path.relative_to(PACKAGE)}: {line.strip()}"
        for path in MODULES
        if not str(path.relative_to(PACKAGE)).startswith(_APART)
        for line in text_of(path).splitlines()
        if re.search(r"""["'$.](?:skjerming|gradering|skjerm\w*EInnsyn)["']""", line)
    ]
    assert deciders == []


def test_a_series_that_was_graded_where_it_came_from_screens_all_of_it() -> None:
    series, carried = (
        "0f0e8a4c-0000-4000-8000-000000000001",
        '<o><arkivdel systemID="{}"><gradering>x</gradering></arkivdel></o>',
    )
    kept = {
        "virksomhetsspesifikkeMetadata": {"noarkit-original": {"noarkit-above": {"values": [carried.format(series)]}}}
    }
    with closing(sqlite3.connect(":memory:")) as db:
        db.execute("CREATE TABLE meta (name TEXT, value TEXT)")
        db.execute("CREATE TABLE note (code TEXT)")
        db.execute("INSERT INTO note VALUES ('W237')")
        db.execute("CREATE TABLE link (entity INTEGER, name TEXT, other INTEGER)")
        db.execute(
            "CREATE TABLE entity (n INTEGER, key TEXT, parent INTEGER, unit INTEGER, bundle INTEGER, fields TEXT)"
        )
        rows = [(1, "s", None, 0, 0, {"uuid": series}), (2, "first", 1, 2, 2, kept), (3, "later", 1, 3, 3, {})]
        db.executemany("INSERT INTO entity VALUES (?,?,?,?,?,?)", [(*row[:5], json.dumps(row[5])) for row in rows])
        disclosures = PlanDisclosures(db)
        assert [disclosures.of_unit(n).because for n in (1, 2, 3)] == ["graded", "graded", "above"]


def test_a_series_that_was_graded_where_it_came_from_is_screened_in_an_archive_too() -> None:
    series = "0f0e8a4c-0000-4000-8000-000000000001"
    carried = f'<o><arkivdel systemID="{series}"><gradering>x</gradering></arkivdel></o>'
    kept = {"virksomhetsspesifikkeMetadata": {"noarkit-original": {"noarkit-above": {"values": [carried]}}}}
    objects = [
        ("Arkivdel", "1", "Arkivdel", series, None, None, "1", {"f": {"tittel": "Beredskap", "uuid": series}, "l": {}}),
        ("AbstraktMappe", "2", "Mappe", "m", "Arkivdel", "1", "2", {"f": {"tittel": "Plan", **kept}, "l": {}}),
        ("Arkivdel", "3", "Arkivdel", "o", None, None, "3", {"f": {"tittel": "Vei"}, "l": {}}),
    ]
    assert _screened_in_archive(objects) == {"Beredskap": True, "Plan": True, "Vei": False}


def test_a_unit_whose_class_is_screened_is_so_too_though_the_class_lies_in_another_series() -> None:
    of_system = {"refPrimaerKlassifikasjonssystem": "5"}
    objects: list[tuple[object, ...]] = [
        ("Arkivdel", "1", "Arkivdel", "a", None, None, "1", {"f": {"tittel": "Barn"}, "l": of_system}),
        ("Arkivdel", "2", "Arkivdel", "b", None, None, "2", {"f": {"tittel": "Andre"}, "l": {}}),
        ("Klassifikasjonssystem", "5", "Klassifikasjonssystem", "s", None, None, "3", {"f": {"tittel": "S"}, "l": {}}),
    ]
    for n, (title, fields) in enumerate((("Tiltak", {"skjerming": "UO"}), ("Vei", {})), 6):
        klass = {"f": {"tittel": title, **fields}, "l": {"refKlassifikasjonssystem": "5"}}
        folder = {"f": {"tittel": f"Om {title}"}, "l": {"refPrimaerKlasse": str(n)}}
        objects += [
            ("Klasse", str(n), "Klasse", f"k{n}", "Klassifikasjonssystem", "5", str(n), klass),
            ("AbstraktMappe", f"1{n}", "Mappe", f"m{n}", "Arkivdel", "2", str(n), folder),
        ]
    screened = _screened_in_archive(objects)
    assert {title: screened[title] for title in ("Om Tiltak", "Om Vei")} == {"Om Tiltak": True, "Om Vei": False}


def _screened_in_archive(objects: Sequence[tuple[object, ...]]) -> dict[str, bool]:
    """Which items of an archive with these objects are screened, by title."""
    columns = ("family", "id", "type", "uuid", "owner_family", "owner", "sort", "data")
    with closing(sqlite3.connect(":memory:")) as db:
        db.execute(f"CREATE TABLE object ({', '.join(columns)})")
        db.execute("CREATE TABLE link (family, id, name, target)")
        db.execute("CREATE TABLE change (uuid, at, actor, field, before, after)")
        db.executemany(
            "INSERT INTO object VALUES (?,?,?,?,?,?,?,?)", [(*row[:7], json.dumps(row[7])) for row in objects]
        )
        return {item.title: item.screened for item in ArchiveTree(db, {}).items()}
