"""The files of a shallow package: its METS points to places outside of it. They are read from one folder alone, which a
person named, and held to the checksums that the METS tells."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote

from noarkit.errors import ItemUnreadable, ItemVanished, UnsafePath
from noarkit.forms.eark.read.inventory import Entry
from noarkit.forms.eark.spec import HASHES
from noarkit.graph.entity import Content
from noarkit.records import ContentStream
from noarkit.safe.fixity import BY_METS, Fixity, checked
from noarkit.safe.paths import checked_parts, resolve_inside, without_climbs
from noarkit.sources.files.names import key_of
from noarkit.sources.files.streams import open_content

NOT_FOLLOWED = "outside-package"
NOT_BELOW = "outside-shallow-root"
_LOCATOR = "outside:"
_SHA256_LENGTH = 64


def is_shallow(content: Content) -> bool:
    """True for a file that lies outside of the package."""
    return content.locator.startswith(_LOCATOR)


class ShallowFiles:
    """The files below the folder that may be read."""

    def __init__(self, root: Path) -> None:
        self.root = without_climbs(root.absolute())

    def name_of(self, href: str) -> str:
        """The name below the folder that a reference leads to. Raises `ItemUnreadable` for one that leads elsewhere."""
        scheme, colon, tail = href.partition(":")
        path = tail if colon and scheme.lower() == "file" else href
        path = unquote("/" + path.lstrip("/"))
        above = f"{self.root}/".replace("//", "/")
        if (colon and scheme.lower() != "file") or not path.startswith(above):
            raise ItemUnreadable(key=href, why=NOT_BELOW)
        try:
            return "/".join(checked_parts(path.removeprefix(above)))
        except UnsafePath as fault:
            raise ItemUnreadable(key=href, why=NOT_BELOW) from fault

    def content(self, entry: Entry) -> Content:
        """A file as a plan remembers it. Raises `ItemUnreadable`, `ItemVanished`."""
        name = self.name_of(entry.href)
        try:
            status = os.stat(resolve_inside(self.root, name), follow_symlinks=False)  # noqa: PTH116  # no link is followed
        except UnsafePath as fault:
            raise ItemUnreadable(key=entry.href, why=NOT_BELOW) from fault
        except OSError as error:
            raise ItemVanished(key=entry.href) from error
        algorithm = HASHES.get(entry.checksum_type, "") if entry.checksum else ""
        sha256 = entry.checksum if algorithm == "sha256" and len(entry.checksum) == _SHA256_LENGTH else None
        proof = ":" if sha256 or not algorithm else f"{algorithm}:{entry.checksum}"
        media, puid = entry.media_type or None, entry.puid or None
        last = name.rpartition("/")[2]
        return Content(f"{_LOCATOR}{proof}:{name}", last, status.st_size, status.st_mtime_ns, sha256, media, puid)

    @contextmanager
    def open(self, content: Content) -> Iterator[ContentStream]:
        """Opens a content by its locator. Raises `ItemVanished`, `ItemUnreadable`, `ItemChanged`."""
        algorithm, checksum, name = content.locator.removeprefix(_LOCATOR).split(":", 2)
        plain = replace(content, locator=key_of(os.fsencode(name)))
        with open_content(self.root, plain, follow=False, mail_limit_bytes=0) as file:
            yield checked(file, Fixity(algorithm, checksum, by=BY_METS))
