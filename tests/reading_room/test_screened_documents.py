"""A document that is screened itself, in an open record: it is treated as if its record were."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from email.message import EmailMessage
from hashlib import sha256
from pathlib import Path

import pytest
from lxml import html

import noarkit
from noarkit.catalogue.catalogue import Catalogue
from noarkit.catalogue.masking import is_screened
from noarkit.catalogue.places.run import RunPlace
from noarkit.catalogue.port import Document, Item, Json
from noarkit.catalogue.search import SearchQuery
from noarkit.catalogue.store import write_catalogue
from noarkit.catalogue.veil import address_ref, veil_of
from noarkit.events import Listener, ignore_event
from noarkit.loading.folder import RunFolder
from noarkit.model.disclosure import MASK
from noarkit.reading_room.static.writer import write_static_copy
from noarkit.reports.plan_page import Context, plan_facts
from noarkit.sources.files.source import FileTree
from tests.reading_room.conftest import open_room
from tests.reading_room.town import LETTER, Town
from tests.reading_room.wire import ask, enter

_SCREENING: dict[str, Json] = {"tilgangsrestriksjon": "UO", "skjermingshjemmel": "Offl. § 13"}


class Case(Town):
    """An open letter with four documents: one open, one screened, one graded, one hidden from the public."""

    def items(self, emit: Listener) -> Iterator[Item]:
        """The letter."""
        parts: dict[str, dict[str, Json]] = {
            "plain": {"tittel": "Kart"},
            "closed": {"tittel": "Legeerklæring", "skjerming": _SCREENING},
            "graded": {"tittel": "Beredskap", "gradering": {"gradering": "Fortrolig"}},
            "hidden": {"tittel": "Attest", "skjermEInnsyn": "true"},
        }
        documents = [self._document(ref, fields) for ref, fields in parts.items()]
        yield Item("letter", None, "Journalpost", "Søknad", documents=tuple(documents))

    def _document(self, ref: str, fields: dict[str, Json]) -> Document:
        name, digest = f"{fields['tittel']}.pdf", sha256(LETTER).hexdigest()
        facts = ("", 1, "application/pdf", "fmt/14", len(LETTER), digest, "letter")
        return Document(ref, str(fields["tittel"]), name, *facts, {"dokumentbeskrivelse": fields})


@pytest.fixture
def catalogue(tmp_path: Path) -> Iterator[Catalogue]:
    """The catalogue of that case."""
    path, place = tmp_path / "case.db", Case()
    write_catalogue(path, place.identity, place.items(ignore_event))
    with Catalogue(path, place) as opened:
        yield opened


def test_what_a_document_says_of_itself_is_heard(catalogue: Catalogue) -> None:
    documents = catalogue.card("letter").documents
    entry = catalogue.entry("letter")
    assert [document.ref for document in documents if is_screened(document, entry)] == ["closed", "graded", "hidden"]


def test_only_the_title_of_the_open_document_is_found(catalogue: Catalogue) -> None:
    hits = {word: len(catalogue.search(SearchQuery(word)).hits) for word in ("kart", "lege*", "beredskap", "attest")}
    assert hits == {"kart": 1, "lege*": 0, "beredskap": 0, "attest": 0}


def test_a_static_copy_has_the_open_document_alone(catalogue: Catalogue, tmp_path: Path) -> None:
    copy = write_static_copy(catalogue, tmp_path / "copy", lang="en", with_documents=True)
    assert [path.name for path in copy.path.glob("files/*/*/*")] == ["1-Kart.pdf"]


def test_a_room_asks_for_a_reason_before_it_shows_one(tmp_path: Path) -> None:
    with open_room(Case(), tmp_path / "case.noarkit-catalogue.db") as room:
        cookie = enter(room)
        card = ask(room.url, "/item/letter", cookie=cookie).body
        for ref in ("closed", "graded", "hidden"):
            assert f"/document/?veil={veil_of(ref)}" in card and f"/document/{ref}" not in card
            assert f"/thumbnail/{ref}" not in card and f"/thumbnail/?veil={veil_of(ref)}" not in card
            assert ask(room.url, f"/thumbnail/{ref}", cookie=cookie).status == 404
            page = ask(room.url, f"/document/?veil={veil_of(ref)}", cookie=cookie)
            assert page.status == 200 and "<iframe" not in page.body and "reveal-document" in page.body
        shown = ask(room.url, "/document/plain", cookie=cookie)
        assert "<iframe" in shown.body and f"/thumbnail/?veil={veil_of('plain')}" in card
        form = {"csrf": page.csrf, "reason": "request for access"}
        address = f"/reveal-document/?veil={veil_of('closed')}"
        headers = {"origin": room.url}
        assert "<iframe" in ask(room.url, address, method="POST", cookie=cookie, form=form, headers=headers).body
    assert (tmp_path / "case.noarkit-access.jsonl").read_text("utf-8").count(address_ref("closed")) == 1


@pytest.mark.parametrize("field", ["skjerming", "gradering", "skjermEInnsyn"])
def test_every_document_that_a_plan_names_is_reached_also_beside_a_screened_one(field: str, tmp_path: Path) -> None:
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = "a@example.org", "b@example.org", "Klage"
    message.set_content("Hei")
    message.add_attachment(b"x", "application", "octet-stream", filename="legeerklaering.bin")
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "klage.eml").write_bytes(bytes(message))
    noarkit.plan(tmp_path / "files", tmp_path / "run", hash_contents=True)
    (tmp_path / "run" / "graph.db").chmod(0o600)
    with closing(sqlite3.connect(tmp_path / "run" / "graph.db")) as db, db:
        screening = "UPDATE entity SET fields = json_set(fields, ?, ?) WHERE type = 'Dokument' AND fields LIKE '%lege%'"
        db.execute(screening, (f"$.{field}", "true"))
    facts = plan_facts(RunFolder(tmp_path / "run"), Context())
    assert "lege" not in str(facts["examples"])
    assert any(row["screened"] for row in facts["screening"]["types"])  # type: ignore[index]  # plain JSON
    with open_room(RunPlace(tmp_path / "run", lambda: FileTree(tmp_path / "files")), tmp_path / "run.db") as room:
        cookie = enter(room)
        page = html.fromstring(ask(room.url, "/plan", cookie=cookie).body)
        links = [link for line in page.iterfind(".//p[@class='file-line']") for link in line.iterfind("a")]
        assert [link.text for link in links] == ["klage.eml", MASK] and "lege" not in html.tostring(page).decode()
        replies = [ask(room.url, str(link.get("href")), cookie=cookie) for link in links]
    assert [reply.status for reply in replies] == [200, 200]
    assert sorted("reason" in reply.body for reply in replies) == [False, True]


class Linked(Town):
    """The town, and a letter that refers to something screened."""

    def items(self, emit: Listener) -> Iterator[Item]:
        """All of the town first."""
        yield from super().items(emit)
        yield Item("pointer", None, "Journalpost", "Viser til", links=(("referanseTil", "secret-letter"),))


def test_programs_get_aliases_for_screened_documents_and_ends_of_links(tmp_path: Path) -> None:
    path, place = tmp_path / "linked.db", Linked(2)
    write_catalogue(path, place.identity, place.items(ignore_event))
    with Catalogue(path, place) as catalogue:
        letter, pointer = (noarkit.show(catalogue, name).to_dict() for name in ("secret-letter", "pointer"))
    assert [file["ref"] for file in letter["files"]] == [f"~{veil_of('secret-doc')}"]  # type: ignore[attr-defined]  # JSON
    assert [link["ref"] for link in pointer["links"]] == [f"~{veil_of('secret-letter')}"]  # type: ignore[attr-defined]  # the same
