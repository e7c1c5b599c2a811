"""Whatever transactions are accepted, in whatever order: the archive is sound, and refusals leave no trace."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from noarkit.model import ObjectType, Reference, metamodel
from noarkit.server.areas import open_service
from noarkit.server.schema import schema, table_name
from noarkit.server.wire import Refusal
from tests.server.transaction.desk import Action, Desk, delete, link, save, unlink
from tests.server.transaction.world import UNIT, World, klasse, make_world

FIELDS: dict[str, dict[str, object]] = {
    "Mappe": {"tittel": "m"},
    "Saksmappe": {"tittel": "s", "administrativEnhet": UNIT},
    "Basisregistrering": {"tittel": "b"},
    "Journalpost": {"tittel": "j", "journalposttype": "I"},
    "Korrespondansepart": {"korrespondanseparttype": "EA", "korrespondansepartNavn": "n"},
    "Dokument": {"tittel": "d", "tilknyttetRegistreringSom": "H"},
    "Noekkelord": {"verdi": "v"},
    "EksternId": {"eksterntSystem": "s", "eksternID": "1"},
    "Klasse": {"klasseIdent": "k", "tittel": "k"},
}
REFS = [
    ("Mappe", "refArkivdel"),
    ("Mappe", "refForelderMappe"),
    ("Mappe", "refRegistrering"),
    ("Mappe", "refPrimaerKlasse"),
    ("Mappe", "refKryssreferanseTilMappe"),
    ("Saksmappe", "refArkivdel"),
    ("Saksmappe", "refPrimaerKlasse"),
    ("Saksmappe", "refSekundaerKlasse"),
    ("Basisregistrering", "refMappe"),
    ("Basisregistrering", "refArkivdel"),
    ("Basisregistrering", "refPrimaerKlasse"),
    ("Journalpost", "refMappe"),
    ("Journalpost", "refKorrespondansepart"),
    ("Korrespondansepart", "refRegistrering"),
    ("Dokument", "refRegistrering"),
    ("Noekkelord", "refMappe"),
    ("EksternId", "refDokument"),
    ("Klasse", "refForelderKlasse"),
    ("Klasse", "refKlassifikasjonssystem"),
]
# A move of the game: what to do, with which type or reference, to which of the objects there are.
MOVES = st.lists(
    st.tuples(
        st.sampled_from(["make", "make", "link", "link", "unlink", "move", "delete"]),
        st.integers(0, 999),
        st.integers(0, 999),
        st.integers(0, 999),
    ),
    min_size=1,
    max_size=8,
)


@pytest.fixture(scope="module")
def playground(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """An archive of its own, so that the audit sees only what happened here."""
    folder: Path = tmp_path_factory.mktemp("soundness")
    service = open_service(folder)
    yield make_world(Desk(service))
    service.close()


@settings(max_examples=250, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(MOVES, min_size=1, max_size=4))
def test_every_accepted_transaction_leaves_a_sound_archive(
    playground: World, transactions: list[list[tuple[str, int, int, int]]]
) -> None:
    desk = playground.desk
    for moves in transactions:
        before = desk.trace()
        try:
            desk.answer(*actions_of(playground, moves))
        except Refusal as refusal:
            assert refusal.status in (400, 404)
            assert desk.trace() == before
    assert list(faults(desk)) == []


def actions_of(world: World, moves: list[tuple[str, int, int, int]]) -> list[Action]:
    """Actions that are well formed and often possible: what is made is also put somewhere."""
    known = objects(world.desk)
    actions: list[Action] = []
    for number, (verb, which, one, other) in enumerate(moves):
        if verb == "make":
            actions += made(world, list(FIELDS)[which % len(FIELDS)], f"t{number}", known, one)
            continue
        type_name, ref = REFS[which % len(REFS)]
        sources, targets = known.get(type_name, []), found(known, type_name, ref)
        if not sources or not targets:
            continue
        source, target = sources[one % len(sources)], targets[other % len(targets)]
        if verb == "delete":
            actions.append(delete(type_name, source))
        elif verb == "unlink":
            actions.append(unlink(type_name, source, ref, target))
        elif verb == "move":
            held = (
                world.desk.rows(f'SELECT "{ref}" FROM {table_name(metamodel().family(type_name))} WHERE id = ?', source)
                if (ref in schema().tables[metamodel().family(type_name)].columns)
                else []
            )
            actions += [unlink(type_name, source, ref, str(row[0])) for row in held if row[0] is not None]
            actions.append(link(type_name, source, ref, target))
        else:
            actions.append(link(type_name, source, ref, target))
    return actions


def made(world: World, type_name: str, key: str, known: dict[str, list[str]], pick: int) -> list[Action]:
    """A new object with what it needs, below something that is there."""

    def one(*names: str) -> str:
        choices = [object_id for name in names for object_id in known.get(name, [])] or ["0"]
        return choices[pick % len(choices)]

    if type_name == "Saksmappe":
        return world.case_file(key)
    if type_name == "Mappe":
        return world.folder(key)
    if type_name == "Journalpost":
        return world.post(one("Saksmappe"), key)
    if type_name == "Klasse":
        return klasse(key, world.system, key)
    above = {
        "Basisregistrering": ("refMappe", one("Mappe", "Saksmappe")),
        "Korrespondansepart": ("refRegistrering", one("Journalpost", "Basisregistrering")),
        "Dokument": ("refRegistrering", one("Journalpost", "Basisregistrering")),
        "Noekkelord": ("refMappe", one("Mappe", "Saksmappe")),
        "EksternId": ("refDokument", one("Dokument")),
    }[type_name]
    return [save(type_name, key, None, **FIELDS[type_name]), link(type_name, key, *above)]


def objects(desk: Desk) -> dict[str, list[str]]:
    """The ids of what there is, by type."""
    known: dict[str, list[str]] = {}
    for family in schema().tables:
        for object_id, type_name in desk.rows(f"SELECT id, type FROM {table_name(family)} ORDER BY id"):
            known.setdefault(str(type_name), []).append(str(object_id))
    return known


def found(known: dict[str, list[str]], type_name: str, ref: str) -> list[str]:
    """What a reference may lead to."""
    targets = metamodel().types[type_name].references[ref].targets
    return [
        object_id
        for name in targets
        for concrete in metamodel().concrete(name)
        for object_id in known.get(concrete, [])
    ]


def faults(desk: Desk) -> Iterator[str]:
    """What is wrong with an archive, by the model's own rules, told by plain queries."""
    for object_type in metamodel().types.values():
        table = table_name(object_type.family)
        columns = list(schema().tables[object_type.family].columns)
        for row in desk.rows(f"SELECT {', '.join(columns_of(columns))} FROM {table} WHERE type = ?", object_type.name):
            values = dict(zip(columns, row, strict=True))
            yield from field_faults(object_type, values)
            for reference in object_type.references.values():
                yield from reference_faults(desk, object_type, reference, values)
            yield from rule_faults(desk, object_type, values)


def columns_of(names: list[str]) -> list[str]:
    """Names as SQL has them."""
    return [f'"{name}"' for name in names]


def field_faults(object_type: ObjectType, values: dict[str, object]) -> Iterator[str]:
    """Mandatory fields without a value."""
    for field in object_type.fields.values():
        if field.need == "must" and values[field.name] in (None, ""):
            yield f"{object_type.name} {values['id']} lacks {field.name}"


def reference_faults(
    desk: Desk, object_type: ObjectType, reference: Reference, values: dict[str, object]
) -> Iterator[str]:
    """Links that lead nowhere, to the wrong type, or are missing."""
    link = schema().links[object_type.name, reference.name]
    where = f"{object_type.name} {values['id']}"
    if link.kind == "column" and values[link.column] is not None:
        other = desk.rows(f"SELECT type FROM {table_name(link.other_family)} WHERE id = ?", values[link.column])
        if not other:
            yield f"{where} {reference.name} leads nowhere"
    if reference.need == "must" and not linked(desk, object_type, reference, values):
        yield f"{where} lacks {reference.name}"
    if reference.name == "refPrimaerKlasse" and values.get("refPrimaerKlasse") is not None:
        children = desk.rows("SELECT 1 FROM o_klasse WHERE refForelderKlasse = ?", values["refPrimaerKlasse"])
        if children:
            yield f"{where} uses a class that has children"


def linked(desk: Desk, object_type: ObjectType, reference: Reference, values: dict[str, object]) -> bool:
    """True where an object has anything by a reference."""
    link = schema().links[object_type.name, reference.name]
    if link.kind == "column":
        return values[link.column] is not None
    if link.kind == "pairs":
        return bool(desk.rows(f"SELECT 1 FROM {link.pair_table} WHERE {link.own_column} = ?", values["id"]))
    return bool(desk.rows(f'SELECT 1 FROM {table_name(link.other_family)} WHERE "{link.column}" = ?', values["id"]))


def rule_faults(desk: Desk, object_type: ObjectType, values: dict[str, object]) -> Iterator[str]:
    """Rules over several links that do not hold."""
    for rule in object_type.rules:
        held = [
            name
            for name in rule.names
            if (
                linked(desk, object_type, object_type.references[name], values)
                if name in object_type.references
                else values[name] is not None
            )
        ]
        if (rule.kind == "exactly-one" and len(held) != 1) or (rule.kind != "exactly-one" and len(held) > 1):
            yield f"{object_type.name} {values['id']} breaks {rule.kind}: {held}"


def test_the_audit_sees_what_is_wrong(playground: World) -> None:
    desk = playground.desk
    assert list(faults(desk)) == []
    ids = desk.ids(*playground.folder(), *playground.record("folder"))
    desk.execute("UPDATE o_abstraktregistrering SET refMappe = NULL, tittel = NULL WHERE id = ?", ids["record"])
    told = list(faults(desk))
    assert len(told) == 2
    desk.execute("DELETE FROM o_abstraktregistrering WHERE id = ?", ids["record"])
