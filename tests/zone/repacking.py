"""Wheels of what is installed here, made again from its files: a wheelhouse can be tried without a package index."""

from __future__ import annotations

import hashlib
import re
import zipfile
from collections.abc import Iterator
from importlib.metadata import Distribution, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name


def repack(folder: Path, root: str) -> Path:
    """Wheels of all that `root` needs, in `folder`; gives a lock that holds each to its hash."""
    folder.mkdir()
    lines = []
    for found in sorted(_needed(root), key=lambda one: one.name):
        path = _repacked(found, folder)
        lines.append(f"{found.name}=={found.version} --hash=sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}\n")
    lock = folder.parent / f"{folder.name}.lock"
    lock.write_text("".join(lines))
    return lock


def _needed(root: str) -> list[Distribution]:
    found: dict[str, Distribution] = {}
    waiting = [Requirement(root)]
    while waiting:
        need = waiting.pop()
        one = distribution(need.name)
        found[canonicalize_name(need.name)] = one
        worlds = [{"extra": name} for name in ("", *need.extras)]
        for text in one.requires or ():
            other = Requirement(text)
            if other.marker is None or any(other.marker.evaluate(world) for world in worlds):
                waiting += [other] if canonicalize_name(other.name) not in found else []
    del found[canonicalize_name(Requirement(root).name)]
    return list(found.values())


def _repacked(one: Distribution, folder: Path) -> Path:
    tags = re.findall(r"^Tag: (\S+)-(\S+)-(\S+)$", one.read_text("WHEEL") or "", re.MULTILINE)
    tag = "-".join(".".join(dict.fromkeys(parts)) for parts in zip(*tags, strict=True))
    path = folder / f"{canonicalize_name(one.name).replace('-', '_')}-{one.version}-{tag}.whl"
    with zipfile.ZipFile(path, "w") as packed:
        for name, file in _files(one):
            packed.writestr(zipfile.ZipInfo(name), file.read_bytes())
        record = "".join(f"{name},,\n" for name in packed.namelist())
        home = next(name for name in packed.namelist() if name.endswith(".dist-info/METADATA")).rpartition("/")[0]
        packed.writestr(zipfile.ZipInfo(f"{home}/RECORD"), record + f"{home}/RECORD,,\n")
    return path


def _files(one: Distribution) -> Iterator[tuple[str, Path]]:
    left_out = {"RECORD", "INSTALLER", "REQUESTED", "direct_url.json"}
    for file in one.files or ():
        name = file.as_posix()
        if not name.startswith("..") and "__pycache__" not in file.parts and file.name not in left_out:
            yield name, Path(str(one.locate_file(file)))
