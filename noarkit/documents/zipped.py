"""Zipped documents (Office Open XML, OpenDocument): opened only where their members are bounded and readable."""

from __future__ import annotations

import errno
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO, cast  # Any: elements of lxml

from noarkit.documents.damage import ENCRYPTED, MOST_RATIO, SMALL
from noarkit.documents.refusal import DocumentRefused, Refusal
from noarkit.errors import PackageFault, UnsafeXml
from noarkit.safe.xml import Handler, XmlLimits, free_element, read, stream

MOST_MEMBERS = 20_000
MOST_BYTES = 1024**3
_MOST_TYPE_BYTES = 200
_STRICT = "{http://purl.oclc.org/ooxml/"
_XML = XmlLimits(max_bytes=MOST_BYTES, max_depth=2_000, allows_external_doctype=True)
MOST_PARAGRAPHS = 500_000
"""A text of so many has over ten thousand pages; programs that set pages hang on it."""


@contextmanager
def _refuse_damage(**data: object) -> Iterator[None]:
    """Raises `DocumentRefused` for what is no good zip. One whose list leads to a place before the file's first byte is
    an error of the system to zipfile; any other of those stays what it is."""
    try:
        yield
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
        raise DocumentRefused(Refusal.DAMAGED, **data) from error
    except OSError as error:
        if error.errno != errno.EINVAL:
            raise
        raise DocumentRefused(Refusal.DAMAGED, **data) from error


@dataclass(frozen=True)
class Package:
    """An open zipped document whose members are bounded."""

    archive: zipfile.ZipFile
    names: tuple[str, ...]
    most_paragraphs: int = MOST_PARAGRAPHS
    """In one member."""

    def beginning(self, prefix: str, suffix: str = ".xml") -> tuple[str, ...]:
        """The members whose names begin and end so, in order."""
        return tuple(name for name in self.names if name.startswith(prefix) and name.endswith(suffix))

    def has(self, name: str) -> bool:
        """True where there is a member of that name."""
        return name in self._members

    def member(self, name: str) -> str:
        """The member of that name as it is spelt, for letters may be small or large; the name itself where there is
        none."""
        return name if name in self._members else self._by_folded_name.get(name.casefold(), name)

    def read(self, name: str) -> bytes:
        """A member that is known to be small. Raises `DocumentRefused`."""
        try:
            with _refuse_damage(member=name):
                return self.archive.read(name)
        except RuntimeError as error:  # zipfile's word for a member with a password
            raise DocumentRefused(Refusal.PASSWORD) from error

    def feed(self, name: str, handler: Handler) -> Iterator[None]:
        """Feeds a member to a handler, which is quicker than `elements`; pauses after each block. Raises
        `DocumentRefused`."""
        try:
            with _refuse_damage(member=name), self.archive.open(name) as member:
                yield from read(cast(BinaryIO, member), handler, limits=_XML)
        except UnsafeXml as fault:
            raise DocumentRefused(Refusal.BOMB, what=str(fault.data.get("why", ""))) from fault
        except PackageFault as fault:
            raise DocumentRefused(Refusal.DAMAGED, member=name) from fault
        except RuntimeError as error:  # zipfile's word for a member with a password
            raise DocumentRefused(Refusal.PASSWORD) from error

    @cached_property
    def _members(self) -> frozenset[str]:
        return frozenset(self.names)

    @cached_property
    def _by_folded_name(self) -> Mapping[str, str]:
        return {name.casefold(): name for name in self.names}

    def elements(
        self, name: str, whole: frozenset[str] = frozenset(), tags: frozenset[str] | None = None
    ) -> Iterator[tuple[str, Any]]:
        """`start` and `end` of every element of a member, or of those of `tags`, which is much quicker. What has ended
        is freed; what lies in an element of `whole` is there until that one has ended. Raises `DocumentRefused`."""
        if not self.has(name):
            return
        try:
            with _refuse_damage(member=name), self.archive.open(name) as member:
                within = paragraphs = 0
                for event, element in member_elements(cast(BinaryIO, member), name, tags):
                    if element.tag in whole:
                        within += 1 if event == "start" else -1
                    if event == "end" and element.tag.endswith("}p"):
                        paragraphs += 1
                        if paragraphs > self.most_paragraphs:
                            raise DocumentRefused(Refusal.TOO_LARGE, paragraphs=paragraphs)
                    yield event, element
                    if event == "end" and not within:
                        free_element(element)
        except RuntimeError as error:  # zipfile's word for a member with a password
            raise DocumentRefused(Refusal.PASSWORD) from error


def member_elements(member: BinaryIO, name: str, tags: frozenset[str] | None = None) -> Iterator[tuple[str, Any]]:
    """`start` and `end` of the elements of an open member, by the names that most programs give them. Raises
    `DocumentRefused`."""
    is_strict: bool | None = None
    try:
        for event, element in stream(member, tags=None if tags is None else sorted(tags), limits=_XML):
            if is_strict is None:
                is_strict = element.tag.startswith(_STRICT)
            if is_strict and event == "start":
                _name_as_usual(element)
            yield event, element
    except UnsafeXml as fault:
        raise DocumentRefused(Refusal.BOMB, what=str(fault.data.get("why", ""))) from fault
    except PackageFault as fault:
        raise DocumentRefused(Refusal.DAMAGED, member=name) from fault


def _name_as_usual(element: Any) -> None:
    """Gives an element of the strict form of Office Open XML, and its attributes, the names that nearly all others
    have."""
    element.tag = _usual_name(element.tag)
    for name, value in element.attrib.items():
        if name.startswith(_STRICT):
            del element.attrib[name]
            element.set(_usual_name(name), value)


def _usual_name(name: str) -> str:
    """`{…/2006/main}p` of `{http://purl.oclc.org/ooxml/wordprocessingml/main}p`."""
    if not name.startswith(_STRICT):
        return name
    space, _, last = name.removeprefix(_STRICT).rpartition("/")
    return f"{{http://schemas.openxmlformats.org/{space}/2006/{last}"


@contextmanager
def open_package(path: Path) -> Iterator[Package]:
    """Opens a zipped document as long as a block lasts. Raises `DocumentRefused` if it is damaged, locked or a bomb."""
    try:
        with _refuse_damage():
            archive = zipfile.ZipFile(path)
    except ValueError as error:
        raise DocumentRefused(Refusal.DAMAGED) from error
    with archive:
        members = archive.infolist()
        unpacked = sum(member.file_size for member in members)
        packed = max(1, sum(member.compress_size for member in members))
        if len(members) > MOST_MEMBERS or unpacked > MOST_BYTES:
            raise DocumentRefused(Refusal.BOMB, members=len(members), bytes=unpacked)
        if unpacked > SMALL and unpacked / packed > MOST_RATIO:
            raise DocumentRefused(Refusal.BOMB, ratio=round(unpacked / packed))
        if any(member.flag_bits & ENCRYPTED for member in members):
            raise DocumentRefused(Refusal.PASSWORD)
        names = tuple(member.filename for member in members)
        yield Package(archive, names, MOST_BYTES if _has_sheets(archive, names) else MOST_PARAGRAPHS)


def _has_sheets(archive: zipfile.ZipFile, names: tuple[str, ...]) -> bool:
    """True for a spreadsheet, each of whose cells is a paragraph."""
    if "mimetype" in names and archive.getinfo("mimetype").file_size < _MOST_TYPE_BYTES:
        with _refuse_damage(member="mimetype"):
            return b"spreadsheet" in archive.read("mimetype")
    return False
