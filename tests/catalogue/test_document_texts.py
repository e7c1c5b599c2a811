"""The text of documents is read once, whatever their kind, kept beside the catalogue, and found with its context."""

from __future__ import annotations

import sqlite3
import stat
import subprocess
import sys
import threading
import time
import zlib
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from noarkit.catalogue.catalogue import Catalogue
from noarkit.catalogue.search import SearchQuery
from noarkit.catalogue.text.collecting import ReadingOptions, collect_texts
from noarkit.catalogue.text.texts import texts_path
from noarkit.errors import RunLocked
from noarkit.events import Event
from samples.files.outlook import message
from tests.catalogue.shelves import Shelf, catalogue_of
from tests.copies.corpus.mail import mail
from tests.copies.corpus.odf import odp, ods, odt, paragraph
from tests.copies.corpus.office import deleted, docx, pptx, xlsx
from tests.copies.corpus.office import paragraph as wordparagraph
from tests.copies.corpus.pdf import pdf
from tests.waiting import PATIENCE_S

SENDER, SENT = ("Kari Nordmann", "kari@kommune.example"), datetime(2026, 1, 2, 10, tzinfo=UTC)
KINDS = {
    "brev.pdf": pdf(["Side en", "Gravemaskin paa side to"]),
    "brev.docx": docx("Vedtak om gravemaskin"),
    "ark.xlsx": xlsx([["Maskin", "Pris"], ["gravemaskin", "1200"]]),
    "foiler.pptx": pptx(["Plan for gravemaskin"]),
    "brev.odt": odt(paragraph("Søknad om gravemaskin")),
    "ark.ods": ods([["Maskin"], ["gravemaskin"]]),
    "foiler.odp": odp(["gravemaskin igjen"]),
    "brev.rtf": rb"{\rtf1\ansi Leie av gravemaskin\par}",
    "side.html": b"<html><head><script>skjult()</script></head><body>Ny <b>grave</b>maskin</body></html>",
    "notat.txt": "Blåbær og gravemaskin".encode("cp1252"),
    "utf16.txt": "Kjøp av gravemaskin".encode("utf-16"),
    "liste.csv": b"navn;pris\ngravemaskin;1200\n",
    "post.eml": mail(
        "Tilbud", "Se vedlegg", attachments=(("tilbud.docx", "application/octet-stream", docx("gravemaskin")),)
    ),
    "melding.msg": message("Tilbud", SENDER, (), SENT, "Leie av gravemaskin", (("a.txt", "text/plain", b"x"),)),
}


def read(catalogue: Catalogue, **options: object) -> dict[str, object]:
    """Reads what is not read yet, by one child."""
    counts = collect_texts(catalogue.path, catalogue.place, options=ReadingOptions(children=1, **options))  # type: ignore[arg-type]  # as named
    return {
        "documents": counts.documents,
        "copies": counts.copies,
        "missing": counts.missing,
        "without": counts.without,
    }


@pytest.fixture(scope="module")
def kinds(tmp_path_factory: pytest.TempPathFactory) -> Catalogue:
    """The catalogue of a document of every kind, all of them read."""
    catalogue = catalogue_of(Shelf(KINDS), tmp_path_factory.mktemp("kinds"))
    assert read(catalogue) == {"documents": len(KINDS), "copies": 0, "missing": 0, "without": {}}
    return catalogue


@pytest.mark.parametrize("name", KINDS)
def test_the_text_of_every_kind_of_document_is_read(kinds: Catalogue, name: str) -> None:
    text = kinds.document_text(f"{name}#1")
    assert text is not None and text.reason == ""
    assert "gravemaskin" in text.text.lower()


def test_a_word_in_a_document_finds_its_item_with_the_words_around_it(kinds: Catalogue) -> None:
    page = kinds.search(SearchQuery("gravemaskin", scope="documents"))
    assert {hit.entry.ref for hit in page.hits} == set(KINDS)
    hit = next(hit for hit in page.hits if hit.entry.ref == "notat.txt")
    assert hit.documents == ("notat.txt#1",)
    (context,) = hit.contexts
    assert (context.source, context.text, context.marks) == ("notat.txt#1", "Blåbær og gravemaskin", ((10, 21),))


def test_a_word_may_stand_on_the_card_or_in_a_document(kinds: Catalogue) -> None:
    assert kinds.search(SearchQuery("blåbær", scope="metadata")).total.number == 0
    assert kinds.search(SearchQuery("blåbær")).total.number == 1
    assert kinds.search(SearchQuery("Lillevik", scope="documents")).total.number == 0
    assert kinds.search(SearchQuery("Lillevik")).total.number == 1


def test_a_hit_says_that_its_word_stands_in_deleted_text_or_a_comment(tmp_path: Path) -> None:
    letter = docx(wordparagraph("Vedtak ", deleted("avslag")), comment="kommentert", header="topptekst")
    catalogue = catalogue_of(Shelf({"brev.docx": letter}), tmp_path)
    read(catalogue)

    def layers(word: str) -> list[str]:
        return [context.layer for hit in catalogue.search(SearchQuery(word)).hits for context in hit.contexts]

    hits = {word: layers(word) for word in ("vedtak", "avslag", "kommentert", "topptekst")}
    assert hits == {"vedtak": ["body"], "avslag": ["deleted"], "kommentert": ["comment"], "topptekst": ["header"]}


def test_texts_that_were_read_before_layers_were_known_are_read_again_once(tmp_path: Path) -> None:
    catalogue = catalogue_of(Shelf({"brev.docx": docx(deleted("avslag"))}), tmp_path)
    read(catalogue)
    with closing(sqlite3.connect(texts_path(catalogue.path))) as db, db:
        db.execute("UPDATE meta SET value = '3' WHERE name = 'format'")
        db.execute("ALTER TABLE text DROP COLUMN stretches")
    assert read(catalogue_of(Shelf({"brev.docx": docx(deleted("avslag"))}), tmp_path))["documents"] == 1
    assert read(catalogue)["documents"] == 0


def test_filters_hold_for_documents_too(kinds: Catalogue) -> None:
    page = kinds.search(SearchQuery("gravemaskin format:pdf"))
    assert [hit.entry.ref for hit in page.hits] == ["brev.pdf"]
    assert kinds.search(SearchQuery("gravemaskin type:Arkiv")).total.number == 0
    assert kinds.search(SearchQuery("gravemaskin -format:pdf")).total.number == len(KINDS) - 1


def test_what_a_page_runs_is_no_text_of_it(kinds: Catalogue) -> None:
    assert kinds.search(SearchQuery("skjult")).total.number == 0


def test_nothing_is_read_twice_and_copies_share_their_text(tmp_path: Path) -> None:
    shelf = Shelf({"a.txt": b"Samme brev", "b.txt": b"Samme brev", "c.txt": b"Et annet"})
    catalogue = catalogue_of(shelf, tmp_path)
    assert catalogue.unread_documents() == 3
    assert read(catalogue) == {"documents": 2, "copies": 1, "missing": 0, "without": {}}
    assert catalogue.unread_documents() == 0
    shelf.opened.clear()
    shelf.version = "2"
    again = catalogue_of(shelf, tmp_path)
    assert read(again) == {"documents": 0, "copies": 0, "missing": 0, "without": {}}
    assert shelf.opened == []
    assert {hit.entry.ref for hit in again.search(SearchQuery("samme")).hits} == {"a.txt", "b.txt"}


def test_a_document_whose_checksum_is_known_to_be_read_is_not_opened(tmp_path: Path) -> None:
    from hashlib import sha256

    checksum = sha256(b"Samme brev").hexdigest()
    shelf = Shelf({"a.txt": b"Samme brev", "b.txt": b"Samme brev"}, checksums={"a.txt": checksum, "b.txt": checksum})
    catalogue = catalogue_of(shelf, tmp_path)
    assert read(catalogue)["copies"] == 1
    assert shelf.opened == ["a.txt"]


def test_a_document_that_has_changed_is_read_again(tmp_path: Path) -> None:
    catalogue = catalogue_of(Shelf({"a.txt": b"Gammel tekst"}), tmp_path)
    read(catalogue)
    again = catalogue_of(Shelf({"a.txt": b"Nyere innhold"}, version="2"), tmp_path)
    assert again.unread_documents() == 1
    read(again)
    assert [again.search(SearchQuery(word)).total.number for word in ("gammel", "nyere")] == [0, 1]


def test_a_document_that_is_gone_is_missing_and_asked_for_again(tmp_path: Path) -> None:
    catalogue = catalogue_of(Shelf({"a.txt": None, "b.txt": b"Her"}), tmp_path)
    assert read(catalogue) == {"documents": 1, "copies": 0, "missing": 1, "without": {}}
    assert catalogue.unread_documents() == 1


def test_the_text_of_a_screened_item_is_neither_found_nor_shown(tmp_path: Path) -> None:
    same = b"Hemmelig adresse"
    catalogue = catalogue_of(Shelf({"a.txt": same, "b.txt": b"Adresse"}, frozenset({"a.txt"})), tmp_path)
    read(catalogue)
    for text in ("hemmelig", "hemm*", "adresse"):
        for scope in ("both", "documents"):
            page = catalogue.search(SearchQuery(text, scope=scope))
            assert [hit.entry.ref for hit in page.hits] == (["b.txt"] if text == "adresse" else [])
    kept = catalogue.document_text("a.txt#1")
    assert kept is not None and (kept.text, kept.reason) == ("", "screened")


def test_identity_numbers_are_masked_in_texts(tmp_path: Path) -> None:
    catalogue = catalogue_of(Shelf({"a.txt": b"Kari, 01010750160, bor her"}), tmp_path)
    read(catalogue)
    (hit,) = catalogue.search(SearchQuery("kari")).hits
    assert "50160" not in repr(hit) and "bor her" in repr(hit)
    text = catalogue.document_text("a.txt#1")
    assert text is not None and "50160" not in text.text


def test_an_identity_number_is_not_found_in_texts_digit_by_digit_not_even_in_an_index_of_before(tmp_path: Path) -> None:
    catalogue = catalogue_of(Shelf({"a.txt": b"Gjelder 01018000055 og sak 20110042."}), tmp_path)
    read(catalogue)
    assert [catalogue.search(SearchQuery(word)).total.number for word in ("0101800*", "20110042")] == [0, 1]
    with closing(sqlite3.connect(texts_path(catalogue.path))) as db, db:  # as the first format had it
        (packed,) = db.execute("SELECT packed FROM text").fetchone()
        db.execute("DROP TABLE spoken")
        db.execute(
            "CREATE VIRTUAL TABLE spoken USING fts5 (body, content='', tokenize=\"unicode61 remove_diacritics 0\")"
        )
        db.execute("INSERT INTO spoken (rowid, body) SELECT n, ? FROM text", (zlib.decompress(packed).decode(),))
        db.execute("UPDATE meta SET value = '1' WHERE name = 'format'")
    again = catalogue_of(Shelf({"a.txt": b"Gjelder 01018000055 og sak 20110042."}, version="2"), tmp_path)
    read(again)
    assert [again.search(SearchQuery(word)).total.number for word in ("0101800*", "20110042")] == [0, 1]


def test_the_texts_are_their_owners_alone_and_lie_beside_the_catalogue(tmp_path: Path) -> None:
    catalogue = catalogue_of(Shelf({"a.txt": b"Her"}), tmp_path)
    read(catalogue)
    assert stat.S_IMODE(texts_path(catalogue.path).stat().st_mode) == 0o600
    assert texts_path(catalogue.path).parent == catalogue.path.parent


def test_two_do_not_read_the_same_documents_at_once(tmp_path: Path) -> None:
    catalogue = catalogue_of(Shelf({"a.txt": b"Her"}), tmp_path)
    seen: list[str] = []

    def read_meanwhile(event: Event) -> None:
        if not seen:
            seen.append(event.name)
            with pytest.raises(RunLocked):
                collect_texts(catalogue.path, catalogue.place)

    collect_texts(catalogue.path, catalogue.place, read_meanwhile, ReadingOptions(children=1))
    assert seen == ["reading_documents"]


_LONG_READING = """
import sys
import threading
from pathlib import Path
from noarkit.catalogue.text.collecting import ReadingOptions, collect_texts
from tests.catalogue.shelves import Shelf, catalogue_of

shelf = Shelf({f"{n}.txt": f"ord{n} felles".encode() for n in range(4000)})
catalogue = catalogue_of(shelf, Path(sys.argv[1]))
print("begun", flush=True)

def tell(event):
    print(event.data["documents"], flush=True)

collect_texts(catalogue.path, shelf, tell, ReadingOptions(children=1))
"""


def test_a_killed_reading_goes_on_behind_what_was_committed(tmp_path: Path) -> None:
    process = subprocess.Popen([sys.executable, "-c", _LONG_READING, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert any(line.strip().isdigit() and int(line) > 0 for line in process.stdout)
    process.kill()
    process.wait()
    process.stdout.close()
    shelf = Shelf({f"{n}.txt": f"ord{n} felles".encode() for n in range(4000)})
    catalogue = catalogue_of(shelf, tmp_path)
    unread = catalogue.unread_documents()
    assert 0 < unread < 4000
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        try:
            assert read(catalogue)["documents"] == unread
            break
        except RunLocked:  # the lock goes with the last child of the one that was killed
            time.sleep(0.05)
    assert catalogue.search(SearchQuery("ord3999")).total.number == 1
    assert catalogue.search(SearchQuery("felles")).total.number == 4000


def test_several_first_searches_at_once_all_find(kinds: Catalogue) -> None:
    for _ in range(5):
        with Catalogue(kinds.path, kinds.place) as catalogue, ThreadPoolExecutor(8) as threads:
            start = threading.Barrier(8)

            def search(_: int, catalogue: Catalogue = catalogue, start: threading.Barrier = start) -> int:
                start.wait()
                return len(catalogue.search(SearchQuery("gravemaskin")).hits)

            assert len(set(threads.map(search, range(8)))) == 1
