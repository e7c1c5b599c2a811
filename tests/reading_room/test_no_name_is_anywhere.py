"""Names of people stand in a source wherever they can, and every output is searched for each of them.

The source is planned, loaded, verified, planned again when the archive has it, and extracted; the extract is planned
and loaded into another archive; and a database is planned. Each record that holds a name is screened, or was to be:
some are loaded, some set aside, some left out by a rule, some already there.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from html import unescape
from pathlib import Path
from queue import Queue
from threading import Event, Thread
from urllib.parse import unquote

import orjson
import pytest

import noarkit
from noarkit.api.browsing import open_catalogue
from noarkit.api.searching import write_search_csv
from noarkit.catalogue.search import SearchQuery
from noarkit.cli.main import main
from noarkit.loading.folder import RunFolder
from noarkit.loading.numbers import numbers
from noarkit.reading_room.serve import OpenRoom, serve_room
from noarkit.reading_room.static.writer import write_static_copy
from tests.reading_room.wire import ask, enter
from tests.waiting import PATIENCE_S

RECIPE = """
[source]
kind = "files"

[target]
external_system = "barnevern"
model = 3
arkivskaper = { fields = { arkivskaperIdent = "1", arkivskaperNavn = "Lillevik" } }
arkiv = { fields = { tittel = "Lillevik" } }
arkivdel = { fields = { tittel = "Barn" } }

[[target.classification]]
name = "emne"
fields = { tittel = "Emne" }
classes = [{ ident = "0", title = "Uten klasse" }]

[defaults.Saksmappe]
administrativEnhet = "ADM"
saksansvarlig = "Anne Berg"
tittel = "Veier"

[codes.who]
closed = "UO13"

[[skip]]
when = "= 'Kladd' in record.name"
reason = "= 'a draft about ' ~ record.stem"

[[map]]
for = "file"
when = "= record.folders[0] == 'open'"
type = "Basisregistrering"
fields = { tittel = "= record.stem" }
[[map.parties]]
fields = { korrespondanseparttype = "EA", korrespondansepartNavn = "Sigvardine Moe", skjermEInnsyn = true }
[[map.parents]]
key = "= record.folders[0]"
type = "Saksmappe"
class = "0"

[[map]]
for = "file"
when = "= record.folders[0] == 'post'"
type = "Journalpost"
fields = { tittel = "= record.stem", journalposttype = "X", skjermKorrespondanseParterEInnsyn = true }
[[map.parties]]
fields = { korrespondanseparttype = "EM", korrespondansepartNavn = "Hallgjerd Ness" }
[[map.parents]]
key = "= record.folders[0]"
type = "Saksmappe"
class = "0"

[[map]]
for = "file"
when = "= record.folders[0] == 'part'"
type = "Basisregistrering"
fields = { tittel = "En sak om vei" }
[[map.parents]]
key = "= record.folders[0]"
type = "Saksmappe"
class = "0"
[[map.documents]]
each = "= contents"
screening = "UO13"
fields = { tittel = "= item.name" }

[[map]]
for = "file"
type = "Journalpost"
screening = "= record.folders[0] | code('who')"
fields = { tittel = "= 'Om ' ~ record.stem", offentligTittel = "Om et barn", journalposttype = "X" }
[[map.parents]]
key = "= record.folders[0] ~ '/' ~ record.folders[1]"
type = "Saksmappe"
class = "0"
screening = "UO13"
fields = { tittel = "= 'Sak om ' ~ record.folders[1]" }
[[map.parties]]
fields = { korrespondanseparttype = "EA", korrespondansepartNavn = "= 'Mor til ' ~ record.stem" }
[[map.notes]]
fields = { tekst = "= 'Samtale med ' ~ record.stem" }
"""
DATABASE_RECIPE = f"""
{RECIPE[: RECIPE.index("[[skip]]")].replace('kind = "files"', 'kind = "database"')}
[[map]]
for = "brev"
type = "Journalpost"
screening = "= record.kode | code('who') if record.kode else none"
fields = {{ tittel = "= record.tittel", journalposttype = "X", skjermKorrespondanseParterEInnsyn = "= record.skjult" }}
[[map.parents]]
key = "= 'sak ' ~ record.sak"
type = "Saksmappe"
class = "0"
screening = "= record.kode | code('who') if record.kode else none"
fields = {{ tittel = "= record.sak" }}
[[map.parties]]
fields = {{ korrespondanseparttype = "EA", korrespondansepartNavn = "= record.part" }}
"""
ROWS = """
CREATE TABLE brev (id INTEGER PRIMARY KEY, sak TEXT, tittel TEXT, part TEXT, kode TEXT, skjult BOOLEAN);
INSERT INTO brev VALUES
  (1, 'Torgrimsson', 'Om Ragnhildur Kvalsvik', 'Mor til Fridtjovsen', 'closed', 0),
  (2, 'Veier', 'Veiplan', 'Hallgjerd Ness', NULL, 1),
  (3, 'Torgrimsson', 'Om Aslakssen Brekkehaug', 'Ingeborga Sletten', 'no such code', 0);
"""
LOADED, CASE, PART, ASIDE, SKIPPED, LATER = (
    *("Ragnhildur Kvalsvik", "Torgrimsson", "Ingeborga Sletten", "Aslakssen Brekkehaug", "Oddbjornsen Lie"),
    "Fridtjovsen Nes",
)
NAMES = (LOADED, CASE, PART, ASIDE, SKIPPED, LATER)
WORDS = tuple(name.split()[0].lower() for name in NAMES)
OPEN, HIDDEN = "Veiplan", ("sigvardine", "hallgjerd")


def _write(source: Path, *paths: str) -> None:
    for number, path in enumerate(paths):
        (source / path).parent.mkdir(parents=True, exist_ok=True)
        (source / path).write_text(f"text {len(path)} {number}")


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """Every kind of place that was made of the source, by name."""
    folder = tmp_path_factory.mktemp("names")
    recipe, source, archive = folder / "recipe.toml", folder / "source", f"embedded:{folder / 'archive'}"
    recipe.write_text(RECIPE)
    _write(
        source,
        f"open/{OPEN}.txt",
        "post/Svar.txt",
        f"closed/{CASE}/{LOADED}.txt",
        f"part/{PART}.txt",
        f"unknown/{CASE}/{ASIDE}.txt",
        f"closed/{CASE}/Kladd {SKIPPED}.txt",
    )
    options = {"archive": archive, "workers": 0}
    with closing(sqlite3.connect(folder / "brev.db")) as db:
        db.executescript(ROWS)
    (folder / "of rows.toml").write_text(DATABASE_RECIPE)
    noarkit.plan(folder / "brev.db", folder / "of rows", recipe=folder / "of rows.toml")
    noarkit.plan(source, folder / "first", recipe=recipe, hash_contents=True)
    noarkit.ingest(folder / "first", **options)  # type: ignore[arg-type]  # plain options
    noarkit.verify(folder / "first", depth="bytes")
    _write(source, f"closed/{CASE}/{LATER}.txt")
    noarkit.plan(source, folder / "later", recipe=recipe, since=folder / "first", hash_contents=True)
    noarkit.ingest(folder / "later", **options)  # type: ignore[arg-type]  # the same
    noarkit.plan(source, folder / "again", recipe=recipe)
    noarkit.ingest(folder / "again", **options)  # type: ignore[arg-type]  # the same
    noarkit.verify(folder / "again")
    noarkit.extract(folder / "extract", noarkit.ExtractOptions(), archive=archive)
    noarkit.extract(folder / "aip", noarkit.ExtractOptions(), form="eark-aip", archive=archive)
    noarkit.plan(folder / "extract", folder / "of extract")
    noarkit.ingest(folder / "of extract", archive=f"embedded:{folder / 'other'}", workers=0)
    counts = {name: numbers(RunFolder(folder / name)) for name in ("first", "later", "again")}
    assert [(count.archived, count.already_there) for count in counts.values()] == [(4, 0), (1, 4), (0, 5)]
    names = ("first", "later", "again", "extract", "aip", "of extract", "of rows")
    yield {**{name: str(folder / name) for name in names}, "archive": archive, "other": f"embedded:{folder / 'other'}"}


_ANY_NAME = re.compile("|".join((*WORDS, *HIDDEN)).encode(), re.IGNORECASE)


def _names_in(text: str | bytes) -> set[str]:
    """The names that stand in a text, also as an address or a page may have written it."""
    data = text.encode() if isinstance(text, str) else text
    if b"&#" in data or b"%" in data:
        plain = unescape(data.decode("utf-8", "replace"))
        data = "\n".join((plain, unquote(plain))).encode("utf-8", "replace")
    return {word.decode().lower() for word in _ANY_NAME.findall(data)}


@contextmanager
def _room(place: str) -> Iterator[OpenRoom]:
    rooms: Queue[OpenRoom] = Queue()
    stop = Event()

    def serve() -> None:
        with open_catalogue(place) as catalogue:
            serve_room(catalogue, lang="nb", ready=rooms.put, stop_event=stop)

    thread = Thread(target=serve)
    thread.start()
    try:
        yield rooms.get(timeout=PATIENCE_S)
    finally:
        stop.set()
        thread.join(PATIENCE_S)


KINDS = ("first", "later", "again", "extract", "aip", "of extract", "of rows", "archive", "other")
MOST_DOCUMENTS = 2
"""How many documents of a place are opened: each is read in a process of its own, and their pages are alike."""


@pytest.mark.parametrize("kind", KINDS)
def test_no_page_of_the_room_and_no_address_names_anybody(kind: str, places: dict[str, str]) -> None:
    with _room(places[kind]) as room:
        cookie = enter(room)
        waiting = ["/", "/plan", "/duplicates", "/plan?state=set_aside", "/plan?state=skipped", "/list.csv?in="]
        waiting += [
            "/search?q=nobody",
            "/search?q=om",
            "/list.csv?q=om",
            "/search?screened=yes",
            "/list.csv?screened=yes",
        ]
        seen: set[str] = set()
        documents = 0
        while waiting:
            address = waiting.pop()
            documents += address.startswith("/document/") and address not in seen
            if address in seen or (address.startswith("/document/") and documents > MOST_DOCUMENTS):
                continue
            seen.add(address)
            reply = ask(room.url, address, cookie=cookie)
            assert _names_in(reply.body) == set(), address
            for link in re.findall(r'(?:href|src|action)="(/[^"#]*)', reply.body):
                link = unescape(link)
                assert _names_in(link) == set()
                if not link.startswith(("/assets/", "/logout", "/reveal", "/approve", "/preferences", "/search?")):
                    waiting.append(link)
        assert len(seen) > 15


@pytest.mark.parametrize("kind", KINDS)
def test_no_list_card_hit_or_export_names_anybody(
    kind: str, places: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = places[kind]
    with open_catalogue(place) as catalogue:
        entries = [
            entry for after in range(0, 200, 50) for entry in catalogue.entries(after, 50) if entry.n <= after + 50
        ]
        refs = list(dict.fromkeys(entry.ref for entry in entries))
        for ref in refs:
            shown = orjson.dumps(noarkit.show(catalogue, ref).to_dict()).decode()
            assert _names_in(shown) == set(), ref
            assert not any(_names_in(orjson.dumps(line.to_dict()).decode()) for line in noarkit.ls(catalogue, ref))
        for query in ("", "om", "sak", *WORDS):
            found = noarkit.search(catalogue, query)
            hits = [orjson.dumps(hit.to_dict()).decode() for hit in found.items]
            assert not any(_names_in(hit) for hit in hits), query
            if query in WORDS:
                assert hits == [], query
        write_search_csv(catalogue, SearchQuery("om"), tmp_path / "hits.csv", ())
        assert _names_in((tmp_path / "hits.csv").read_text("utf-8")) == set()
    for words in (("ls", place), ("search", place, "om"), ("search", place, "screened:yes", "--json")):
        assert main([*words], {"HOME": str(tmp_path)}) == 0
        assert _names_in("".join(capsys.readouterr())) == set(), words


@pytest.mark.parametrize("kind", KINDS)
def test_no_file_of_a_static_copy_and_no_name_of_one_names_anybody(
    kind: str, places: dict[str, str], tmp_path: Path
) -> None:
    with open_catalogue(places[kind]) as catalogue:
        write_static_copy(catalogue, tmp_path / "copy", lang="nb", with_documents=True)
    files = [path for path in (tmp_path / "copy").rglob("*") if path.is_file()]
    assert len(files) > 10
    for path in files:
        assert _names_in(str(path.relative_to(tmp_path))) == set()
        assert _names_in(path.read_bytes()) == set(), path


@pytest.mark.parametrize("run", ["first", "later", "again", "of rows"])
def test_no_report_of_a_run_names_anybody_and_the_lists_of_its_owner_do(run: str, places: dict[str, str]) -> None:
    folder = Path(places[run])
    pages = [*folder.glob("*.html"), *folder.glob("*report.json"), *folder.glob("premis.xml")]
    of_load = set() if run == "of rows" else {"report.html"}
    assert {"plan.html", "plan-report.json", *of_load} <= {path.name for path in pages}
    for path in pages:
        assert _names_in(path.read_text("utf-8")) == set(), path.name
    assert ("brev:3" if run == "of rows" else ASIDE) in (folder / "set-aside.csv").read_text("utf-8")
    assert all(path.stat().st_mode & 0o077 == 0 for path in folder.glob("*.csv"))


def test_a_record_has_one_answer_wherever_it_is(places: dict[str, str]) -> None:
    expected = {f"Om {LOADED}": (True, True), **dict.fromkeys((OPEN, "Svar", "En sak om vei"), (False, True))}
    for kind in ("first", "archive", "extract", "aip", "of extract", "other"):
        with open_catalogue(places[kind]) as catalogue:
            entries = [entry for entry in catalogue.entries(0, 200) if entry.title in expected]
        assert {entry.title: (entry.screened, entry.hides_key) for entry in entries} == expected, kind


def test_a_reason_shows_the_names_and_an_open_record_keeps_its_title(places: dict[str, str]) -> None:
    with open_catalogue(places["first"]) as catalogue:
        entries = catalogue.entries(0, 200)
        letter = next(entry for entry in entries if entry.title == f"Om {LOADED}")
        listed = {line.entry.title for entry in entries for line in noarkit.ls(catalogue, entry.ref)}
        assert {OPEN, "Om et barn", "En sak om vei"} <= listed
        card = noarkit.show(catalogue, letter.ref, because="innsyn 1")
        facts = json.dumps(card.to_dict(), ensure_ascii=False)
        assert f"Mor til {LOADED}" in facts and f"Samtale med {LOADED}" in facts
        # the case that it lies in is another item
        assert [above.title for above in card.card.ancestors][-1] == "*****"
