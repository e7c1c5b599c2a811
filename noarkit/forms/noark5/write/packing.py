"""A package as one file: zip, tar or tar.gz by its name. The same package gives the same bytes, whenever it is packed.

The files of the package stand directly inside, in the order of their names, without times and owners.
"""

from __future__ import annotations

import gzip
import shutil
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from noarkit.safe.atomic import open_atomic

ENDINGS = (".zip", ".tar", ".tar.gz", ".tgz")
_EARLIEST = (1980, 1, 1, 0, 0, 0)
_MODE = 0o644


def is_packed(target: Path) -> bool:
    """True for a name that asks for one file."""
    return target.name.lower().endswith(ENDINGS)


def pack(folder: Path, target: Path) -> None:
    """Packs all files of a folder into `target`, which appears whole or not at all."""
    with open_atomic(target) as file:
        if target.name.lower().endswith(".zip"):
            _zip(folder, file)
        elif target.name.lower().endswith(".tar"):
            _tar(folder, file)
        else:
            with gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as packed:
                _tar(folder, packed)


def _files(folder: Path) -> Iterator[tuple[str, Path]]:
    files = sorted((path.relative_to(folder).as_posix(), path) for path in folder.rglob("*") if path.is_file())
    yield from files


def _tar(folder: Path, file: IO[bytes] | gzip.GzipFile) -> None:
    with tarfile.open(fileobj=file, mode="w", format=tarfile.PAX_FORMAT) as packed:
        for name, path in _files(folder):
            info = tarfile.TarInfo(name)
            info.size, info.mode = path.stat().st_size, _MODE
            with path.open("rb") as content:
                packed.addfile(info, content)


def _zip(folder: Path, file: IO[bytes]) -> None:
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, path in _files(folder):
            info = zipfile.ZipInfo(name, _EARLIEST)
            info.compress_type, info.external_attr = zipfile.ZIP_DEFLATED, _MODE << 16
            with path.open("rb") as content, packed.open(info, "w", force_zip64=True) as member:
                shutil.copyfileobj(content, member, 1024 * 1024)
