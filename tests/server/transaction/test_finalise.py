"""Finalising by status or date, opening again, and who may change what is closed."""

from __future__ import annotations

import pytest

from tests.server.transaction.desk import delete, link, save, unlink
from tests.server.transaction.world import World

NOW = "2024-03-05T12:00:00.000Z"
CLOSED = {"avsluttetDato": NOW, "avsluttetAv": "name of integration", "avsluttetAvBrukerIdent": "integration"}
FINAL = {
    "Arkiv": ("arkivstatus", "A", "O"),
    "Arkivdel": ("arkivdelstatus", "P", "A"),
    "Saksmappe": ("saksstatus", "A", "B"),
    "Journalpost": ("journalstatus", "A", "J"),
    "Dokument": ("dokumentstatus", "F", "B"),
}


@pytest.fixture
def open_ones(world: World) -> dict[str, str]:
    """The id of an open object of each type that has a status, or closes by a date."""
    series = [save("Arkivdel", "s", tittel="s"), link("Arkivdel", "s", "refArkiv", world.arkiv)]
    ids = world.desk.ids(
        *series,
        *world.case_file(),
        *world.post("case"),
        *world.document("post"),
        *world.folder(),
        *world.record("folder"),
    )
    names = {"Arkivdel": "s", "Saksmappe": "case", "Journalpost": "post", "Dokument": "document"}
    more = {"Mappe": ids["folder"], "Basisregistrering": ids["record"], "Arkiv": world.arkiv, "Klasse": world.leaf}
    return {**{name: ids[key] for name, key in names.items()}, **more}


@pytest.mark.parametrize("type_name", FINAL)
def test_a_final_status_says_when_and_by_whom(world: World, open_ones: dict[str, str], type_name: str) -> None:
    desk, key = world.desk, open_ones[type_name]
    name, final, opened = FINAL[type_name]
    closed = desk.fields(key, save(type_name, key, None, **{name: final}))
    assert {**closed, **CLOSED, name: final} == closed
    again = desk.fields(key, save(type_name, key, None, **{name: opened}))
    assert not {*CLOSED} & {*again}


@pytest.mark.parametrize("type_name", ["Mappe", "Basisregistrering"])
def test_a_date_closes_what_has_no_status(world: World, open_ones: dict[str, str], type_name: str) -> None:
    key = open_ones[type_name]
    told = world.desk.fields(key, save(type_name, key, avsluttetDato="2020-01-01T00:00:00Z"))
    assert {**told, **CLOSED, "avsluttetDato": "2020-01-01T00:00:00.000Z"} == told
    refusal = world.desk.without("UpdateSystemManaged").refused(save(type_name, key, avsluttetDato=None))
    assert refusal.status == 403


def test_times_and_names_that_the_caller_gives_are_kept(world: World) -> None:
    given: dict[str, object] = {"avsluttetDato": "1999-12-31T00:00:00.000Z", "avsluttetAv": "Kari"}
    fields = world.desk.fields("case", *world.case_file("case", saksstatus="A", **given))
    assert {**fields, **given, "avsluttetAvBrukerIdent": "integration"} == fields


def test_a_case_file_gets_its_date_only_with_its_status(world: World) -> None:
    desk = world.desk
    refusal = desk.refused(*world.case_file(avsluttetDato="2020-01-01"))
    assert (refusal.status, "field avsluttetDato" in refusal.description) == (400, True)
    key = desk.ids(*world.case_file())["case"]
    assert desk.refused(save("Saksmappe", key, avsluttetDato="2020-01-01")).status == 400
    assert desk.run(save("Saksmappe", key, avsluttetDato="2020-01-01"), save("Saksmappe", key, saksstatus="A"))


def test_everything_may_be_made_and_closed_in_one_transaction(world: World) -> None:
    desk = world.desk.without("Edit finalized", "Edit journaled", "UpdateSystemManaged")
    saved = desk.run(
        *world.case_file(),
        *world.post("case"),
        *world.document("post", dokumentstatus="F"),
        *world.version("document", desk.upload()),
        save("Journalpost", "post", journalstatus="A"),
        save("Saksmappe", "case", saksstatus="A"),
    )
    assert all(saved[key]["fields"]["avsluttetDato"] == NOW for key in ("document", "post", "case"))


@pytest.fixture
def closed_case(world: World) -> dict[str, str]:
    """A closed case file with a closed entry."""
    return world.desk.ids(
        *world.case_file(saksstatus="A"), *world.post("case", journalstatus="A"), *world.case_file("open")
    )


def test_a_closed_object_changes_only_with_edit_finalized(world: World, closed_case: dict[str, str]) -> None:
    case, post, other = closed_case["case"], closed_case["post"], closed_case["open"]
    desk = world.desk.without("Edit finalized")
    attempts = [
        [save("Saksmappe", case, tittel="new")],
        [save("Saksmappe", case, saksstatus="B")],
        world.post(case, "more"),
        [save("Noekkelord", "k", verdi="v"), link("Saksmappe", case, "refNoekkelord", "k")],
        [link("Saksmappe", case, "refKryssreferanseTilMappe", other)],
        [unlink("Journalpost", post, "refMappe", case), link("Journalpost", post, "refMappe", other)],
        [delete("Saksmappe", case)],
        [delete("Journalpost", post)],
        [delete("Korrespondansepart", closed_case["post-party"])],
        world.document(post),
    ]
    for actions in attempts:
        refusal = desk.refused(*actions)
        assert (refusal.status, "Edit finalized" in refusal.description) == (403, True)
    desk.run(save("Saksmappe", case, tittel="A case"))
    world.desk.run(*attempts[0], *attempts[2], *attempts[4])


def test_a_journaled_entry_changes_only_with_edit_journaled(world: World) -> None:
    desk = world.desk.without("Edit journaled")
    ids = desk.ids(*world.case_file(), *world.case_file("other"), *world.post("case"))
    post = ids["post"]
    for actions in (
        [save("Journalpost", post, tittel="new")],
        [unlink("Journalpost", post, "refMappe", ids["case"]), link("Journalpost", post, "refMappe", ids["other"])],
        [delete("Journalpost", post)],
    ):
        refusal = desk.refused(*actions)
        assert (refusal.status, "Edit journaled" in refusal.description) == (403, True)
    desk.run(*world.document(post))
    desk.run(save("Journalpost", post, journalstatus="A"))
    world.desk.run(save("Journalpost", post, tittel="new"))


def test_to_journal_takes_the_permission_unless_it_is_the_default(world: World) -> None:
    desk = world.desk.without("Journal")
    ids = desk.ids(*world.case_file(), *world.post("case"), *world.post("case", "open", journalstatus="S"))
    assert desk.refused(*world.post(ids["case"], "said", journalstatus="J")).status == 403
    assert desk.refused(save("Journalpost", ids["open"], journalstatus="J")).status == 403
    desk.run(save("Journalpost", ids["post"], journalstatus="J"))
    world.desk.run(save("Journalpost", ids["open"], journalstatus="J"))
