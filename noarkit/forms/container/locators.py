"""Opens single files of a zip or tar by what a plan remembers of them: nothing is judged or indexed a second time.

A locator says where a member lies and how it is packed. It is good for the archive file it was told of alone, which
must not have changed since: its time is held against it, and a zip's own headers and checksums against the bytes.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from noarkit.errors import HostileInput, ItemChanged, ItemUnreadable, ItemVanished, PackageFault
from noarkit.safe.atomic import no_room
from noarkit.safe.unpack import Content, Member, Picker, expand_to, form_of
from noarkit.safe.workplace import folder_for_owner
from noarkit.safe.zipped import Packing

_MAX_REWINDS = 3
"""So often a packed tar is read again from its start before it is unpacked as a whole."""


def locator_of(member: Member) -> str:
    """What finds a member again."""
    packing = member.packing
    if packing is None:
        return f"{member.offset_bytes or 0},{member.size_bytes}:{member.name}"
    lies = (packing.header_at, member.size_bytes, packing.method, packing.packed_bytes, packing.crc)
    spelt = "" if member.spelt == member.name else f"//{member.spelt}"
    return f"{','.join(map(str, lies))}:{member.name}{spelt}"


def member_at(locator: str) -> Member:
    """The member that a locator speaks of. Raises `ItemVanished` for a text that is none."""
    where, _, names = locator.partition(":")
    name, _, spelt = names.partition("//")
    numbers = where.split(",")
    if len(numbers) not in (2, 5) or not all(number.isdecimal() for number in numbers):
        raise ItemVanished(key=locator)
    fields = [int(number) for number in numbers]
    if len(fields) == 2:
        return Member(tuple(name.split("/")), fields[1], None, fields[0])
    return Member(
        tuple(name.split("/")),
        fields[1],
        None,
        None,
        Packing(fields[0], fields[2], fields[3], fields[4]),
        spelt or name,
    )


class MemberReader:
    """The members of one archive file, several open at once where several ask."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._idle: list[Picker] = []
        self._owner = os.getpid()
        self._last = 0
        self._rewinds = 0
        self._expanded: Path | None = None
        weakref.finalize(self, _close_pickers, self._idle)

    def modified_ns(self) -> int:
        """When the archive file was last written to. Raises `ItemVanished`."""
        try:
            return self.path.stat().st_mtime_ns
        except OSError as error:
            raise ItemVanished(key=str(self.path)) from error

    @contextmanager
    def open(self, locator: str) -> Iterator[Content]:
        """The bytes of a member. Raises `ItemVanished`, `ItemUnreadable`."""
        member = member_at(locator)
        try:
            picker = self._picker(member)
        except FileNotFoundError as error:
            raise ItemVanished(key=member.name) from error
        except (OSError, PackageFault) as error:
            raise ItemUnreadable(key=member.name, why=_reason_of(error)) from error
        try:
            with picker.open(member) as content:
                yield content
        except (PackageFault, HostileInput) as error:
            raise ItemUnreadable(key=member.name, why=_reason_of(error)) from error
        finally:
            self._idle.append(picker)

    def _picker(self, member: Member) -> Picker:
        if self._owner != os.getpid():  # a child of whoever opened it: files that two read move under both
            self._idle = []
            self._owner, self._last, self._rewinds, self._expanded = os.getpid(), 0, 0, None
            weakref.finalize(self, _close_pickers, self._idle)
        if member.packing is None and self._expanded is None:
            self._rewinds += (member.offset_bytes or 0) < self._last
            self._last = member.offset_bytes or 0
            if self._rewinds > _MAX_REWINDS and form_of(self.path) != "tar":
                _close_pickers(self._idle)
                self._expanded = _expanded(self.path, self)
        return self._idle.pop() if self._idle else Picker(self._expanded or self.path)

    def close(self) -> None:
        """Lets the archive file go; so does the end of whoever holds this."""
        _close_pickers(self._idle)


class MemberStream:
    """The bytes of a member as a source gives them: still the same where the archive file is."""

    def __init__(self, content: Content, place: MemberReader, modified_ns: int | None) -> None:
        self._content = content
        self._place = place
        self._modified_ns = modified_ns
        if not self.still_the_same():
            raise ItemChanged(key=str(place.path), why="time")

    def read(self, size: int = -1, /) -> bytes:
        """Up to `size` bytes."""
        try:
            return self._content.read(size)
        except (PackageFault, HostileInput) as error:
            raise ItemUnreadable(key=str(self._place.path), why=_reason_of(error)) from error

    def still_the_same(self) -> bool:
        """True if nobody wrote to the archive file since the plan was made."""
        return self._modified_ns is None or self._place.modified_ns() == self._modified_ns


def _expanded(path: Path, owner: MemberReader) -> Path:
    """A packed tar, unpacked once into a file of our own: going back in it would unpack it from the start each time."""
    plain = folder_for_owner(owner, "tar") / "plain.tar"
    with no_room(plain):
        expand_to(path, plain)
    return plain


def _close_pickers(idle: list[Picker]) -> None:
    while idle:
        idle.pop().close()


def _reason_of(error: Exception) -> str:
    if isinstance(error, OSError) and error.errno is not None:
        return os.strerror(error.errno)
    return str(getattr(error, "data", {}).get("why", type(error).__name__))
