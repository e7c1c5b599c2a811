"""Resolves hrefs of METS and PREMIS documents to files, in the spellings that tools use, and never outside the package.

A name is tried as it is after decoding, then as it stands, then with `+` for blanks; relative to the document's own
folder, and to the package only where it names that folder itself and nothing is found there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal
from urllib.parse import unquote, unquote_plus

from noarkit.errors import UnsafePath
from noarkit.forms.eark.rules.inventory import Inventory
from noarkit.safe.paths import checked_parts

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):")
_PLAIN = re.compile(r"[A-Za-z0-9_./-]+")
Level = Literal["package", "representation", "nested"]


@dataclass(frozen=True, slots=True)
class Document:
    """A METS document: its name in the package, the folder (`""` or `folder/`) its hrefs start from, and its level.

    `nested` is the METS of a package inside this one (a submission that was kept): it is read for its files alone.
    """

    name: str
    base: str
    level: Level


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file that exists. `spelling` names how its href was spelt, empty for the plain spelling."""

    name: str
    size_bytes: int
    spelling: str = ""


@dataclass(frozen=True, slots=True)
class MissingFile:
    """A file that does not exist. `reason` is `missing`, or `remote` for an address outside every package."""

    name: str
    reason: str = "missing"


class Places:
    """Finds the files of one package by their hrefs."""

    def __init__(self, inventory: Inventory) -> None:
        self._inventory = inventory
        self._folder = ""

    def find(self, href: str, base: str) -> FoundFile | MissingFile:
        """The file that `href` names in a document of the folder `base` (`""` or `folder/`).

        Raises `UnsafePath` for a href that leads out of the package in any spelling of it.
        """
        size = self._inventory.size_of(base + href) if self.is_plain(href) else None
        if size is not None:
            return FoundFile(base + href, size)
        match = _SCHEME.match(href)
        scheme = match.group(1).lower() if match else ""
        if scheme not in ("", "file"):
            size = self._inventory.size_of(base + href)
            return FoundFile(base + href, size) if size is not None else MissingFile(href, "remote")
        first = ""
        for name, spelling in _spellings(href, scheme):
            first = first or name
            for above in (base, "") if base and name.startswith(base) else (base,):
                existing = self._find_name(above + name)
                if existing is not None:
                    spelling = spelling if above == base else "from-package"
                    return FoundFile(
                        existing[0], existing[1], spelling or ("composition" if existing[0] != above + name else "")
                    )
        return MissingFile(base + first)

    def is_plain(self, href: str) -> bool:
        """True for a harmless name that means itself; `UnsafePath` for one that looks so and is not.

        The folder is judged once for all files that follow each other in it.
        """
        if _PLAIN.fullmatch(href) is None or "./" in href or "//" in href or "/" in (href[0], href[-1]):
            return False
        folder, _, last = href.rpartition("/")
        if folder == self._folder:
            checked_parts(last)
        else:
            checked_parts(href)
            self._folder = folder
        return True

    def _find_name(self, name: str) -> tuple[str, int] | None:
        try:
            name.encode()
        except UnicodeEncodeError:
            return None
        size = self._inventory.size_of(name)
        if size is None and not name.isascii():
            composed_name = self._inventory.composed(name)
            if composed_name is not None:
                return composed_name, self._inventory.size_of(composed_name) or 0
        return None if size is None else (name, size)


def _spellings(href: str, scheme: str) -> Iterator[tuple[str, str]]:
    """The names that a href may mean, safest first; every one is judged before any is looked for."""
    bare = href[len("file:") :] if scheme == "file" else href
    if scheme == "file" and bare.startswith("//"):
        bare = bare[2:]
    spellings = (
        (unquote(bare, errors="surrogateescape"), "file" if scheme else ""),
        (bare, "not-encoded"),
        (unquote_plus(bare, errors="surrogateescape"), "form-encoded"),
        (unquote(bare, errors="surrogateescape").replace("\\", "/"), "backslash"),
    )
    spelling_by_name: dict[str, str] = {}
    for spelt, spelling in spellings:
        try:
            spelling_by_name.setdefault("/".join(checked_parts(spelt)), spelling)
        except UnsafePath as fault:
            if not spelling or fault.data.get("why") != "too-long":
                raise  # no disk holds a name that is too long: nothing can lie there
    for name, spelling in spelling_by_name.items():
        yield name, "form-encoded" if spelling in ("", "file") and re.search("%2f", bare, re.IGNORECASE) else spelling
