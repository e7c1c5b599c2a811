"""What is in the archive is found again: by external id, by uuid, by nature."""

from __future__ import annotations

from pathlib import Path

import pytest

from noarkit.archive.values import Link, Save
from noarkit.loading import lookup
from noarkit.loading.journal import Journal
from noarkit.loading.lease import RunFacts
from noarkit.server.service import Service
from tests.loading.conftest import Opened
from tests.loading.direct import DirectArchive
from tests.loading.journey import SYSTEM, Journey, record


def loaded(root: Path, opened: Opened, account: str) -> tuple[Journey, Service, RunFacts]:
    """Six records, two of them with three documents that look alike."""
    contents = {f"{n}": b"same" for n in range(6)} | {f"{n}+{m}": b"same" for n in (1, 4) for m in (2, 3)}
    journey = Journey(root, contents, account=account)
    more = (b"same", b"same")
    journey.plan([record(f"{n}", f"f{n // 3}", b"same", *(more if n in (1, 4) else ())) for n in range(6)])
    service = opened(journey)
    assert journey.once(service).numbers.archived == 6
    plan = str(journey.folder.plan()["sha256"])[:16]
    return journey, service, RunFacts(plan, SYSTEM, True, account == "admin", False, 60.0)


@pytest.mark.parametrize("account", ["admin", "plain"])
def test_every_entity_of_a_run_is_found_again_without_its_journal(account: str, root: Path, opened: Opened) -> None:
    journey, service, facts = loaded(root, opened, account)
    graph = journey.folder.open_graph()
    entities = list(graph.all_entities())
    journal = Journal(journey.folder.journal)
    known = journal.ids(entity.n for entity in entities)
    journal.close()
    graph.close()
    spine = {n: one for n, one in known.items() if n <= 3}
    units = [entity for entity in entities if entity.unit]
    archive = DirectArchive(service, account)
    if account == "admin":
        found = lookup.ids_by_uuid(archive, facts, entities)
        assert found == known
    else:
        found = lookup.ids_by_natural_key(archive, facts, units, spine)
        assert {**found, **spine} == known


def test_of_a_key_that_several_bear_the_oldest_answers(root: Path, opened: Opened) -> None:
    journey, service, _ = loaded(root, opened, "admin")
    archive = DirectArchive(service)
    first = lookup.owners_of_keys(archive, SYSTEM, ["0"])["0"]
    other = journey.all(service, "Basisregistrering")[3].id
    fields = {"eksterntSystem": SYSTEM, "eksternID": "0"}
    archive.transaction((Save("EksternId", "x", fields), Link("EksternId", "x", "refRegistrering", (other,))))
    assert lookup.owners_of_keys(archive, SYSTEM, ["0", "none"]) == {"0": first}


def test_keys_of_other_systems_are_not_ours(root: Path, opened: Opened) -> None:
    _, service, _ = loaded(root, opened, "admin")
    archive = DirectArchive(service)
    assert lookup.owners_of_keys(archive, "other", ["0"]) == {}
    assert (lookup.system_is_known(archive, SYSTEM), lookup.system_is_known(archive, "other")) == (True, False)


def test_more_keys_than_one_question_bears_are_asked_in_portions(root: Path, opened: Opened) -> None:
    _, service, _ = loaded(root, opened, "admin")
    keys = [*(f"none{n}" for n in range(350)), *(f"{n}" for n in range(6))]
    assert set(lookup.owners_of_keys(DirectArchive(service), SYSTEM, keys)) == {f"{n}" for n in range(6)}


def test_objects_are_found_by_their_ids(root: Path, opened: Opened) -> None:
    journey, service, _ = loaded(root, opened, "admin")
    ids = [one.id for one in journey.all(service, "Dokumentversjon")]
    found = lookup.objects_of_ids(DirectArchive(service), "Dokumentversjon", [*ids, "999999"])
    assert [one.id for one in found] == ids


def test_a_uuid_is_the_same_in_every_run_and_other_for_every_system_and_key() -> None:
    facts = [RunFacts(plan, system, True, True, True, 60.0) for plan in "ab" for system in ("x", "y")]
    assert lookup.uuid_of(facts[0], "k") == lookup.uuid_of(facts[2], "k") != lookup.uuid_of(facts[1], "k")
    assert lookup.uuid_of(facts[0], "k") != lookup.uuid_of(facts[0], "l")
