"""The bytes of a file of a package, where it lies: held to size and time, and to the checksum that the METS tells.

A locator is `algorithm:checksum:` and the file's name, or where it lies in the archive file. SHA-256 stands in the plan
itself and needs no mention.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from noarkit.errors import ItemVanished
from noarkit.forms.container.locators import MemberReader, MemberStream, locator_of
from noarkit.forms.eark.read.inventory import Entry
from noarkit.forms.eark.read.package import EarkPackage
from noarkit.forms.eark.spec import HASHES
from noarkit.graph.entity import Content
from noarkit.records import ContentStream
from noarkit.sources.files.names import key_of
from noarkit.sources.files.streams import open_content
from noarkit.sources.verified_stream import VerifiedStream

_SHA256_LENGTH = 64


class PackageFiles:
    """The files of the package at `path`."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._located = None if path.is_dir() else MemberReader(path)
        if self._located is not None:
            weakref.finalize(self, self._located.close)

    def modified_ns(self, name: str) -> int:
        """When a file was last written to; in an archive file, when that was. Raises `ItemVanished`."""
        if self._located is not None:
            return self._located.modified_ns()
        try:
            # names come from a walk that follows no link
            return os.stat(f"{self._path}/{name}", follow_symlinks=False).st_mtime_ns  # noqa: PTH116  # hot: no path of its own
        except OSError as error:
            raise ItemVanished(key=name) from error

    def content(self, package: EarkPackage, entry: Entry, size_bytes: int) -> Content:
        """A file as a plan remembers it. Raises `ItemVanished`."""
        algorithm = HASHES.get(entry.checksum_type, "") if entry.checksum else ""
        sha256 = entry.checksum if algorithm == "sha256" and len(entry.checksum) == _SHA256_LENGTH else None
        proof = ":" if sha256 or not algorithm else f"{algorithm}:{entry.checksum}"
        member = package.member(entry.name)
        place = entry.name if member is None else locator_of(member)
        name = entry.name[entry.name.rfind("/") + 1 :]
        media = entry.media_type or None
        modified = self.modified_ns(entry.name)
        return Content(f"{proof}:{place}", name, size_bytes, modified, sha256, media, entry.puid or None)

    @contextmanager
    def open(self, content: Content) -> Iterator[ContentStream]:
        """Opens a content by its locator. Raises `SourceGone`, `ItemVanished`, `ItemUnreadable`, `ItemChanged`."""
        algorithm, checksum, place = content.locator.split(":", 2)
        if self._located is not None:
            with self._located.open(place) as source:
                stream = MemberStream(source, self._located, content.modified_ns)
                yield VerifiedStream(stream, algorithm, checksum)
            return
        plain = replace(content, locator=key_of(os.fsencode(place)))
        with open_content(self._path, plain, follow=False, mail_limit_bytes=0) as file:
            yield VerifiedStream(file, algorithm, checksum)
