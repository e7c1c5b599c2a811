"""What is wrong with an entity, or between entities, is found before anything is sent."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from noarkit.graph.checks import EntityChecks, structure_faults
from noarkit.graph.entity import CreationMode, Entity, FieldValue, MappedRecord
from tests.graph.growing import document, folder, grown, record, spine, version, whole

CHECK = EntityChecks()


def wrong(entity: Entity, checks: EntityChecks = CHECK) -> tuple[str, object] | None:
    note = checks(entity)
    return None if note is None else (note.code, note.data.get("why"))


def with_field(name: str, value: FieldValue) -> Entity:
    good = record("a")
    return replace(good, fields={**good.fields, name: value})


@pytest.mark.parametrize("entity", [*spine(), folder("f"), record("a"), document("d", "a"), version("v", "d")])
def test_good_entities_pass(entity: Entity) -> None:
    assert wrong(entity) is None


@pytest.mark.parametrize(
    ("entity", "expected"),
    [
        (Entity("x", "Nothing", {}), ("F224", "unknown-type")),
        (Entity("x", "Mappe", {}), ("F224", "missing")),
        (with_field("tittel", ""), ("F224", "empty")),
        (with_field("tittel", None), ("F224", "empty")),
        (with_field("tittel", 7), ("F224", "kind")),
        (with_field("tittell", "x"), ("F224", "unknown-field")),
        (with_field("dokumentetsDato", "2024-1-1"), ("F224", "kind")),
        (with_field("opprettetDato", "2024-01-01"), ("F224", "kind")),
        (with_field("virksomhetsspesifikkeMetadata", "x"), ("F224", "kind")),
        (replace(document("d", "a"), fields={"tittel": "d", "tilknyttetRegistreringSom": "Z"}), ("F225", "code")),
        (record("a", links=(("refNothing", "b"),)), ("F228", "unknown-link")),
    ],
)
def test_each_fault_of_an_entity_has_its_code(entity: Entity, expected: tuple[str, str]) -> None:
    assert wrong(entity) == expected


def test_a_target_that_is_only_to_be_found_needs_no_more_than_its_name() -> None:
    assert wrong(Entity("x", "Arkivskaper", {"arkivskaperIdent": "1"}, target=CreationMode.FIND)) is None
    assert wrong(Entity("x", "Arkivskaper", {"arkivskaperIdent": "1"})) == ("F224", "missing")


def test_the_archives_own_code_lists_rule_where_they_are_known() -> None:
    checks = EntityChecks({"dokumenttype": frozenset({"LETTER"})})
    good = replace(
        document("d", "a"), fields={"tittel": "d", "tilknyttetRegistreringSom": "H", "dokumenttype": "LETTER"}
    )
    assert wrong(good, checks) is None
    assert wrong(replace(good, fields={**good.fields, "dokumenttype": "OTHER"}), checks) == ("F225", "code")
    assert wrong(replace(good, fields={**good.fields, "dokumenttype": "OTHER"})) is None


def case(key: str, links: tuple[tuple[str, str], ...] = ()) -> Entity:
    fields = {"tittel": "t", "administrativEnhet": "x", "saksansvarlig": "x"}
    return Entity(key, "Saksmappe", fields, "del", "refArkivdel", links, recipe_line=3)


def klass(key: str, parent: str, link: str) -> Entity:
    return Entity(key, "Klasse", {"klasseIdent": key, "tittel": key}, parent, link)


SYSTEM_ENTITY = Entity("ks", "Klassifikasjonssystem", {"tittel": "k"})
PRIMARY = (("refPrimaerKlasse", "k1"),)
BOTH = (folder("f"), folder("sub", parent="f"), record("a", "f"))
IN_USE = (
    SYSTEM_ENTITY,
    klass("k1", "ks", "refKlassifikasjonssystem"),
    klass("k2", "k1", "refForelderKlasse"),
    record("a", links=PRIMARY),
)
POST = Entity("a", "Journalpost", {"tittel": "t", "journalposttype": "I", "journalstatus": "J"}, "del", "refArkivdel")
MEETING = Entity("a", "Moetemappe", {"tittel": "t", "moetenummer": "1", "utvalg": "x"}, "del", "refArkivdel")


@pytest.mark.parametrize(
    ("entities", "code", "why", "blamed"),
    [
        (BOTH, "F226", "folders-and-records", "Mappe"),
        ((POST,), "F226", "no-party", "Journalpost"),
        ((MEETING,), "F226", "no-participant", "Moetemappe"),
        ((Entity("other", "Arkiv", {"tittel": "x"}), record("a")), "F226", "no-creator", "Arkiv"),
        ((case("a"),), "F227", "no-class", "Saksmappe"),
        (IN_USE, "F227", "class-not-leaf", "Klasse"),
        ((record("a", links=PRIMARY),), "F228", "refPrimaerKlasse", "Basisregistrering"),
    ],
)
def test_each_fault_between_entities_has_its_code(
    entities: tuple[Entity, ...], code: str, why: str, blamed: str, tmp_path: Path
) -> None:
    store = grown(tmp_path / "graph.db", [MappedRecord("a", entities)])
    assert store.count("record", "state = 'mapped'") == 1, store.db.execute("SELECT * FROM record").fetchall()
    faults = [(fault.code, fault.reason, fault.type) for fault in structure_faults(store)]
    store.close()
    assert faults == [(code, why, blamed)]


def test_a_good_tree_has_no_faults(tmp_path: Path) -> None:
    store = grown(tmp_path / "graph.db", [whole("a", folder("f")), whole("b")])
    assert list(structure_faults(store)) == []
    store.close()


def test_faults_name_the_record_and_the_line_of_the_recipe(tmp_path: Path) -> None:
    store = grown(tmp_path / "graph.db", [whole("x"), MappedRecord("a", (record("a", links=PRIMARY),))])
    (fault,) = structure_faults(store)
    assert (fault.record, fault.line, store.entity(fault.entity).key) == (2, 7, "a")
    store.close()
