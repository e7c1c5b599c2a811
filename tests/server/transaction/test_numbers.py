"""Years, sequences and identifiers: given out once, kept where the caller chose them."""

from __future__ import annotations

import pytest

from tests.server.transaction.desk import link, save, unlink
from tests.server.transaction.world import World


def test_case_files_are_numbered_within_their_year(world: World) -> None:
    saved = world.desk.run(
        *world.case_file("a", saksaar=1961), *world.case_file("b", saksaar=1961), *world.case_file("c", saksaar=1962)
    )
    numbers = [(saved[key]["fields"]["sakssekvensnummer"], saved[key]["fields"]["mappeIdent"]) for key in "abc"]
    assert numbers == [(1, "1961/1"), (2, "1961/2"), (1, "1962/1")]
    assert world.desk.fields("case", *world.case_file(saksaar="1961"))["mappeIdent"] == "1961/3"


def test_registry_entries_are_numbered_within_their_year_and_their_case(world: World) -> None:
    desk = world.desk
    case = desk.ids(*world.case_file())["case"]
    saved = desk.run(*world.post(case, "a", journalaar=1961), *world.post(case, "b", journalaar=1961))
    names = ("journalsekvensnummer", "registreringsIdent", "journalpostnummer")
    assert [saved["a"]["fields"][name] for name in names] == [1, "1961/1", 1]
    assert [saved["b"]["fields"][name] for name in names] == [2, "1961/2", 2]
    later = desk.fields("c", *world.post(case, "c", journalaar=1961))
    assert [later[name] for name in names] == [3, "1961/3", 3]
    elsewhere = desk.fields("d", *world.case_file(), *world.post("case", "d", journalaar=1961))
    assert [elsewhere[name] for name in names] == [4, "1961/4", 1]


def test_a_chosen_number_is_kept_and_the_sequence_moves_ahead_of_it(world: World) -> None:
    desk = world.desk
    saved = desk.run(
        *world.case_file("free", saksaar=1970),
        *world.case_file("chosen", saksaar=1970, sakssekvensnummer=40),
    )
    assert saved["chosen"]["fields"]["mappeIdent"] == "1970/40"
    assert saved["free"]["fields"]["mappeIdent"] == "1970/41"
    assert desk.fields("case", *world.case_file(saksaar=1970, sakssekvensnummer=7))["mappeIdent"] == "1970/7"
    assert desk.fields("case", *world.case_file(saksaar=1970))["mappeIdent"] == "1970/42"


def test_a_chosen_identifier_is_kept(world: World) -> None:
    desk = world.desk
    saved = desk.run(
        *world.folder(mappeIdent="M-1"),
        *world.record("folder", registreringsIdent="R-1"),
        *world.case_file(mappeIdent="S-1"),
    )
    assert saved["folder"]["fields"]["mappeIdent"] == "M-1"
    assert saved["record"]["fields"]["registreringsIdent"] == "R-1"
    assert saved["case"]["fields"]["mappeIdent"] == "S-1"
    assert isinstance(saved["case"]["fields"]["sakssekvensnummer"], int)


def test_no_two_folders_or_records_share_an_identifier(world: World) -> None:
    desk = world.desk
    saved = desk.run(
        *world.folder("a"),
        *world.case_file("b"),
        *world.folder("c"),
        *world.record("a", "d"),
        *world.post("b", "e"),
        *world.record("a", "f"),
    )
    folders = [saved[key]["fields"]["mappeIdent"] for key in "abc"]
    records = [saved[key]["fields"]["registreringsIdent"] for key in "def"]
    assert len({*folders}) == 3
    assert len({*records}) == 3
    assert all(str(ident).startswith("2024/") for ident in (*folders, *records))


@pytest.mark.parametrize("chosen", [None, 5])
def test_documents_and_versions_are_numbered_within_what_holds_them(world: World, chosen: int | None) -> None:
    desk = world.desk
    file_id = desk.upload()
    ids = desk.ids(*world.folder(), *world.record("folder"), *world.document("record", dokumentnummer=chosen))
    first = chosen or 1
    assert desk.fields("document", *world.document(ids["record"]))["dokumentnummer"] == first + 1
    version = desk.run(
        *world.version(ids["document"], file_id, "x"),
        *world.version(ids["document"], file_id, "y", versjonsnummer=chosen),
    )
    numbers = sorted(int(str(told["fields"]["versjonsnummer"])) for told in version.values())
    assert numbers == ([1, 2] if chosen is None else [5, 6])
    assert desk.fields("z", *world.version(ids["document"], file_id, "z"))["versjonsnummer"] == numbers[-1] + 1


def test_a_refused_transaction_gives_its_numbers_back(world: World) -> None:
    desk = world.desk
    desk.refused(*world.case_file(saksaar=1980), save("Arkiv", "x"))
    assert desk.fields("case", *world.case_file(saksaar=1980))["mappeIdent"] == "1980/1"


def test_a_moved_entry_keeps_its_numbers(world: World) -> None:
    desk = world.desk
    ids = desk.ids(*world.case_file("a"), *world.case_file("b"), *world.post("a"))
    before = desk.fields(ids["post"], save("Journalpost", ids["post"]))
    after = desk.fields(
        ids["post"],
        unlink("Journalpost", ids["post"], "refMappe", ids["a"]),
        link("Journalpost", ids["post"], "refMappe", ids["b"]),
        save("Journalpost", ids["post"]),
    )
    assert after == before


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("saksaar", 0),
        ("saksaar", 10000),
        ("sakssekvensnummer", -1),
        ("sakssekvensnummer", 2**63 - 1),
        ("sakssekvensnummer", 10**12 + 1),
    ],
)
def test_a_number_that_leaves_its_sequence_no_room_is_refused(world: World, name: str, value: int) -> None:
    refusal = world.desk.refused(*world.case_file("case", **{name: value}))
    assert (refusal.status, f"field {name} takes" in refusal.description) == (400, True)
