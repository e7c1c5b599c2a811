"""POST transaction: what an account may not do, with the words that name the permission."""

from __future__ import annotations

import pytest

from tests.server.calls.scene import READER, WRITER, Body, Scene, entry_actions, refuses, unlink, version_actions
from tests.server.calls.shapes import answered
from tests.server.wire import delete, link, save


def test_what_the_archive_fills_in_can_be_echoed_but_not_changed(scene: Scene) -> None:
    version = scene.ids["version"]
    facts = scene.fields("Dokumentversjon", version)
    for field, other in (("sjekksum", "00"), ("filstoerrelse", 1), ("filnavn", "x.pdf"), ("innholdstype", "x/y")):
        answered(scene.wire.transaction(save("Dokumentversjon", version, **{field: facts[field]})))
        words = ("actions[0] (save Dokumentversjon)", f"field {field}")
        refuses(scene, 400, words, save("Dokumentversjon", version, **{field: other}))
    made = version_actions(scene.ids["document"], scene.uploaded())
    fields = made[0]["fields"]
    assert isinstance(fields, dict)
    fields["sjekksum"] = "00"
    refuses(scene, 400, ("actions[0] (Dokumentversjon)", "field sjekksum"), *made)


def test_what_is_system_managed_can_be_echoed_but_changed_only_with_the_right(scene: Scene) -> None:
    entry = scene.entry(scene.case())
    writer = scene.account(("Journal", "Edit journaled"), WRITER)
    known = scene.fields("Journalpost", entry)
    echoed = ("uuid", "opprettetDato", "opprettetAv", "registreringsIdent", "journalaar", "journalsekvensnummer")
    told = {name: known[name] for name in (*echoed, "journalpostnummer", "opprettetAvBrukerIdent")}
    answered(writer.transaction(save("Journalpost", entry, tittel="Endret", **told)))
    for field, other in (
        ("uuid", "0b7f4ad0-5fbb-4f0e-9d1a-0d8ad6f3f001"),
        ("opprettetDato", "2001-01-01T00:00:00Z"),
        ("opprettetAv", "someone"),
        ("registreringsIdent", "2001/900001"),
        ("journalaar", 2001),
        ("journalsekvensnummer", 900001),
        ("journalpostnummer", 900001),
    ):
        changed = save("Journalpost", entry, **{field: other})
        refuses(scene, 403, ("actions[0] (Journalpost)", field, "UpdateSystemManaged"), changed, by=writer)
    answered(scene.wire.transaction(save("Journalpost", entry, opprettetDato="2001-01-01T00:00:00Z")))
    assert scene.fields("Journalpost", entry)["opprettetDato"] == "2001-01-01T00:00:00.000Z"


def test_what_is_finalised_changes_only_with_the_right(scene: Scene) -> None:
    case = scene.case()
    entry = scene.entry(case)
    answered(scene.wire.transaction(save("Saksmappe", case, saksstatus="A")))
    writer = scene.account(("Journal",), (*WRITER, "Delete"))
    words = ("Saksmappe", case, "finalised", "Edit finalized")
    refuses(scene, 403, ("actions[0]", *words), save("Saksmappe", case, tittel="T"), by=writer)
    refuses(scene, 403, ("actions[0]", *words), save("Saksmappe", case, saksstatus="B"), by=writer)
    refuses(scene, 403, ("actions[0]", *words), delete("Saksmappe", case), by=writer)
    refuses(scene, 403, ("actions[0]", *words), *entry_actions(case), by=writer)
    party = [save("Sakspart", "@p", sakspartNavn="N", sakspartRolle="KLI"), link("Sakspart", "@p", "refMappe", case)]
    refuses(scene, 403, ("actions[0]", *words), *party, by=writer)
    editor = scene.account(("Journal", "Edit finalized"), WRITER)
    answered(editor.transaction(save("Saksmappe", case, saksstatus="B")))
    assert scene.get("Journalpost", entry) is not None


def test_what_is_journaled_changes_only_with_the_right(scene: Scene) -> None:
    entry = scene.entry(scene.case(), journalstatus="J")
    writer, editor = scene.account(("Journal",), WRITER), scene.account(("Edit journaled",), WRITER)
    words = ("actions[0] (Journalpost)", "journaled", "Edit journaled")
    refuses(scene, 403, words, save("Journalpost", entry, tittel="T"), by=writer)
    answered(editor.transaction(save("Journalpost", entry, tittel="T")))
    answered(writer.transaction(save("Journalpost", entry, journalstatus="A")))


def test_journaling_needs_its_right(scene: Scene) -> None:
    writer, case = scene.account((), WRITER), scene.case()
    words = ("actions[0] (Journalpost)", "journalstatus", "Journal")
    refuses(scene, 403, words, *entry_actions(case, journalstatus="J"), by=writer)
    entry = scene.entry(case, journalstatus="F")
    refuses(scene, 403, words, save("Journalpost", entry, journalstatus="J"), by=writer)
    answered(writer.transaction(save("Journalpost", entry, journalstatus="F", tittel="T")))


def test_a_delete_needs_its_permission(scene: Scene) -> None:
    folder = scene.folder()
    refuses(scene, 403, ("actions[0] (delete Mappe)", "Delete"), delete("Mappe", folder), by=scene.account((), WRITER))
    assert scene.get("Mappe", folder) is not None
    answered(scene.account((), (*WRITER, "Delete")).transaction(delete("Mappe", folder)))


@pytest.mark.parametrize("permission", ["Create", "Update", "Move"])
def test_a_write_needs_its_permission(scene: Scene, permission: str) -> None:
    one, other = scene.folder(), scene.folder()
    record = scene.record(one)
    writer = scene.account((), tuple(word for word in WRITER if word != permission))
    actions: dict[str, list[Body]] = {
        "Create": [save("Mappe", "@x", tittel="T"), link("Mappe", "@x", "refArkivdel", scene.ids["series"])],
        "Update": [save("Mappe", one, tittel="T")],
        "Move": [
            unlink("Basisregistrering", record, "refMappe", one),
            link("Basisregistrering", record, "refMappe", other),
        ],
    }
    refuses(scene, 403, ("actions[0]", f'"{permission}"'), *actions.pop(permission), by=writer)
    other_ways = [ways for name, ways in actions.items() if not (permission == "Create" and name == "Move")]
    for ways in other_ways:
        answered(writer.transaction(*ways))


def test_a_file_that_another_account_uploaded_is_refused(scene: Scene) -> None:
    other = scene.account(("Store documents", "Edit journaled"), WRITER)
    file = str(other.upload(b"of another").json()["id"])
    actions = version_actions(scene.ids["document"], file)
    refuses(scene, 400, ("actions[0] (Dokumentversjon)", "referanseDokumentfil"), *actions)
    answered(other.transaction(*actions))


def test_a_reader_writes_nothing(scene: Scene) -> None:
    reader = scene.account((), READER)
    refuses(scene, 403, ("actions[0]", "Update"), save("Mappe", scene.ids["folder"], tittel="T"), by=reader)
    assert answered(reader.transaction()) == {"saved": {}}
