"""Turns what the walk found into source records: the plain values that recipes see as `"record"`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from functools import lru_cache

from noarkit.graph.entity import Content, Note
from noarkit.records import SourceRecord
from noarkit.safe.owners import group_name, user_name
from noarkit.sources.files import policy
from noarkit.sources.files.case_names import read_form
from noarkit.sources.files.file_filter import Folder, FoundFile
from noarkit.sources.files.names import has_forbidden, has_invisible, is_decodable, is_plain, key_of, text_of
from noarkit.sources.files.policy import FilePolicy
from noarkit.sources.files.walk import EmptyFolder

_AS_IT_STANDS = FilePolicy()
_LONG_PATH = 255
_DAY_S = 86_400
_MINUTE_NS = 60 * 1_000_000_000
_SECONDS = tuple(f":{second:02}" for second in range(60))
_FRACTIONS = tuple(f".{millisecond:03}Z" for millisecond in range(1000))
_KNOWS_BIRTH = hasattr(os.stat_result, "st_birthtime")  # on macOS and BSD


class RecordMaker:
    """Makes the records of one tree. Remembers the notes of the folder at hand and the names of owners."""

    def __init__(self, root_name: str, *, now: float, file_policy: FilePolicy = _AS_IT_STANDS) -> None:
        self._root_name = root_name
        self._case_level = file_policy.case_level
        self._case_form = read_form(file_policy.case_name) if file_policy.case_name else None
        self._case_exceptions = frozenset(file_policy.case_exceptions)
        self._case: dict[str, object] = {}
        self._latest_ns = int((now + _DAY_S) * 1e9)
        self._folder: Folder | None = None
        self._folder_notes: tuple[Note, ...] = ()
        self._folders: list[str] = []
        self._rights = lru_cache(maxsize=65_536)(_rights)

    def file(
        self,
        found_file: FoundFile,
        *,
        media_type: str | None = None,
        puid: str | None = None,
        saved: str | None = None,
    ) -> SourceRecord:
        """The record of one file, its content the file itself."""
        folder, name, status, _, _ = found_file
        if folder is not self._folder:
            self._enter(folder)
        text = text_of(name)
        is_usual = is_plain(text)
        key = folder.key + (text if is_usual and "%" not in text else key_of(name))
        fields = self._fields(folder, text, status)
        fields["media_type"] = media_type
        fields["puid"] = puid
        fields["saved"] = saved
        content = Content(key, text, status.st_size, status.st_mtime_ns, None, media_type, puid)
        return SourceRecord("file", key, fields, (content,), self._notes(found_file, text, is_usual))

    def summarize(self, file: FoundFile) -> tuple[str, tuple[Note, ...]]:
        """The ending of a file's name, and its notes: what a count of formats and troubles needs."""
        if file.folder is not self._folder:
            self._enter(file.folder)
        text = text_of(file.name)
        stem, _, ext = text.rpartition(".")
        return ext.lower() if stem else "", self._notes(file, text, is_plain(text))

    def folder(self, emptiness: EmptyFolder) -> SourceRecord:
        """The record of a folder with nothing in it; its key ends with a slash."""
        folder, status = emptiness
        self._enter(folder)
        fields = self._fields(folder, "", status)
        fields["path"], fields["parts"] = folder.text.rstrip("/"), list(folder.parts)
        fields["name"] = fields["stem"] = folder.parts[-1]
        fields["folder"], fields["folders"] = "/".join(folder.parts[:-1]), list(folder.parts[:-1])
        fields["top"], fields["depth"] = (folder.parts[0] if len(folder.parts) > 1 else ""), len(folder.parts) - 1
        fields["size"] = None
        return SourceRecord("folder", folder.key, fields, (), self._folder_notes)

    def _fields(self, folder: Folder, text: str, status: os.stat_result) -> dict[str, object]:
        stem, _, ext = text.rpartition(".")
        if not stem:
            stem, ext = text, ""
        parts = folder.parts
        owner, group, mode = self._rights(status.st_uid, status.st_gid, status.st_mode)
        return {
            "path": folder.text + text,
            "parts": [*parts, text],
            "folder": folder.text[:-1],
            "folders": self._folders,
            "top": parts[0] if parts else "",
            "root": self._root_name,
            "name": text,
            "stem": stem,
            "ext": ext.lower(),
            "depth": len(parts),
            "case": self._case,
            "size": status.st_size,
            "modified": timestamp(status.st_mtime_ns),
            "created": _birth(status) if _KNOWS_BIRTH else None,
            "owner": owner,
            "group": group,
            "mode": mode,
            "media_type": None,
            "puid": None,
            "saved": None,
            "mail": {},
            "register": {},
        }

    def _notes(self, file: FoundFile, text: str, is_usual: bool) -> tuple[Note, ...]:
        folder, _, status, twin, through_link = file
        if (
            is_usual
            and status.st_size
            and twin is None
            and not through_link
            and len(folder.text) + len(text) <= _LONG_PATH
            and 1_000_000_000 < status.st_mtime_ns < self._latest_ns
        ):
            return self._folder_notes
        return _merge_notes(self._folder_notes, self._unusual_notes(file, text))

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

    def _enter(self, folder: Folder) -> None:
        """Learns what all files of a folder have in common."""
        notes = list(_name_notes(folder.steps, folder.parts))
        if folder.foreign:
            notes.append(policy.OTHER_FILE_SYSTEM)
        if 0 < self._case_level < len(folder.parts):
            notes.append(policy.FLATTENED)
        self._folder, self._folder_notes, self._folders = folder, tuple(notes), list(folder.parts)
        self._case = self._case_of(folder)

    def _case_of(self, folder: Folder) -> dict[str, object]:
        """What the name of the case file says that a folder is or lies in; nothing if it bears no number."""
        if self._case_form is None or not 0 < self._case_level <= len(folder.parts):
            return {}
        name = folder.parts[self._case_level - 1]
        case = None if name in self._case_exceptions else self._case_form.parse(name)
        if case is None:
            return {}
        return case.fields(name)


def timestamp(nanoseconds: int) -> str | None:
    """A time of a file as wire timestamp in UTC; None beyond what a calendar can tell."""
    # many files were changed within the same minute as others
    minute = _minute(nanoseconds // _MINUTE_NS)
    if minute is None:
        return None
    milliseconds = nanoseconds % _MINUTE_NS // 1_000_000
    return minute + _SECONDS[milliseconds // 1000] + _FRACTIONS[milliseconds % 1000]


def _birth(status: os.stat_result) -> str | None:
    born: float = getattr(status, "st_birthtime", 0.0)
    return timestamp(int(born * 1e9))


@lru_cache(maxsize=16_384)
def _minute(minutes: int) -> str | None:
    day = _day(minutes // (24 * 60))
    return None if day is None else f"{day}T{minutes // 60 % 24:02}:{minutes % 60:02}"


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


def _rights(user: int, group: int, mode: int) -> tuple[str, str, str]:
    return _name_of(user, user_name), _name_of(group, group_name), format(mode & 0o7777, "04o")


def _name_of(number: int, look_up: Callable[[int], str]) -> str:
    try:
        return look_up(number)
    except (KeyError, OverflowError):
        return str(number)  # an owner that this machine does not know
