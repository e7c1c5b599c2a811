"""A static copy holds the same pages as files: whole or not at all, masked, bounded, and searched without a server."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from noarkit.catalogue.catalogue import Catalogue
from noarkit.catalogue.store import write_catalogue
from noarkit.errors import UsageFault
from noarkit.events import ignore_event
from noarkit.reading_room.static import index
from noarkit.reading_room.static.documents import safe_name
from noarkit.reading_room.static.writer import MANIFEST, StaticCopy, write_static_copy
from tests.browser import SERIOUS, Browser, Page
from tests.reading_room.town import HOSTILE, LETTER, NUMBER, Town


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> StaticCopy:
    """A copy of the town with its documents."""
    folder = tmp_path_factory.mktemp("copy")
    return _write(folder, Town(), with_documents=True)


def _write(folder: Path, town: Town, *, with_documents: bool = False) -> StaticCopy:
    path = folder / "town.db"
    write_catalogue(path, town.identity, town.items(ignore_event))
    with Catalogue(path, town) as catalogue:
        return write_static_copy(catalogue, folder / "copy", lang="en", with_documents=with_documents)


@pytest.fixture(scope="module")
def reader(browser: Browser) -> Iterator[Page]:
    """A browser that opens files."""
    with browser.new_page() as page:
        yield page
        assert page.outside_requests() == []
        assert page.console == ()


def all_text(copy: StaticCopy) -> str:
    """Everything that is written in the pages and in the index."""
    files = [path for path in copy.path.rglob("*") if path.suffix in (".html", ".js") and "files" not in path.parts]
    assert len(files) > 280
    return "\n".join(path.read_text("utf-8") for path in files)


def test_another_program_finds_every_file_as_the_manifest_has_it(copy: StaticCopy) -> None:
    subprocess.run(["sha256sum", "--check", "--quiet", "--strict", MANIFEST], cwd=copy.path, check=True)
    listed = {line.split("  ", 1)[1] for line in (copy.path / MANIFEST).read_text("utf-8").splitlines()}
    files = {str(path.relative_to(copy.path)) for path in copy.path.rglob("*") if path.is_file()}
    assert files - listed == {MANIFEST}
    assert copy.files == len(files)


def test_nothing_screened_is_in_it_and_the_front_page_says_so(copy: StaticCopy) -> None:
    text = all_text(copy)
    assert "Barnevern" not in text and "Ola Nordmann" not in text and "ola-nordmann" not in text and NUMBER not in text
    assert "barnevern" not in text and "Byggesak 7" in text
    assert "What is screened is masked in this copy" in (copy.path / "index.html").read_text("utf-8")
    assert not any("ola" in path.name for path in (copy.path / "files").rglob("*"))


def test_where_the_place_lay_is_not_told(copy: StaticCopy) -> None:
    assert "/data/lillevik" not in all_text(copy)


def test_every_link_leads_to_a_file_of_the_copy(copy: StaticCopy) -> None:
    seen = set()
    for page in copy.path.rglob("*.html"):
        for address in re.findall(r'(?:href|src)="([^"#]+)', page.read_text("utf-8")):
            assert "://" not in address and not address.startswith("/"), (page, address)
            seen.add((page.parent / address).resolve())
    assert seen and [path for path in seen if not path.is_file()] == []


def test_no_folder_holds_too_much(tmp_path: Path) -> None:
    copy = _write(tmp_path, Town(1_200))
    folders = [path for path in copy.path.rglob("*") if path.is_dir()]
    assert max(len(list(folder.iterdir())) for folder in folders) < 2_200
    assert {folder.name for folder in (copy.path / "items").iterdir()} == {"0", "1"}


def test_documents_are_copied_as_they_are_under_names_that_nothing_runs(copy: StaticCopy) -> None:
    names = {path.name for path in (copy.path / "files").rglob("*") if path.is_file()}
    assert "1-svar_til_naboen.pdf" in names
    assert [path.read_bytes() for path in (copy.path / "files").rglob("1-svar*")] == [LETTER]
    assert {Path(name).suffix for name in names} == {".pdf", ".txt", ".bin"}
    assert (copy.documents.copied, copy.documents.lost, copy.documents.differing) == (3, 0, 0)
    assert copy.without_text == 0


@pytest.mark.parametrize(
    ("name", "safe"),
    [
        ("a.html", "a_html.bin"),
        ("page.pdf.html", "page_pdf_html.bin"),
        ("x.HTML.pdf", "x_HTML.pdf"),
        ("../../etc/passwd", "passwd.bin"),
        ("..\\..\\evil.svg", "evil_svg.bin"),
        ("søknad nr 1.PDF", "søknad_nr_1.pdf"),
        ("", "document.bin"),
        (HOSTILE, "x_gnp_exe.bin"),
    ],
)
def test_a_name_of_a_copy_is_harmless(name: str, safe: str) -> None:
    assert safe_name(name) == safe


def test_documents_that_cannot_be_opened_and_those_that_differ_are_counted(tmp_path: Path) -> None:
    town = Town(1)
    town.contents = {"letter": b"changed", "note": town.contents["note"]}
    copy = _write(tmp_path, town, with_documents=True)
    assert (copy.documents.copied, copy.documents.lost, copy.documents.differing) == (1, 1, 1)
    assert copy.without_text == 0


def test_documents_without_any_text_are_counted(tmp_path: Path) -> None:
    town = Town(1)
    town.contents = {**town.contents, "letter": bytes(range(256)) * 8}
    town.letter_sha256 = sha256(town.contents["letter"]).hexdigest()
    assert _write(tmp_path, town, with_documents=True).without_text == 1


def test_what_stands_there_is_never_replaced(tmp_path: Path) -> None:
    (tmp_path / "copy").mkdir()
    with pytest.raises(UsageFault):
        _write(tmp_path, Town(1))
    assert list((tmp_path / "copy").iterdir()) == []


def test_a_copy_that_breaks_off_leaves_nothing(tmp_path: Path) -> None:
    town = Town(3)
    town.identity = Town(3).identity
    path = tmp_path / "town.db"
    write_catalogue(path, town.identity, town.items(ignore_event))

    def break_off(event: object) -> None:
        raise KeyboardInterrupt

    with Catalogue(path, town) as catalogue, pytest.raises(KeyboardInterrupt):
        write_static_copy(catalogue, tmp_path / "copy", lang="en", emit=break_off)
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["town.db"]


def test_the_same_place_gives_the_same_bytes(tmp_path: Path, copy: StaticCopy) -> None:
    other = _write(tmp_path, Town(), with_documents=True)
    assert (other.path / MANIFEST).read_bytes() == (copy.path / MANIFEST).read_bytes()


# --- from a disk, in a browser


def test_a_copy_is_read_from_a_disk(reader: Page, copy: StaticCopy) -> None:
    reader.goto(copy.path / "index.html")
    with reader.navigation():
        reader.click(".tree a")
    with reader.navigation():
        reader.click(".entries a")
    assert reader.text("h1") == "Sakarkiv 1998–2011"
    with reader.navigation():
        reader.click(".pager [rel=next]")
    assert reader.texts(".entries .ident")[0] == "2003/101"
    with reader.navigation():
        reader.click(".pager [rel=next]")
    with reader.navigation():
        reader.evaluate("[...document.querySelectorAll('.entries a')].at(-3).click()")
    assert reader.text("h1") == "Vei til vannet"


def _search(reader: Page, query: str) -> None:
    """Searches, and waits until the hits are there."""
    reader.type("#q", query)
    reader.press("Enter")
    reader.wait_for(f"document.getElementById('total').dataset.query === {json.dumps(query)}")


def test_a_copy_is_searched_from_a_disk(reader: Page, copy: StaticCopy) -> None:
    reader.goto(copy.path / "search.html")
    for query, total, first in (
        ("gravemaskin", "1 hit", "2011/1042-3 Svar til naboen"),
        ("utsatt", "1 hit", "2011/1042-3 Svar til naboen"),  # it stands in a document alone
        ("bygg", "250 hits", "1998/1 Byggesak 1"),
        ("BYGGESAK 2011 xyz", "No hits", None),
        ("naboen svar", "1 hit", "2011/1042-3 Svar til naboen"),
        ("Nordmann", "1 hit", "2011/1042-3 Svar til naboen"),
        ("barnevern", "No hits", None),
    ):
        _search(reader, query)
        assert reader.text("#total") == total, query
        assert next(iter(reader.texts("#hits a")), None) == first, query
    _search(reader, "gravemaskin")
    with reader.navigation():
        reader.click("#hits a")
    assert reader.text("h1") == "Svar til naboen"


def test_hits_are_narrowed_down_by_type_and_year_and_the_address_keeps_it(reader: Page, copy: StaticCopy) -> None:
    reader.goto(copy.path / "search.html")
    _search(reader, "b")
    assert reader.texts("#type option")[0] == "All" and any("(250)" in each for each in _choices(reader, "type"))
    years = _choices(reader, "year")
    assert len(years) > 10 and years[1].startswith("1998 (")
    count = int(years[1].removeprefix("1998 (").removesuffix(")"))
    _choose(reader, "year", "1998", "b & 1998")
    assert reader.text("#total") == f"{count} hits"
    assert sum(int(each.split("(")[-1].strip(")")) for each in _choices(reader, "type")[1:]) == count
    assert reader.evaluate("location.hash") == "#b&&1998"
    reader.goto("about:blank")
    reader.goto((copy.path / "search.html").as_uri() + "#b&&1998")
    reader.wait_for("document.getElementById('total').dataset.query === 'b & 1998'")
    assert reader.text("#total") == f"{count} hits"
    _choose(reader, "year", "", "b")
    assert _choices(reader, "year") == years


def _choices(reader: Page, name: str) -> list[str]:
    """What can be chosen."""
    return list(reader.texts(f"#{name} option"))


def _choose(reader: Page, name: str, value: str, query: str) -> None:
    """Chooses as a person does, and waits for what was asked."""
    reader.evaluate(
        f"(e => {{ e.value = {json.dumps(value)}; e.dispatchEvent(new Event('change', {{bubbles: true}})) }})"
        f"(document.getElementById('{name}'))"
    )
    reader.wait_for(f"document.getElementById('total').dataset.query === {json.dumps(query)}")


def test_facets_of_every_item_are_in_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index, "FACETS_IN_A_PIECE", 100)
    copy = _write(tmp_path, Town())
    pieces = sorted((copy.path / "search").glob("facets-*.js"))
    runs = [_data(path)[1] for path in pieces]
    counts = [sum(count for _, _, count in piece) for piece in runs]
    assert len(counts) > 2 and set(counts[:-1]) == {100}
    names = list(_data(copy.path / "search" / "index.js")[0]["types"])
    told = [(names[at], year) for piece in runs for at, year, count in piece for _ in range(count)]
    items = [item for item in Town().items(ignore_event)]
    assert sorted(told) == sorted((item.type, int(item.day[:4] or 0)) for item in items)
    shown = [item for path in sorted((copy.path / "search").glob("items-*.js")) for item in _data(path)[1]]
    assert [name for name, _ in told] == [item[2] for item in shown]
    assert [str(year) if year else "" for _, year in told] == [item[3][-4:] for item in shown]


def _data(path: Path) -> list[Any]:
    """What a piece of the index delivers: its number, where it has one, and its data."""
    text = path.read_text("utf-8")
    data: list[Any] = json.loads(f"[{text[text.index('(') + 1 : text.rindex(')')]}]")
    return data


def test_the_journal_of_a_copy_is_leafed_through(reader: Page, copy: StaticCopy) -> None:
    reader.goto(copy.path / "journal" / "index.html")
    with reader.navigation():
        reader.click(".day-list a")
    assert "Svar til naboen" in reader.text(".posts")
    with reader.navigation():
        reader.click(".days [rel=next]")
    assert "Klage fra naboen" in reader.text(".posts")


def test_no_page_of_a_copy_shuts_anybody_out_or_scrolls_sideways(reader: Page, copy: StaticCopy) -> None:
    faults = {}
    for path in ("index.html", "search.html", "help.html", "items/0/2.html", "items/0/254.html", "journal/index.html"):
        for width in (1280, 375):
            reader.set_viewport(width, 800)
            reader.goto(copy.path / path)
            found = [violation.rule for violation in reader.axe(*SERIOUS)] + reader.sideways()
            if found:
                faults[path, width] = found
    assert faults == {}
