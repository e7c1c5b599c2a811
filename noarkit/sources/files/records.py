"""Turns what the walk found into source records: the plain values that recipes see as `record`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from functools import lru_cache

from noarkit.graph.entity import Content, Note
from noarkit.records import SourceRecord
from noarkit.safe.owners import group_name, user_name
from noarkit.sources.files import policy
from noarkit.sources.files.file_filter import Folder, FoundFile
from noarkit.sources.files.names import has_forbidden, has_invisible, is_decodable, key_of, text_of
from noarkit.sources.files.walk import EmptyFolder

_LONG_PATH = 255
_DAY_S = 86_400


class RecordMaker:
    """Makes the records of one tree. Remembers the notes of the folder at hand and the names of owners."""

    def __init__(self, root_name: str, *, now: float, case_level: int = 0) -> None:
        self._root_name = root_name
        self._case_level = case_level
        self._latest_ns = int((now + _DAY_S) * 1e9)
        self._folder: Folder | None = None
        self._folder_notes: tuple[Note, ...] = ()
        self._owner = _cached(user_name)
        self._group = _cached(group_name)
        self._mode = lru_cache(maxsize=4096)(lambda mode: format(mode & 0o7777, "04o"))

    def file(self, found_file: FoundFile, *, media_type: str | None = None, puid: str | None = None) -> SourceRecord:
        """The record of one file, its content the file itself."""
        folder, name, status, _, _ = found_file
        key = folder.key + key_of(name)
        text = text_of(name)
        size, modified_ns = status.st_size, status.st_mtime_ns
        fields = self._fields(folder, text, status)
        fields["media_type"] = media_type
        fields["puid"] = puid
        content = Content(key, text, size, modified_ns, None, media_type, puid)
        return SourceRecord("file", key, fields, (content,), self._notes(found_file, text))

    def summarize(self, file: FoundFile) -> tuple[str, tuple[Note, ...]]:
        """The ending of a file's name, and its notes: what a count of formats and troubles needs."""
        text = text_of(file.name)
        stem, _, ext = text.rpartition(".")
        return ext.lower() if stem else "", self._notes(file, text)

    def folder(self, emptiness: EmptyFolder) -> SourceRecord:
        """The record of a folder with nothing in it; its key ends with a slash."""
        folder, status = emptiness
        fields = self._fields(folder, "", status)
        fields["path"], fields["parts"] = folder.text.rstrip("/"), list(folder.parts)
        fields["name"] = fields["stem"] = folder.parts[-1]
        fields["folder"], fields["folders"] = "/".join(folder.parts[:-1]), list(folder.parts[:-1])
        fields["top"], fields["depth"] = (folder.parts[0] if len(folder.parts) > 1 else ""), len(folder.parts) - 1
        fields["size"] = None
        return SourceRecord("folder", folder.key, fields, (), self._notes_of(folder))

    def _fields(self, folder: Folder, text: str, status: os.stat_result) -> dict[str, object]:
        stem, _, ext = text.rpartition(".")
        if not stem:
            stem, ext = text, ""
        parts = folder.parts
        born = getattr(status, "st_birthtime", None)  # known on macOS and BSD
        return {
            "path": folder.text + text,
            "parts": [*parts, text],
            "folder": folder.text[:-1],
            "folders": list(parts),
            "top": parts[0] if parts else "",
            "root": self._root_name,
            "name": text,
            "stem": stem,
            "ext": ext.lower(),
            "depth": len(parts),
            "size": status.st_size,
            "modified": timestamp(status.st_mtime_ns),
            "created": None if born is None else timestamp(int(born * 1e9)),
            "owner": self._owner(status.st_uid),
            "group": self._group(status.st_gid),
            "mode": self._mode(status.st_mode),
            "media_type": None,
            "puid": None,
            "mail": {},
            "register": {},
        }

    def _notes(self, file: FoundFile, text: str) -> tuple[Note, ...]:
        folder, _, status, twin, through_link = file
        notes = self._folder_notes if folder is self._folder else self._notes_of(folder)
        modified_ns = status.st_mtime_ns
        if (
            text.isprintable()
            and "\ufffd" not in text
            and status.st_size
            and twin is None
            and not through_link
            and len(folder.text) + len(text) <= _LONG_PATH
            and 1_000_000_000 < modified_ns < self._latest_ns
        ):
            return notes
        return _merge_notes(notes, self._unusual_notes(file, text))

    def _unusual_notes(self, file: FoundFile, text: str) -> Iterable[Note]:
        folder, name, status, twin, through_link = file
        yield from _name_notes([name], [text])
        if twin is not None:
            yield policy.CASE_TWIN if twin else policy.COMPOSITION_TWIN
        if len(folder.text) + len(text) > _LONG_PATH:
            yield policy.LONG_PATH
        if not status.st_size:
            yield policy.EMPTY
        if not 1_000_000_000 < status.st_mtime_ns < self._latest_ns:
            yield policy.ODD_TIME
        if through_link:
            yield policy.THROUGH_LINK

    def _notes_of(self, folder: Folder) -> tuple[Note, ...]:
        notes = list(_name_notes(folder.steps, folder.parts))
        if folder.foreign:
            notes.append(policy.OTHER_FILE_SYSTEM)
        if 0 < self._case_level < len(folder.parts):
            notes.append(policy.FLATTENED)
        self._folder, self._folder_notes = folder, tuple(notes)
        return self._folder_notes


def timestamp(nanoseconds: int) -> str | None:
    """A time of a file as wire timestamp in UTC; None beyond what a calendar can tell."""
    seconds, remaining_ns = divmod(nanoseconds, 1_000_000_000)
    days, seconds = divmod(seconds, _DAY_S)
    day = _day(days)
    if day is None:
        return None
    minutes, second = divmod(seconds, 60)
    hour, minute = divmod(minutes, 60)
    return f"{day}T{hour:02}:{minute:02}:{second:02}.{remaining_ns // 1_000_000:03}Z"


@lru_cache(maxsize=4096)
def _day(days: int) -> str | None:
    try:
        return datetime.fromtimestamp(days * _DAY_S, UTC).date().isoformat()
    except (OverflowError, ValueError, OSError):
        return None


def _name_notes(raw: Iterable[bytes], texts: Iterable[str]) -> Iterable[Note]:
    if not all(map(is_decodable, raw)):
        yield policy.UNDECODABLE
    joined_text = "".join(texts)
    if has_forbidden(joined_text):
        yield policy.FORBIDDEN_SIGNS
    if has_invisible(joined_text):
        yield policy.INVISIBLE_SIGNS


def _merge_notes(notes: tuple[Note, ...], more: Iterable[Note]) -> tuple[Note, ...]:
    return (*notes, *(note for note in more if note not in notes))


def _cached(look_up: Callable[[int], str]) -> Callable[[int], str]:
    @lru_cache(maxsize=65_536)
    def name_of(number: int) -> str:
        try:
            return look_up(number)
        except (KeyError, OverflowError):
            return str(number)  # an owner that this machine does not know

    return name_of
