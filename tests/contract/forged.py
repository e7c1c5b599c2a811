"""Packages of every form that state a checksum of a document, and the same with other bytes in it."""

from __future__ import annotations

import hashlib
import os
import sqlite3
import subprocess
import sys
import zipfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import noarkit

GENUINE, FORGED = "kirsebaertre", "plommetrerne"
"""A word that stands in one document alone, and what is written over it."""
assert len(GENUINE) == len(FORGED)
_LETTER = f"Vedtak om {GENUINE} i hagen. ".encode() * 200
_SAMPLE = Path(__file__).resolve().parents[2] / "samples/files"
_CASE = "2019-0117 Byggesak, Storgata 3"


def _files(folder: Path) -> Path:
    (folder / "files/sak").mkdir(parents=True)
    (folder / "files/sak/brev.txt").write_bytes(_LETTER)
    (folder / "files/sak/notat.txt").write_bytes(b"Noe helt annet.\n")
    return folder / "files"


def _archive(folder: Path) -> str:
    """An embedded archive with closed case files, beside the folders of all forms; the letter is in one of them."""
    folder = folder.parent
    if (folder / "archive").exists():
        return f"embedded:{folder / 'archive'}"
    subprocess.run([sys.executable, _SAMPLE / "make.py", folder / "cases"], check=True, capture_output=True)
    (folder / "cases" / _CASE / "01 Nabovarsel.txt").write_bytes(_LETTER)
    archive = f"embedded:{folder / 'archive'}"
    noarkit.plan(folder / "cases", folder / "loaded", recipe=_SAMPLE / "recipe.toml")
    noarkit.ingest(folder / "loaded", archive=archive, workers=0)
    return archive


def _converted(form: str, name: str) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        noarkit.convert(_files(folder), folder / name, form=form)
        return folder / name

    return make


def _extracted(form: str, name: str) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        noarkit.extract(folder / name, noarkit.ExtractOptions(), form=form, archive=_archive(folder))
        return folder / name

    return make


def _bag_of_others(*algorithms: str) -> Callable[[Path], Path]:
    """A bag as others write it: several manifests, none of which lists the lists."""

    def make(folder: Path) -> Path:
        bag = folder / "bag"
        (bag / "data").mkdir(parents=True)
        (bag / "data/brev.txt").write_bytes(_LETTER)
        (bag / "bagit.txt").write_text("BagIt-Version: 0.97\nTag-File-Character-Encoding: UTF-8\n")
        for algorithm in algorithms:
            line = f"{hashlib.new(algorithm, _LETTER).hexdigest()}  data/brev.txt\n"
            (bag / f"manifest-{algorithm}.txt").write_text(line)
        return bag

    return make


def _siard(folder: Path) -> Path:
    database = folder / "register.db"
    with closing(sqlite3.connect(database)) as db:
        db.execute("CREATE TABLE sak (id INTEGER PRIMARY KEY, brev BLOB)")
        db.execute("INSERT INTO sak VALUES (1, ?)", (_LETTER,))
        db.commit()
    noarkit.convert(f"sqlite:///{database}", folder / "register.siard", form="siard")
    return folder / "register.siard"


FORMS: dict[str, Callable[[Path], Path]] = {
    "extract": _extracted("noark5", "extract"),
    "packed extract": _extracted("noark5", "extract.zip"),
    "E-ARK": _converted("eark-sip", "sip"),
    "packed E-ARK": _converted("eark-sip", "sip.tar"),
    "E-ARK with an extract": _extracted("eark-aip", "aip"),
    "DIAS": _converted("dias-sip", "dias"),
    "DIAS with an extract": _extracted("dias-sip", "dias-extract"),
    "bag": _converted("bagit", "bag"),
    "packed bag": _converted("bagit", "bag.zip"),
    "bag with MD5": _bag_of_others("md5"),
    "bag with SHA-256": _bag_of_others("sha256"),
    "SIARD": _siard,
}


def forge(place: Path) -> None:
    """Writes the other word over the first, wherever the package keeps it; sizes and times stay."""
    files = [place] if place.is_file() else [path for path in place.rglob("*") if path.is_file()]
    changed = [path for path in files if _forge_zip(path) or _forge_bytes(path)]
    assert changed, place


def _forge_bytes(path: Path) -> bool:
    content = path.read_bytes()
    if GENUINE.encode() not in content:
        return False
    _rewrite(path, content.replace(GENUINE.encode(), FORGED.encode()))
    return True


def _forge_zip(path: Path) -> bool:
    if not zipfile.is_zipfile(path):
        return False
    status = path.stat()
    with zipfile.ZipFile(path) as zipped:
        members = [(member, zipped.read(member)) for member in zipped.infolist()]
    with zipfile.ZipFile(path, "w") as zipped:
        for member, content in members:
            zipped.writestr(member, content.replace(GENUINE.encode(), FORGED.encode()))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    return any(GENUINE.encode() in content for _, content in members)


def _rewrite(path: Path, content: bytes) -> None:
    status = path.stat()
    path.write_bytes(content)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
