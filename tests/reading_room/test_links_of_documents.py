"""Whatever a document's page leads to is there: its next page, its other views, its sheets, what hangs on it."""

from __future__ import annotations

import html
import re
from pathlib import Path

import noarkit
from tests.copies.corpus import office
from tests.copies.corpus.mail import mail
from tests.reading_room.conftest import serve_catalogue
from tests.reading_room.wire import ask, enter

DOCUMENTS = {
    "brev.docx": office.docx("Vedtak", comment="En merknad"),
    "ark.xlsx": office.xlsx([["a", "1"], ["b", "2"]], hidden_sheet="skjult"),
    "post.eml": mail("Søknad", "Hei", attachments=(("plan.txt", "text/plain", b"planen"),)),
    "tekst.txt": "\n".join(f"Linje {number}" for number in range(2_000)).encode(),
    "side.html": b"<html><h1>Vedtak</h1></html>",
}


def test_every_link_within_a_document_of_a_folder_leads_somewhere(tmp_path: Path) -> None:
    """The files of a folder are named by people, so that their addresses are veiled: a query of their own."""
    (tmp_path / "share").mkdir()
    for name, content in DOCUMENTS.items():
        (tmp_path / "share" / name).write_bytes(content)
    followed: list[str] = []
    with noarkit.open_catalogue(tmp_path / "share") as catalogue, serve_catalogue(catalogue) as room:
        cookie = enter(room)
        cards = [
            ask(room.url, path, cookie=cookie).body for path in _links(ask(room.url, "/", cookie=cookie).body, "item")
        ]
        for start in sorted({link for card in cards for link in _links(card, "document")}):
            page = ask(room.url, start, cookie=cookie)
            assert page.status == 200
            for link in _links(page.body, "document"):
                if link != start:
                    answer = ask(room.url, link, cookie=cookie)
                    assert answer.status == 200, link
                    followed.append(link)
    for part in ("page=2", "as=all", "as=source", "sheet=2", "part=1"):
        assert any(part in link for link in followed), (part, followed)


def _links(page: str, kind: str) -> list[str]:
    return [html.unescape(link) for link in re.findall(rf'href="(/{kind}/[^"]+)"', page)]
