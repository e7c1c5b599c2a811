"""What a version says of its file, the order of versions and documents, and the files in the archive's store."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

from tests.loading.damage.damage import Damage, Step, by_sql, changed, swapped
from tests.loading.damage.library import Library

DOCUMENT, VERSION = "dokument", "dokumentversjon"
FIELD, ORDER, CHECKSUM, MISSING, OTHER = "V211", "V215", "V304", "V301", "V302"
_FILE_OF = "(SELECT referanseDokumentfil FROM o_dokumentversjon WHERE id = <{}>)"
_FACTS = ("referanseDokumentfil", "sjekksum", "filstoerrelse", "filnavn")

FILES = (
    changed("another variant", "V210", VERSION, "p1#d1v1", "variantformat = 'A'"),
    changed("another format", "V210", VERSION, "r1#d1v1", "format = 'pdf'"),
    changed("format details that were added", "V212", VERSION, "r1#d1v1", "formatDetaljer = 'not ours'"),
    changed("a forged checksum", "V232", VERSION, "r1#d1v1", f"sjekksum = '{'0' * 64}'"),
    changed("a checksum that is gone", "V232", VERSION, "r1#d1v1", "sjekksum = NULL", shown=False),
    changed("another checksum algorithm", "V232", VERSION, "r1#d1v1", "sjekksumAlgoritme = 'SHA-1'"),
    changed("a forged size", "V233", VERSION, "r1#d1v1", "filstoerrelse = filstoerrelse + 1", shown=False),
    changed("another media type", "", VERSION, "r1#d1v1", "innholdstype = 'application/pdf'"),
    changed("another file name", "", VERSION, "r1#d1v1", "filnavn = 'other.txt'"),
    changed("a version that says it is encrypted", "V212", VERSION, "r1#d1v1", "kryptertDokument = 1"),
    changed("a version without a file", MISSING, VERSION, "r1#d1v1", "referanseDokumentfil = NULL"),
    changed("a version of a file that is not there", MISSING, VERSION, "r1#d1v1", "referanseDokumentfil = '999999'"),
    by_sql(
        "the file of another version of the same length",
        OTHER,
        f"{VERSION} 1",
        f"UPDATE o_dokumentversjon SET referanseDokumentfil = {_FILE_OF.format('r1#d1v1')} WHERE id = <p2#d1v1>",
    ),
    by_sql(
        "files of two versions exchanged",
        OTHER,
        f"{VERSION} 2",
        swapped(VERSION, "referanseDokumentfil", "p1#d1v1", "p2#d1v1"),
    ),
    by_sql(
        "files of two versions exchanged with all that is said of them",
        OTHER,
        f"{VERSION} 2",
        *(swapped(VERSION, name, "p1#d1v1", "p2#d1v1") for name in ("referanseDokumentfil", "sjekksum", "filnavn")),
    ),
    by_sql(
        "an empty file and a full one exchanged with all that is said of them",
        "V304",
        f"{VERSION} 2",
        *(swapped(VERSION, name, "r1#d1v1", "r2#d1v1") for name in _FACTS),
    ),
    by_sql(
        "versions in another order", "V215", f"{VERSION} 2", swapped(VERSION, "versjonsnummer", "p1#d1v1", "p1#d1v2")
    ),
    by_sql(
        "documents in another order", "V215", f"{DOCUMENT} 2", swapped(DOCUMENT, "dokumentnummer", "p1#d1", "p1#d2")
    ),
    by_sql(
        "a stored file that points to other bytes",
        OTHER,
        "stored_file 2",
        f"UPDATE stored_file SET sha256 = (SELECT sha256 FROM stored_file WHERE file_id = {_FILE_OF.format('r1#d1v1')})"
        f" WHERE file_id = {_FILE_OF.format('p2#d1v1')}",
    ),
    by_sql(
        "a stored file that nothing is known of",
        MISSING,
        "stored_file 1",
        f"DELETE FROM stored_file WHERE file_id = {_FILE_OF.format('p2#d1v1')}",
    ),
)


def _stored(name: str, code: str, act: Callable[[Path], object]) -> Damage:
    def step(library: Library) -> None:
        act(library.stored("p2#d1v1"))

    return Damage(name, "store", (step,), {"files": 1}, code)


def _exchanged(library: Library) -> None:
    one, other = library.stored("p1#d1v1"), library.stored("p2#d1v1")
    first, second = one.read_bytes(), other.read_bytes()
    one.write_bytes(second)
    other.write_bytes(first)


def _flipped(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[3] ^= 1
    path.write_bytes(content)


def _folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _link(target: str) -> Callable[[Path], object]:
    def act(path: Path) -> None:
        path.unlink()
        path.symlink_to(target)

    return act


def _link_to_another(library: Library) -> None:
    path = library.stored("p2#d1v1")
    path.unlink()
    path.symlink_to(library.stored("p1#d1v1"))


def _all_gone(library: Library) -> None:
    for folder in (library.archive_folder / "files").glob("??"):
        shutil.rmtree(folder)


def _step(name: str, code: str, files: int, step: Step) -> Damage:
    return Damage(name, "store", (step,), {"files": files}, code)


STORE = (
    _stored("a bit flipped in the store", OTHER, _flipped),
    _stored("a file of other bytes and the same length", OTHER, lambda path: path.write_bytes(b"X" * 20)),
    _stored("a file cut short", "V305", lambda path: path.write_bytes(path.read_bytes()[:-1])),
    _stored("a file made longer", "V305", lambda path: path.write_bytes(path.read_bytes() + b"!")),
    _stored("a file made much longer", "V305", lambda path: path.write_bytes(path.read_bytes() * 5000)),
    _stored("a file emptied", "V305", lambda path: path.write_bytes(b"")),
    _stored("a file that is gone", "V305", Path.unlink),
    _stored("a folder in a file's place", "V305", _folder),
    _stored("a link to nothing in a file's place", "V305", _link("nowhere")),
    _stored("a link to itself in a file's place", "V305", lambda path: _link(path.name)(path)),
    _step("a link to another file in a file's place", OTHER, 1, _link_to_another),
    _step("two files that changed names", OTHER, 2, _exchanged),
    _step("a store that is gone", "V305", 8, _all_gone),
)

DAMAGES = (*FILES, *STORE)
