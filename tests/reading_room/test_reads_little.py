"""The page of a document reads documents, not all of the item that they belong to, to which a million may refer."""

from __future__ import annotations

from pathlib import Path

from noarkit.catalogue.catalogue import Catalogue
from noarkit.catalogue.store import write_catalogue
from noarkit.events import ignore_event
from noarkit.reading_room.facts import document_facts, item_facts
from noarkit.reading_room.links import Span
from noarkit.reading_room.looks import Looks
from tests.reading_room.town import Town


def test_the_page_of_a_document_reads_no_links_and_no_changes(tmp_path: Path) -> None:
    town = Town()
    write_catalogue(tmp_path / "town.db", town.identity, town.items(ignore_event))
    statements: list[str] = []

    def asked_for(*tables: str) -> list[str]:
        return [text for text in statements if any(f"FROM {table} " in text for table in tables)]

    with Catalogue(tmp_path / "town.db", town) as catalogue:
        looks = Looks(catalogue)
        document, entry = looks.document("note")
        catalogue._db.set_trace_callback(statements.append)
        document_facts(looks, document, entry, looks.ancestors(entry.ref))
        looks.other_versions(document, entry)
        assert asked_for("document") and not asked_for("link", "change")
        item_facts(looks, entry.ref, Span())
        assert asked_for("link") and asked_for("change"), "what is looked for would be seen"
