"""The text of documents, read for searching beside the bare library in as many processes; and searches of a million
records, as long as each takes in the server."""

from __future__ import annotations

import io
import itertools
import multiprocessing
import os
import random
import statistics
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from noarkit.catalogue.catalogue import Catalogue
from noarkit.catalogue.port import Document, Item, PlaceIdentity
from noarkit.catalogue.search import SearchQuery
from noarkit.catalogue.store import catalogue_path, write_catalogue
from noarkit.catalogue.text.collecting import collect_texts
from noarkit.catalogue.text.reading import read_document
from noarkit.catalogue.text.texts import texts_path
from noarkit.events import Listener, ignore_event
from noarkit.records import ContentStream
from scripts.benchmarks.figures import machine, medians, processor_seconds, seconds, tell
from tests.copies.corpus.mail import mail
from tests.copies.corpus.office import docx
from tests.copies.corpus.pdf import pdf

_SYLLABLES = """
    ber gen dal vik haug mo sund fjord lund strand bygg sak vei skole kom mune plan søk nad til latelse vedtak klage
    svar inn ut brev regn skap års mel ding møte refe rat
""".split()  # noqa: SIM905  # a list of so many would take a line each


def run(rounds: int, *, small: bool, only: str) -> None:
    """Tells every figure, or those whose name holds `only`."""
    print(f"text on {machine()}\n| what | ours | beside it | ratio | beside what |\n|---|---|---|---|---|")
    bare: dict[str, tuple[int, Callable[[list[str], int], bytes], Callable[[Path], int], str]] = {
        "PDF of ten pages": (600, _pdf, _bare_pdf, "pypdfium2"),
        "docx of ten pages": (3_000, _docx, _bare_docx, "zipfile and ElementTree"),
        "mail": (6_000, _mail, _bare_mail, "email"),
        "plain text of 60 KB": (3_000, _plain, _bare_plain, "read_text"),
    }
    for name, (many, write, read_bare, library) in bare.items():
        if only not in name:
            continue
        count = many // 10 if small else many
        with tempfile.TemporaryDirectory(prefix="noarkit-bench-") as place:
            home = Path(place)
            files = _write_documents(home / "documents", count, write)
            ours, floor = partial(_read, home, files), partial(_read_bare, files, read_bare)
            ours(), floor()
            took, beside, ratio = medians(rounds, partial(seconds, ours), partial(seconds, floor))
            tell(name, count / took, "files/s", count / beside, f"{library}, a process a core", 1 / ratio)
            some = files[:200]
            reading, bare_reading = partial(_read_alone, some), partial(_bare_alone, some, read_bare)
            reading(), bare_reading()
            took, beside, ratio = medians(
                rounds, partial(processor_seconds, reading), partial(processor_seconds, bare_reading)
            )
            each = f"{library}, processor time of reading alone"
            tell(f"{name}, no index", len(some) / took, "files/s", len(some) / beside, each, 1 / ratio)
    if only in "search":
        _tell_searches(100_000 if small else 1_000_000)


class _Shelf:
    """Files as a place, each a record with a document."""

    def __init__(self, files: list[Path]) -> None:
        self._files = {str(path): path for path in files}

    identity = PlaceIdentity("files", "bench", "/bench", "1")

    def items(self, emit: Listener) -> Iterator[Item]:
        for name, path in self._files.items():
            document = Document(f"{name}#1", "", path.name, size_bytes=path.stat().st_size, locator=name)
            yield Item(name, None, "file", path.name, documents=(document,))

    @contextmanager
    def open(self, locator: str) -> Iterator[ContentStream]:
        with self._files[locator].open("rb", buffering=0) as file:
            yield _Stream(file)

    def close(self) -> None: ...


@dataclass(frozen=True)
class _Stream:
    file: io.FileIO

    def read(self, size: int = -1, /) -> bytes:
        return self.file.read(size) or b""

    def still_the_same(self) -> bool:
        return True


def _read(home: Path, files: list[Path]) -> None:
    """Reads every document anew, as `noarkit search --read-documents` does, from the start of the children to the
    index on the disk."""
    path = catalogue_path(home / "shelf")
    shelf = _Shelf(files)
    if not path.exists():
        write_catalogue(path, shelf.identity, shelf.items(ignore_event))
    for old in home.glob(f"{texts_path(path).name}*"):
        old.unlink()
    counts = collect_texts(path, shelf)
    assert counts.documents == len(files) and not counts.without, counts


def _read_bare(files: list[Path], read: Callable[[Path], int]) -> None:
    with multiprocessing.get_context("fork").Pool(os.cpu_count()) as pool:
        assert sum(pool.imap_unordered(read, files, chunksize=8)) > len(files)


def _read_alone(files: list[Path]) -> None:
    """The texts alone, as a child of noarkit reads them."""
    assert all(read_document(path).text for path in files)


def _bare_alone(files: list[Path], read: Callable[[Path], int]) -> None:
    assert all(read(path) for path in files)


def _bare_pdf(path: Path) -> int:
    import pypdfium2

    document = pypdfium2.PdfDocument(path)
    try:
        return sum(len(page.get_textpage().get_text_bounded()) for page in document)
    finally:
        document.close()


def _bare_docx(path: Path) -> int:
    from xml.etree.ElementTree import iterparse

    length = 0
    with zipfile.ZipFile(path) as archive, archive.open("word/document.xml") as part:
        for _, element in iterparse(part):  # noqa: S314  # our own
            if element.tag.endswith("}t"):
                length += len(element.text or "")
    return length


def _bare_mail(path: Path) -> int:
    import email
    import email.policy

    message = email.message_from_bytes(path.read_bytes(), policy=email.policy.default)
    body = message.get_body(("plain",))
    return len(body.get_content()) if body is not None else 0


def _bare_plain(path: Path) -> int:
    return len(path.read_text("utf-8"))


def _vocabulary() -> tuple[random.Random, list[str], list[float]]:
    chance = random.Random(1)
    words = ["".join(chance.choices(_SYLLABLES, k=chance.choice((1, 2, 2, 3)))) for _ in range(60_000)]
    return chance, words, list(itertools.accumulate(1 / (rank + 2) for rank in range(len(words))))


def _write_documents(folder: Path, count: int, write: Callable[[list[str], int], bytes]) -> list[Path]:
    folder.mkdir()
    chance, words, weights = _vocabulary()
    files = []
    for number in range(count):
        path = folder / f"{number}"
        path.write_bytes(
            write([" ".join(chance.choices(words, cum_weights=weights, k=12)) for _ in range(400)], number)
        )
        files.append(path)
    return files


def _pdf(lines: list[str], number: int) -> bytes:
    pages = ["\n".join(lines[begin : begin + 40]) for begin in range(0, len(lines), 40)]
    return pdf([page.encode("latin-1", "replace").decode("latin-1") for page in pages])


def _docx(lines: list[str], number: int) -> bytes:
    return docx(*lines)


def _mail(lines: list[str], number: int) -> bytes:
    return mail(f"Brev {number}", "\n".join(lines[:40]), number=number)


def _plain(lines: list[str], number: int) -> bytes:
    return "\n".join((str(number), *lines, *lines)).encode()


def _tell_searches(count: int) -> None:
    """A thousand searches by words as they occur, whole and begun, with and without filters, by rank and by day."""
    chance, words, weights = _vocabulary()
    with tempfile.TemporaryDirectory(prefix="noarkit-bench-") as place:
        shelf = _Shelf([])
        path = catalogue_path(Path(place) / "cases")
        write_catalogue(path, shelf.identity, _cases(count, chance, words, weights))
        with Catalogue(path, shelf) as catalogue:
            took, used = [], []
            for _ in range(1_000):
                query = _random_query(chance, words, weights)
                began, began_cpu = time.perf_counter(), time.process_time()
                catalogue.search(query)
                took.append(time.perf_counter() - began)
                used.append(time.process_time() - began_cpu)
    for what, times in (("", took), (", processor time", used)):
        for name, value in (("median", statistics.median(times)), ("p99", statistics.quantiles(times, n=100)[98])):
            print(
                f"| search of {count:,} records, {name}{what} | {value * 1000:,.0f} ms | | | 1,000 searches |",
                flush=True,
            )


def _random_query(chance: random.Random, words: list[str], weights: list[float]) -> SearchQuery:
    parts = chance.choices(words, cum_weights=weights, k=chance.choice((1, 1, 2, 3)))
    parts = [part[: chance.choice((3, 4, 5))] if chance.random() < 0.3 else part for part in parts]
    if chance.random() < 0.2:
        parts.append(f"year:{chance.randint(1985, 2024)}")
    if chance.random() < 0.1:
        parts.append("type:Saksmappe")
    order = "day" if chance.random() < 0.3 else "rank"
    return SearchQuery(" ".join(parts), order="day" if order == "day" else "rank", fold=chance.random() < 0.2)


def _cases(count: int, chance: random.Random, words: list[str], weights: list[float]) -> Iterator[Item]:
    def text(length: int) -> str:
        return " ".join(chance.choices(words, cum_weights=weights, k=length))

    yield Item("a", None, "Arkiv", "Kommunen")
    for case in range(count // 10):
        year, klass = chance.randint(1985, 2024), f"{chance.randint(0, 999):03}"
        day = f"{year}-{chance.randint(1, 12):02}-{chance.randint(1, 28):02}"
        yield Item(f"c{case}", "a", "Saksmappe", f"Sak om {text(4)}", f"{year}/{case}", day, "Avsluttet", klass)
        for post in range(9):
            title = text(6)
            yield Item(
                *(
                    f"c{case}/{post}",
                    f"c{case}",
                    "Journalpost",
                    title,
                    f"{year}/{case}-{post}",
                    day,
                    "Journalført",
                    klass,
                ),
                fields={"tittel": title, "korrespondansepart": [{"korrespondansepartNavn": text(2)}]},
                documents=(Document(f"c{case}/{post}#1", title, f"{post}.pdf"),),
            )
