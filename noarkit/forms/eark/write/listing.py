"""The files that stand in a growing package, with what is told of each: from the build's rows and the order's facts.

Facts of single files are kept in a temporary database, and only where there are any.
"""

from __future__ import annotations

import mimetypes
from collections.abc import Iterator
from typing import NamedTuple

from noarkit.forms.container.progress import Progress
from noarkit.forms.eark import spec
from noarkit.forms.eark.write.markup import moment, moment_of_stamp
from noarkit.forms.eark.write.order import EarkFile, MetadataFile
from noarkit.safe.scratch import scratch

UNKNOWN_TYPE = "application/octet-stream"
_BATCH = 1_000
_OWN_TYPES = {".xsd": "application/xml", ".xml": "application/xml", ".siard": "application/zip"}


class PackageFile(NamedTuple):  # made twice for each file: twice as quick as a dataclass
    """A file of the package. `name` is its path from the folder whose METS tells of it."""

    name: str
    size_bytes: int
    digest: str
    created: str
    media_type: str
    puid: str = ""
    format_name: str = ""
    format_version: str = ""
    original_name: str = ""
    md_type: str = ""
    md_version: str = ""


_FactRow = tuple[str, str, str, str, str, str, str]
_NO_FACTS: _FactRow = ("", "", "", "", "", "", "")


class Facts:
    """What the order says of single files, by their names in the package."""

    def __init__(self) -> None:
        self._db = scratch()
        self._db.execute(
            "CREATE TABLE file_facts (name TEXT PRIMARY KEY, media TEXT, puid TEXT, format TEXT, version TEXT,"
            " created TEXT, original TEXT, md TEXT) WITHOUT ROWID"
        )
        self._waiting: list[tuple[str, *_FactRow]] = []
        self._types = mimetypes.MimeTypes(filenames=())  # the language's own table: the same everywhere
        self._by_ending: dict[str, str] = {}
        self._of_files = False

    def close(self) -> None:
        """Forgets everything."""
        self._db.close()

    def file(self, name: str, file: EarkFile) -> None:
        """Remembers what is told of a file, if anything."""
        created = moment(file.created) if file.created else ""
        facts = (file.media_type, file.puid, file.format_name, file.format_version, created, file.original_name, "")
        if facts != _NO_FACTS:
            self._of_files = True
            self._remember(name, facts)

    def metadata(self, name: str, file: MetadataFile) -> None:
        """Remembers of what type metadata is."""
        self._remember(name, (file.media_type, "", "", "", "", "", file.md_type))

    def _remember(self, name: str, facts: _FactRow) -> None:
        self._waiting.append((name, *facts))
        if len(self._waiting) >= _BATCH:
            self._flush()

    def _flush(self) -> None:
        self._db.execute("BEGIN")
        self._db.executemany("INSERT OR REPLACE INTO file_facts VALUES (?, ?, ?, ?, ?, ?, ?, ?)", self._waiting)
        self._db.execute("COMMIT")
        self._waiting.clear()

    def of(self, name: str) -> _FactRow:
        """What is told of a file."""
        if not self._of_files and f"{spec.METADATA}/" not in name:  # a million times nothing is asked in vain
            return _NO_FACTS
        if self._waiting:
            self._flush()
        row = self._db.execute(
            "SELECT media, puid, format, version, created, original, md FROM file_facts WHERE name = ?", (name,)
        ).fetchone()
        return _NO_FACTS if row is None else row

    def media_type(self, name: str) -> str:
        """The media type that the name's ending means."""
        dot = name.rfind(".")
        suffix = name[dot:].lower() if dot > name.rfind("/") else ""
        found = self._by_ending.get(suffix)
        if found is None:
            found = _OWN_TYPES.get(suffix) or self._types.guess_type(f"x{suffix}")[0] or UNKNOWN_TYPE
            if len(self._by_ending) < _BATCH:
                self._by_ending[suffix] = found
        return found


class Listing:
    """The files of a build below a folder, in the order of their names. `created` serves those without a time."""

    def __init__(self, progress: Progress, facts: Facts, created: str) -> None:
        self._progress = progress
        self._facts = facts
        self._created = created

    def below(self, folder: str, base: str = "") -> Iterator[PackageFile]:
        """What was taken below `folder`; names are told without `base`."""
        facts, skip = self._facts, len(base)
        for row in self._progress.rows("payload", by_name=True, below=folder):
            media, puid, form, version, created, original, md = facts.of(row.name)
            yield PackageFile(
                row.name[skip:],
                row.size_bytes,
                row.digests[0],
                created or moment_of_stamp(row.stamp) or self._created,
                media or facts.media_type(row.name),
                puid,
                form,
                version,
                original,
                md,
            )

    def any_below(self, folder: str) -> bool:
        """Whether anything was taken below `folder`."""
        rows = self._progress.rows("payload", by_name=True, below=folder)
        return next(rows, None) is not None

    def written_file(self, name: str, base: str = "", md: tuple[str, str] = ("", "")) -> PackageFile:
        """A file that this build wrote itself; `md` is its metadata type and version."""
        entry = self._progress.find(name)
        assert entry is not None  # noqa: S101  # whoever asks has written it
        row = entry[0]
        return PackageFile(
            name[len(base) :],
            row.size_bytes,
            row.digests[0],
            self._created,
            "application/xml",
            md_type=md[0],
            md_version=md[1],
        )
