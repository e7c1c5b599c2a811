"""Wheels as they lie in a folder: what each is, what it needs, under which licence, and its checksum."""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from email.message import Message
from email.parser import Parser
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name, parse_wheel_filename

NO_WORLD: Mapping[str, str] = {}


@dataclass(frozen=True, slots=True)
class Wheel:
    """One wheel. `tags` say for which Python and system it is; `py3-none-any` is for all."""

    path: Path
    name: str
    version: str
    tags: tuple[str, ...]
    sha256: str
    licences: tuple[str, ...]
    licence_expression: str
    needs: tuple[Requirement, ...]
    world: Mapping[str, str] = field(default_factory=dict)
    """The system that it is for, where that is not this one."""

    @property
    def pin(self) -> str:
        """Its line in a requirements file."""
        return f"{self.name}=={self.version} --hash=sha256:{self.sha256}"

    @property
    def purl(self) -> str:
        """How it is named everywhere."""
        return f"pkg:pypi/{self.name}@{self.version}"

    @property
    def is_for_all(self) -> bool:
        """Whether any system can take it."""
        return all(tag.endswith("-none-any") for tag in self.tags)

    def needed(self, extras: Iterable[str] = ()) -> list[Requirement]:
        """What it needs here, with these extras of its own."""
        worlds = [{**self.world, "extra": name} for name in ("", *extras)]
        return [need for need in self.needs if need.marker is None or any(need.marker.evaluate(one) for one in worlds)]


def read_wheels(folder: Path, world: Mapping[str, str] = NO_WORLD) -> dict[str, Wheel]:
    """The wheels of a folder by their names."""
    found = (read_wheel(path, world) for path in sorted(folder.glob("*.whl")))
    return {wheel.name: wheel for wheel in found}


def read_wheel(path: Path, world: Mapping[str, str] = NO_WORLD) -> Wheel:
    """A wheel, by its own metadata."""
    name, version, _, tags = parse_wheel_filename(path.name)
    metadata = _metadata(path)
    return Wheel(
        path,
        str(name),
        str(version),
        tuple(sorted(str(tag) for tag in tags)),
        hashlib.sha256(path.read_bytes()).hexdigest(),
        _licences(metadata),
        str(metadata.get("License-Expression", "")),
        tuple(Requirement(text) for text in metadata.get_all("Requires-Dist", [])),
        world,
    )


def closure(wheels: Mapping[str, Wheel], root: str, extras: Iterable[str]) -> dict[str, Wheel]:
    """`root` with these extras, and all that it needs here. Raises `KeyError` for what no wheel is there for."""
    found: dict[str, Wheel] = {}
    done: set[tuple[str, frozenset[str]]] = set()
    waiting = [(root, frozenset(extras))]
    while waiting:
        name, wanted = waiting.pop()
        if (name, wanted) in done:
            continue
        done.add((name, wanted))
        found[name] = wheels[name]
        waiting += [(canonicalize_name(need.name), frozenset(need.extras)) for need in wheels[name].needed(wanted)]
    return dict(sorted(found.items()))


def _metadata(path: Path) -> Message:
    with zipfile.ZipFile(path) as packed:
        (name,) = (name for name in packed.namelist() if name.endswith(".dist-info/METADATA") and name.count("/") == 1)
        return Parser().parsestr(packed.read(name).decode("utf-8"))


def _licences(metadata: Message) -> tuple[str, ...]:
    """What is said of the licence where it is no expression: a short name, else what the classifiers say."""
    told = str(metadata.get("License", "")).strip()
    if told and told != "UNKNOWN" and "\n" not in told and len(told) <= 80:
        return (told,)
    classifiers: list[str] = metadata.get_all("Classifier", [])
    names = (text.rpartition(" :: ")[2] for text in classifiers if text.startswith("License :: "))
    return tuple(dict.fromkeys(name for name in names if name != "OSI Approved"))
