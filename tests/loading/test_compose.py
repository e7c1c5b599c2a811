"""A chunk's entities become actions: parents first, guard in front, anchor behind, no more than the account may."""

from __future__ import annotations

from dataclasses import replace

from noarkit.archive.values import Link, Save
from noarkit.graph.store import PlannedEntity, PlannedLink
from noarkit.loading.compose import add_guard, compose
from noarkit.loading.lease import Guard, RunFacts
from noarkit.loading.lookup import uuid_of, uuid_of_new_version

FACTS = RunFacts("plan", "shelf", honours_versions=True, sets_system_fields=True, fresh=True, deadline_s=60)
PLAIN = replace(FACTS, sets_system_fields=False)


def planned(n: int, kind: str, parent: int | None = None, link: str | None = None, **fields: str) -> PlannedEntity:
    return PlannedEntity(n, f"key{n}", kind, 1, parent, link, dict(fields), "create", 0, 1, 1)


FOLDER = planned(5, "Mappe", 3, "refArkivdel", tittel="f")
RECORD = planned(6, "Basisregistrering", 5, "refMappe", tittel="r")
DOCUMENT = planned(7, "Dokument", 6, "refRegistrering", tittel="d", tilknyttetRegistreringSom="H")
VERSION = planned(8, "Dokumentversjon", 7, "refDokument", variantformat="P", format="txt")


def test_parents_come_first_and_known_ones_go_by_the_archives_id() -> None:
    actions = compose([FOLDER, RECORD], {}, {3: "30"}, {}, PLAIN).actions
    assert actions == (
        Save("Mappe", "e5", {"tittel": "f"}),
        Link("Mappe", "e5", "refArkivdel", ("30",)),
        Save("Basisregistrering", "e6", {"tittel": "r"}),
        Link("Basisregistrering", "e6", "refMappe", ("e5",)),
    )


def test_what_has_nothing_to_hang_under_is_told_and_all_below_it() -> None:
    composed = compose([FOLDER, RECORD, DOCUMENT], {}, {}, {}, PLAIN)
    assert composed.actions == ()
    assert composed.orphans == {5: 3, 6: 5, 7: 6}


def test_a_link_to_what_is_nowhere_makes_its_entity_an_orphan() -> None:
    links = {6: [PlannedLink(6, "refPrimaerKlasse", 99, late=False)]}
    assert compose([RECORD], links, {5: "50"}, {}, PLAIN).orphans == {6: 99}
    made = compose([RECORD], links, {5: "50", 99: "990"}, {}, PLAIN).actions
    assert made[-1] == Link("Basisregistrering", "e6", "refPrimaerKlasse", ("990",))


def test_a_version_refers_to_its_uploaded_file() -> None:
    save = compose([VERSION], {}, {7: "70"}, {8: "123"}, PLAIN).actions[0]
    assert isinstance(save, Save)
    assert save.fields["referanseDokumentfil"] == "123"


def test_uuids_are_made_from_keys_where_the_account_may_write_them() -> None:
    saves = [save for save in compose([FOLDER, RECORD], {}, {3: "30"}, {}, FACTS).actions if isinstance(save, Save)]
    assert [save.fields["uuid"] for save in saves] == [uuid_of(FACTS, "key5"), uuid_of(FACTS, "key6")]
    plain = [save for save in compose([FOLDER], {}, {3: "30"}, {}, PLAIN).actions if isinstance(save, Save)]
    assert "uuid" not in plain[0].fields


def test_a_further_version_has_a_uuid_of_its_own_that_the_plan_decides() -> None:
    save = compose([VERSION], {}, {7: "70"}, {}, FACTS, again=frozenset({8})).actions[0]
    assert isinstance(save, Save)
    assert save.fields["uuid"] == uuid_of_new_version(FACTS, "key8") != uuid_of(FACTS, "key8")
    assert uuid_of_new_version(replace(FACTS, plan="other"), "key8") != uuid_of_new_version(FACTS, "key8")


def test_fields_that_the_account_may_not_write_are_left_out() -> None:
    dated = planned(5, "Mappe", 3, "refArkivdel", tittel="f", opprettetDato="2001-01-01T00:00:00.000Z")
    own = compose([dated], {}, {3: "30"}, {}, PLAIN).actions[0]
    system = compose([dated], {}, {3: "30"}, {}, FACTS).actions[0]
    assert isinstance(own, Save)
    assert isinstance(system, Save)
    assert "opprettetDato" not in own.fields
    assert "opprettetDato" in system.fields


def test_the_guard_goes_in_front_with_its_version_and_the_anchor_hangs_on_the_first_bearer() -> None:
    actions = compose([RECORD, DOCUMENT], {}, {5: "50"}, {}, PLAIN).actions
    sent = add_guard(actions, Guard("9", "4"), PLAIN, "1/2")
    assert sent[0] == Save("Klasse", "9", {"beskrivelse": "plan/1/2"}, version="4")
    assert sent[1:-2] == actions
    assert sent[-2:] == (
        Save("EksternId", "anchor", {"eksterntSystem": "noarkit:chunk", "eksternID": "plan/1/2"}),
        Link("EksternId", "anchor", "refRegistrering", ("e6",)),
    )


def test_an_anchor_hangs_on_a_version_where_nothing_above_it_is_made() -> None:
    actions = compose([VERSION], {}, {7: "70"}, {8: "1"}, PLAIN).actions
    assert add_guard(actions, None, PLAIN, "1/2")[-1] == Link("EksternId", "anchor", "refDokumentversjon", ("e8",))


def test_a_chunk_without_bearers_has_no_anchor_and_without_a_guard_nothing_in_front() -> None:
    party = planned(9, "Korrespondansepart", 6, "refRegistrering", korrespondanseparttype="EA")
    actions = compose([party], {}, {6: "60"}, {}, PLAIN).actions
    assert add_guard(actions, None, PLAIN, "1/2") == actions


def test_the_same_input_gives_the_same_actions() -> None:
    made = [compose([FOLDER, RECORD, DOCUMENT, VERSION], {}, {3: "30"}, {8: "1"}, FACTS).actions for _ in range(2)]
    assert made[0] == made[1]
