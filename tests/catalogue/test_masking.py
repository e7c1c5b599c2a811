"""What is screened is masked wherever it is shown, and so are identity numbers; a reason shows it, and is kept."""

from __future__ import annotations

import io
import json
import os
import pwd
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import orjson
import pytest

import noarkit
from noarkit.catalogue.access_log import access_log_path, reveal_card, reveal_document
from noarkit.catalogue.catalogue import Card, Catalogue, Entry
from noarkit.catalogue.masking import mask_card, mask_document, mask_entry
from noarkit.catalogue.port import Change, Document, Item, Json, PlaceIdentity
from noarkit.catalogue.search import SearchQuery
from noarkit.catalogue.store import write_catalogue
from noarkit.catalogue.veil import address_ref
from noarkit.errors import JournalFault, UsageFault
from noarkit.events import Listener, ignore_event
from noarkit.model.disclosure import MASK, mask_fields, mask_text
from noarkit.reading_room.looks import Looks
from noarkit.records import ContentStream

NAME = "Ola Nordmann"
NUMBER = "01018000055"
MASKED_NUMBER = "010180 *****"


class _Bytes(io.BytesIO):
    def still_the_same(self) -> bool:
        return True


class Office:
    """An open letter, and a screened case with a letter in it; the name of a person stands wherever it can."""

    identity = PlaceIdentity("extract", "office", "/data/office", "1")

    def items(self, emit: Listener) -> Iterator[Item]:
        """Three items."""
        yield Item(
            "open",
            None,
            "Journalpost",
            f"Letter about {NUMBER}",
            fields={"beskrivelse": f"fnr {NUMBER}", "kunde": int(NUMBER)},
        )
        yield Item("case", None, "Saksmappe", f"Barnevern {NAME}", "2011/7", "2011-05-06", screened=True)
        fields: dict[str, Json] = {
            "tittel": f"Om {NAME}",
            "offentligTittel": "Om *****",
            "systemID": "f7a4",
            "journaldato": "2011-05-07",
            "journalstatus": "Arkivert",
            "journalposttype": "Inngående dokument",
            "forfatter": NAME,
            "antallVedlegg": 1,
            "korrespondansepart": [{"korrespondansepartNavn": NAME, "korrespondanseparttype": "Avsender"}],
            "virksomhetsspesifikkeMetadata": {"diagnosetype": NAME, "status": NAME},
            "skjerming": {"tilgangsrestriksjon": "UO", "skjermingshjemmel": "Offl. § 13"},
        }
        yield Item(
            *("letter", "case", "Journalpost", f"Om {NAME}", "2011/7-1", "2011-05-07"),
            fields=fields,
            links=(("referanseTilMappe", "case"),),
            documents=(Document("d", NAME, f"{NAME}.pdf", fields={"tittel": NAME, "sjekksum": "ab"}, locator="d"),),
            history=(
                Change("2012", "anne", "tittel", NAME, f"Om {NAME}"),
                Change("2012", "anne", "journalstatus", "J", "A"),
            ),
        )

    @contextmanager
    def open(self, locator: str) -> Iterator[ContentStream]:
        """The letter."""
        yield _Bytes(b"letter")

    def close(self) -> None:
        """Nothing is held open."""


@pytest.fixture
def office(tmp_path: Path) -> Iterator[Catalogue]:
    """Its catalogue."""
    path = tmp_path / "office.noarkit-catalogue.db"
    place = Office()
    write_catalogue(path, place.identity, place.items(ignore_event))
    with Catalogue(path, place) as catalogue:
        yield catalogue


def text_of(card: Card) -> str:
    """All that a card says."""
    return orjson.dumps(card).decode()


def test_a_name_in_a_screened_letter_is_nowhere_on_its_card(office: Catalogue) -> None:
    assert text_of(office.card("letter")).count(NAME) > 8
    assert NAME not in text_of(mask_card(office.card("letter")))


def test_what_says_nothing_of_the_content_stays(office: Catalogue) -> None:
    card = mask_card(office.card("letter"))
    fields = card.fields
    assert (fields["journaldato"], fields["journalstatus"], fields["systemID"]) == ("2011-05-07", "Arkivert", "f7a4")
    assert (fields["antallVedlegg"], fields["skjerming"]) == (1, office.card("letter").fields["skjerming"])
    assert (card.entry.title, card.entry.ident) == ("Om *****", "2011/7-1")
    assert (card.history[1].before, card.history[1].after) == ("J", "A")
    assert card.documents[0].ref == "d"


def test_a_line_of_what_lies_in_something_screened_is_masked(office: Catalogue) -> None:
    assert [mask_entry(office.entry(ref)).title for ref in ("case", "letter")] == [MASK, "Om *****"]
    assert [link.entry.title for link in mask_card(office.card("letter")).links if link.entry] == [MASK]


@pytest.mark.parametrize(
    ("klass", "shown"), [("", ""), ("614", "614"), ("E-12.3", "E-12.3"), (NAME, MASK), (NUMBER, MASKED_NUMBER)]
)
def test_the_class_of_something_screened_is_shown_where_it_is_a_number(klass: str, shown: str) -> None:
    entry = Entry(
        1,
        "case",
        "Saksmappe",
        "x",
        "",
        "",
        f"of {NUMBER}",
        klass,
        screened=True,
        fault="",
        state="",
        documents=0,
        children=0,
    )
    masked = mask_entry(entry)
    assert (masked.klass, masked.status) == (shown, f"of {MASKED_NUMBER}")
    assert mask_entry(replace(entry, klass="Hunder og katter", screened=False)).klass == "Hunder og katter"


def test_an_identity_number_is_masked_where_it_names_who_made_a_change() -> None:
    entry = Entry(
        1, "case", "Saksmappe", "x", "", "", "", "", screened=False, fault="", state="", documents=0, children=0
    )
    card = mask_card(Card(entry, (), {}, (), (), (), (Change("2012", NUMBER, "tittel", "a", "b"),)))
    assert card.history[0].actor == MASKED_NUMBER


def test_identity_numbers_are_masked_everywhere_and_other_numbers_are_not(office: Catalogue) -> None:
    card = mask_card(office.card("open"))
    assert (card.entry.title, card.fields["beskrivelse"]) == (f"Letter about {MASKED_NUMBER}", f"fnr {MASKED_NUMBER}")
    assert mask_text("010180 00055 og 01018000056 og 123456789012") == "010180 ***** og 01018000056 og 123456789012"
    assert mask_text("no digits at all") == "no digits at all"


@pytest.mark.parametrize(
    ("name", "value", "shown"),
    [
        ("kunde", 1018000055, MASKED_NUMBER),  # a column of numbers has lost the nought in front
        ("kunde", 1018000056, 1018000056),
        ("fodselsnummer", "12345678901", "12345678901"),
        ("foedselsnummer", "ukjent-1", MASK),
        ("liste", [NUMBER, {"d_nummer": NUMBER}], [MASKED_NUMBER, {"d_nummer": MASKED_NUMBER}]),
    ],
)
def test_numbers_in_fields_of_any_kind_are_masked(name: str, value: Json, shown: Json) -> None:
    assert mask_fields({name: value}, screened=False) == {name: shown}


@pytest.mark.parametrize("word", [NUMBER, "0101800*", "010180000*", "1018000055"])
def test_an_identity_number_is_not_found_by_its_digits(office: Catalogue, word: str) -> None:
    assert office.search(SearchQuery(word)).total.number == 0
    assert office.search(SearchQuery("010180*")).total.number == 1


def test_a_document_that_is_screened_itself_is_masked_in_an_open_record() -> None:
    inner: dict[str, Json] = {"tittel": NAME, "skjerming": {"tilgangsrestriksjon": "UO"}}
    masked = mask_document(Document("d", NAME, NAME, fields={"dokumentbeskrivelse": inner}), screened=False)
    assert NAME not in orjson.dumps(masked).decode()


def test_a_party_that_is_hidden_from_the_public_is_masked_in_an_open_record() -> None:
    party: Json = {"korrespondansepartNavn": NAME, "skjermEInnsyn": True}
    assert NAME not in str(mask_fields({"korrespondansepart": [party]}, screened=False))
    hidden = {"skjermKorrespondanseParterEInnsyn": True, "korrespondansepart": [{"korrespondansepartNavn": NAME}]}
    assert NAME not in str(mask_fields(hidden, screened=False))  # type: ignore[arg-type]  # plain JSON


def test_a_reason_shows_everything_and_stands_in_the_log_first(office: Catalogue) -> None:
    card, whole = reveal_card(office, "letter", " request\nfor access ", lambda: 1_700_000_000.0), office.card("letter")
    assert (card.entry, card.fields, card.documents, card.history) == (
        *(whole.entry, whole.fields, whole.documents, whole.history),
    )
    # the case that it lies in, and what it answers, are other items, and ask for a reason of their own
    assert [entry.title for entry in (*card.ancestors, *(link.entry for link in card.links)) if entry] == [MASK, MASK]
    document, _ = reveal_document(office, "d", "the same", lambda: 1_700_000_001.0)
    assert document.title == NAME
    log = access_log_path(office)
    lines = [json.loads(line) for line in log.read_text("utf-8").splitlines()]
    assert [(line["ref"], line["what"], line["why"]) for line in lines] == [
        (address_ref("letter"), "card", "request for access"),
        (address_ref("d"), "document", "the same"),
    ]
    assert (lines[0]["at"], lines[0]["user"]) == ("2023-11-14T22:13:20.000+00:00", pwd.getpwuid(os.getuid()).pw_name)
    assert NAME not in log.read_text("utf-8")
    assert stat.S_IMODE(log.stat().st_mode) == 0o600


@pytest.mark.parametrize("reason", ["", " \n\t"])
def test_without_a_reason_nothing_is_shown_and_nothing_logged(office: Catalogue, reason: str) -> None:
    with pytest.raises(UsageFault) as refusal:
        reveal_card(office, "letter", reason)
    assert "letter" not in str(refusal.value.data)
    assert not access_log_path(office).exists()


def test_the_log_names_the_account_that_logged_in_beside_the_user_of_the_process(office: Catalogue) -> None:
    Looks(office).reveal("letter", "request for access", "anne")
    Looks(office).reveal_document("d", "the same", "per")
    lines = [json.loads(line) for line in access_log_path(office).read_text("utf-8").splitlines()]
    assert [line["account"] for line in lines] == ["anne", "per"]
    assert {line["user"] for line in lines} == {pwd.getpwuid(os.getuid()).pw_name}


def test_where_the_log_cannot_be_written_nothing_is_shown(office: Catalogue) -> None:
    access_log_path(office).mkdir()
    with pytest.raises(JournalFault):
        reveal_card(office, "letter", "request for access")


def test_a_screened_document_is_handed_out_with_a_reason_alone(office: Catalogue, tmp_path: Path) -> None:
    with pytest.raises(UsageFault) as told:
        noarkit.get(office, "d", tmp_path / "out")
    assert told.value.data["what"] == "screened-document"
    assert not (tmp_path / "out").exists()
    noarkit.get(office, "d", tmp_path / "out", because="request for access")
    assert (tmp_path / "out").read_bytes() == b"letter"
    assert len(access_log_path(office).read_text("utf-8").splitlines()) == 1


def test_the_library_masks_by_itself(office: Catalogue) -> None:
    shown = noarkit.show(office, "letter")
    assert shown.is_masked and NAME not in json.dumps(shown.to_dict())
    assert NAME not in json.dumps([line.to_dict() for line in noarkit.ls(office)])
    assert NAME in json.dumps(noarkit.show(office, "letter", because="request for access").to_dict())
