"""Views in a real browser: every kind is seen, fits a narrow screen, and passes axe in both colours."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from noarkit.reading_room.viewers.port import View, ViewRequest
from noarkit.reading_room.viewers.viewer import Viewer
from tests.browser import SERIOUS, Page, Scheme
from tests.copies.corpus import odf, office
from tests.copies.corpus.images import encoded, frames, wav
from tests.copies.corpus.mail import mail
from tests.copies.corpus.pdf import pdf, with_script
from tests.copies.corpus.zips import pack
from tests.reading_room.viewers.rooms import source_of
from tests.reading_room.viewers.serving import Origins, serve_views

_LONG = "Et langt ord: " + "menneskerettighetsorganisasjonsmedlem" * 5
KINDS = {
    "brev.txt": ("Hei \u202e\x1b[31m\n" + _LONG + "\n").encode() * 400,
    "tall.csv": "navn;beløp;merknad\nKari;12;\nOla;13;ja\n".encode(),
    "ark.xlsx": office.xlsx([["a", "=1+0"], ["b", "2"]], hidden_sheet="skjult"),
    "brev.docx": office.docx("Vedtak", office.table([["Rom", "Areal"], ["Bod", "15"]]), _LONG, comment="x"),
    "lysark.odp": odf.odp(["Første", "Andre"], notes="husk"),
    "post.eml": mail("Søknad", _LONG, attachments=(("vedtak.pdf", "application/pdf", pdf(["x"])),)),
    "pakke.zip": pack({"mappe/en.txt": "en", "to.txt": "to"}),
    "side.html": b"<html><h1>Vedtak</h1><p>Se <a href='https://a.example'>her</a></p></html>",
    "bilde.png": encoded("PNG"),
    "skann.tif": frames("TIFF", 3),
    "skript.pdf": pdf(["Vedtak", "to"], with_script),
    "lyd.wav": wav(),
    "ukjent.bin": bytes(range(256)),
}


@pytest.fixture(scope="module")
def origins(viewer: Viewer) -> Iterator[Origins]:
    """The kinds, served."""

    def view_of(name: str, request: ViewRequest) -> View:
        return viewer.view(source_of(KINDS[name], name), request)

    with serve_views(viewer.tickets, view_of) as served:
        yield served


@pytest.mark.parametrize("name", KINDS)
def test_a_kind_is_seen_fits_every_screen_and_passes_axe(name: str, origins: Origins, page: Page) -> None:
    looks: list[tuple[int, Scheme]] = [(1280, "light"), (375, "dark")]
    page.goto(f"{origins.pages}/document/{name}")
    for width, scheme in looks:
        page.set_viewport(width)
        page.set_scheme(scheme)
        assert page.sideways() == [], (width, scheme)
        assert page.axe(*SERIOUS) == [], (width, scheme)
    assert page.outside_requests(origins.pages, origins.contents) == []
    assert page.console == ()
    if page.count(".viewer-picture img"):
        page.wait_for("[...document.querySelectorAll('.viewer-picture img')].every(one => one.naturalWidth > 0)")
    if page.count("audio"):
        page.wait_for("document.querySelector('audio').readyState > 0")


def test_pages_parts_and_ways_are_reached_by_links(origins: Origins, page: Page) -> None:
    page.goto(f"{origins.pages}/document/brev.txt")
    with page.navigation():
        page.click("a[rel=next]")
    assert page.url.endswith("/document/brev.txt?page=2")
    assert page.evaluate("document.querySelector('.viewer-lines li').value") == 501
    page.goto(f"{origins.pages}/document/post.eml")
    with page.navigation():
        page.click(".viewer-attachments a")
    assert "part=1" in page.url
    assert page.count("iframe") == 1
    with page.navigation():
        page.click(".viewer-trail a")
    assert page.url.endswith("/document/post.eml")
    page.goto(f"{origins.pages}/document/side.html?as=source")
    assert "<h1>Vedtak</h1>" in page.text(".viewer-lines")


def test_a_document_is_saved_under_its_own_name_and_never_opened(origins: Origins, page: Page) -> None:
    page.goto(f"{origins.pages}/document/side.html")
    before = page.url
    page.click(".viewer-download a")
    assert page.url == before
