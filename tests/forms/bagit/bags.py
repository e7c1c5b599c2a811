"""Bags written by hand, right or wrong as a test wants them; nothing here uses the writer that is tested."""

from __future__ import annotations

import hashlib
import io
import tarfile
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

FILES: Mapping[str, bytes] = {"data/a.txt": b"first", "data/more/b.bin": b"\x00\x01" * 40}


def digest(content: bytes, algorithm: str) -> str:
    """A checksum in lower-case letters."""
    return hashlib.new(algorithm, content, usedforsecurity=False).hexdigest()


def lines(files: Mapping[str, bytes], algorithm: str = "sha256") -> str:
    """The lines of a manifest of these files."""
    return "".join(f"{digest(content, algorithm)}  {name}\n" for name, content in files.items())


def parts(
    files: Mapping[str, bytes] = FILES,
    *,
    version: str = "1.0",
    algorithms: Sequence[str] = ("sha256",),
    encoding: str = "UTF-8",
    info: str = "Source-Organization: Vik\n",
) -> dict[str, bytes]:
    """A good bag: every file by its name, tag manifest and all."""
    whole = dict(files)
    tags = {"bagit.txt": f"BagIt-Version: {version}\nTag-File-Character-Encoding: {encoding}\n".encode()}
    tags["bag-info.txt" if version in ("0.96", "0.97", "1.0") else "package-info.txt"] = info.encode(encoding)
    for algorithm in algorithms:
        tags[f"manifest-{algorithm}.txt"] = lines(files, algorithm).encode(encoding)
    whole.update(tags)
    for algorithm in algorithms:
        whole[f"tagmanifest-{algorithm}.txt"] = lines(tags, algorithm).encode(encoding)
    return whole


def seal(whole: dict[str, bytes], algorithm: str = "sha256") -> dict[str, bytes]:
    """The same with a tag manifest that is right again after a change."""
    whole.pop(f"tagmanifest-{algorithm}.txt", None)
    tags = {name: content for name, content in whole.items() if not name.startswith("data/")}
    return {**whole, f"tagmanifest-{algorithm}.txt": lines(tags, algorithm).encode()}


def folder(place: Path, whole: Mapping[str, bytes]) -> Path:
    """The bag as a folder."""
    place.mkdir()
    (place / "data").mkdir()
    for name, content in whole.items():
        target = place / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    return place


def zipped(place: Path, whole: Mapping[str, bytes], top: str = "bag/") -> Path:
    """The bag as a zip."""
    with zipfile.ZipFile(place, "w") as archive:
        for name, content in whole.items():
            archive.writestr(top + name, content)
    return place


def tarred(place: Path, whole: Mapping[str, bytes], *, extra: Sequence[tarfile.TarInfo] = ()) -> Path:
    """The bag as a tar, with further members as they are."""
    with tarfile.open(place, "w:gz" if place.name.endswith("gz") else "w") as archive:
        for name, content in whole.items():
            info = tarfile.TarInfo(f"bag/{name}")
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
        for info in extra:
            archive.addfile(info)
    return place
