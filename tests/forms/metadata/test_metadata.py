"""What bags, DIAS and PREMIS of others say is read as it is meant, also where they say it loosely."""

from __future__ import annotations

import io
from dataclasses import fields, replace

import pytest

from noarkit.forms.metadata.bag import bag_info, metadata_of_bag
from noarkit.forms.metadata.dias import metadata_of_dias
from noarkit.forms.metadata.eark import eark_agents, metadata_of_eark
from noarkit.forms.metadata.mets_facts import MetsHeader
from noarkit.forms.metadata.model import (
    MOST_EVENTS,
    Agent,
    Event,
    History,
    PackageMetadata,
    Party,
    Person,
    System,
)
from noarkit.forms.metadata.premis import QUALIFIED, read_history
from noarkit.forms.metadata.provenance import UNKNOWN_TIME, with_valid_time

PEOPLE = (Person("Kari", "Box 1, Vik", "57 69 50 00", "kari@vik.example"), Person("Ola", "", "", "ola@vik.example"))
WHOLE = PackageMetadata(
    label="Title: with a colon",
    description="A description",
    category="Mixed",
    content_type="OTHER",
    other_content_type="Files",
    record_status="NEW",
    agreement="1",
    previous_agreements=("2", "3"),
    reference_code="4",
    previous_reference_codes=("5",),
    delivery_type="6",
    project="7",
    package_number="8",
    start="2001-01-01",
    end="2002-01-01",
    derived_from=("uuid-1", "uuid-2"),
    creators=(Party("Vik", "9", PEOPLE, ("a note", "another")), Party("Hof", "10"), Party("Kari", individual=True)),
    submitter=Party("Sender", "11", PEOPLE),
    producer=Party("Producer"),
    owners=(Party("Owner", "12"), Party("Co-owner")),
    packer=Party("Packer"),
    recipient=Party("Archive", "13", PEOPLE[:1]),
    system=System("ESA", "8", "Koark", "1"),
    archive_system=System("Depot", "2", "Noark 5", "5.0"),
    other_agents=(Agent("EDITOR", "INDIVIDUAL", "Ola", notes=(("a note", "KIND"), ("bare", ""))),),
    more=(("LOCALNUMBER", "X 77"), ("Internal-Sender-Identifier", "abc")),
)


def test_everything_but_history_comes_back_from_bag_info() -> None:
    back = metadata_of_bag(bag_info(WHOLE))
    assert len(fields(WHOLE)) > 10
    for field in fields(WHOLE):
        assert getattr(back, field.name) == getattr(WHOLE, field.name), field.name


def test_agents_come_back_from_mets_of_eark() -> None:
    plain = replace(WHOLE, creators=WHOLE.creators[:2], archive_system=None, system=System("ESA", "8", ""))
    back = metadata_of_eark(MetsHeader(agents=tuple(eark_agents(plain))))
    for name in ("creators", "submitter", "producer", "owners", "packer", "recipient", "system", "other_agents"):
        assert getattr(back, name) == getattr(plain, name), name


def test_labels_of_other_bags_are_read_in_any_case() -> None:
    told = [("source-organization", "Vik"), ("CONTACT-NAME", "Kari"), ("Contact-Phone", "57"), ("Odd Label", "x")]
    back = metadata_of_bag([*told, ("Payload-Oxum", "1.1"), ("Contact-Name", "Ola")])
    assert back.submitter == Party("Vik", people=(Person("Kari", "", "57", ""),))
    assert back.more == (("Odd Label", "x"), ("Contact-Name", "Ola"))


@pytest.mark.parametrize("notes", [("Box 1", "57695000", "a@b.no"), ("a@b.no", "Box 1", "57695000")])
def test_loose_notes_of_dias_are_told_apart(notes: tuple[str, ...]) -> None:
    system_notes = ("8.1", "Koark", "notescontent:Version,Type")
    agents = (
        Agent("ARCHIVIST", "ORGANIZATION", "Vik", notes=(("964 968 241", ""),)),
        Agent("ARCHIVIST", "INDIVIDUAL", "Kari", notes=tuple((note, "") for note in notes)),
        Agent("PRESERVATION", "ORGANIZATION", "Ikke oppgitt"),
        Agent("ARCHIVIST", "OTHER", "ESA", "", "SOFTWARE", tuple((note, "") for note in system_notes)),
    )
    back = metadata_of_dias(MetsHeader(agents=agents))
    assert back.creators == (Party("Vik", "964 968 241", (Person("Kari", "Box 1", "57695000", "a@b.no"),)),)
    assert back.recipient is None
    assert back.system == System("ESA", "8.1", "Koark", "")


def test_the_only_note_of_a_body_is_its_code() -> None:
    agent = Agent("ARCHIVIST", "ORGANIZATION", "Ministry", notes=(("ORG.123", ""),))
    assert metadata_of_eark(MetsHeader(agents=(agent,))).creators == (Party("Ministry", "ORG.123"),)


def history(space: str, events: str, package: str = "uuid-1") -> History:
    text = f'<premis xmlns="{space}">{events}</premis>'
    return read_history(io.BytesIO(text.encode()), "premis.xml", package)


def event(value: str, kind: str = "local") -> str:
    return (
        f"<event><eventIdentifier><eventIdentifierType>{kind}</eventIdentifierType>"
        f"<eventIdentifierValue>{value}</eventIdentifierValue></eventIdentifier><eventType>ingestion</eventType>"
        "<eventDateTime>2020-01-01</eventDateTime><eventDetail>detail</eventDetail></event>"
    )


@pytest.mark.parametrize("space", ["http://www.loc.gov/premis/v3", "info:lc/xmlns/premis-v2"])
def test_what_only_its_document_knows_is_named_after_it(space: str) -> None:
    told = history(space, event("e1") + event("urn:1", "URI"), "uuid-1/rep1")
    assert [one.identifier for one in told.events] == [(QUALIFIED, "uuid-1/rep1/e1"), ("URI", "urn:1")]
    assert [one.detail for one in told.events] == ["detail", "detail"]


def test_events_beyond_the_limit_are_counted() -> None:
    told = history("http://www.loc.gov/premis/v3", "".join(map(event, map(str, range(MOST_EVENTS + 7)))))
    assert (len(told.events), told.omitted) == (MOST_EVENTS, 7)
    assert told.merge(history("http://www.loc.gov/premis/v3", event("x"))).omitted == 8


@pytest.mark.parametrize(
    ("when", "takes"), [("2020-01-01T10:00:00+01:00", True), ("2020", True), ("soon", False), ("2020-13-01", False)]
)
def test_a_time_that_is_none_goes_into_the_detail(when: str, takes: bool) -> None:
    made = with_valid_time(Event(("UUID", "1"), "ingestion", when, "detail"))
    assert (made.when == when) is takes
    assert takes or (made.when == UNKNOWN_TIME and when in made.detail)
