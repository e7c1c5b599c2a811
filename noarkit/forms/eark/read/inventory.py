"""What is there and what is listed, side by side in a temporary database."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from noarkit.forms.container.inventory import FileInventory, after, compose
from noarkit.forms.container.storage import StoredFile
from noarkit.forms.eark.read.hrefs import ResolvedHref, resolve
from noarkit.forms.metadata.mets_facts import MetsItem, Role

_BATCH = 2_000
_REPRESENTATIONS = "/representations/"
_COLUMNS = (
    "name, why, mets, href, use, size, checksum, checksum_type, media_type, created, md_type, format_name,"
    " format_version, puid, original_name, status"
)


@dataclass(frozen=True, slots=True)
class Entry:
    """Something that is listed. `name` is how it is stored; `why` is empty if it is there."""

    name: str
    why: str
    mets: str
    href: str
    use: str
    size_bytes: int | None
    checksum: str
    checksum_type: str
    media_type: str
    created: str
    md_type: str
    format_name: str
    format_version: str
    puid: str
    original_name: str
    status: str


def representation_folder(name: str) -> str | None:
    """The folder of the representation in which a file lies, the outermost one.

    >>> representation_folder("submission/representations/rep1/data/a.txt")
    'submission/representations/rep1/'
    """
    at = f"/{name}".lower().find(_REPRESENTATIONS)
    if at < 0:
        return None
    end = name.find("/", at + len(_REPRESENTATIONS) - 1)
    return None if end < 0 else name[: end + 1]


class Inventory:
    """The files of one package."""

    def __init__(self) -> None:
        self._files = FileInventory(
            f"listed (number INTEGER PRIMARY KEY, role TEXT, folder TEXT, {_COLUMNS}, content TEXT, other TEXT)"
        )
        self._db = self._files.db
        self._db.execute("CREATE INDEX listed_name ON listed (name)")
        self._db.execute("CREATE INDEX listed_folder ON listed (role, folder, name)")
        self._listed: list[tuple[object, ...]] = []

    def close(self) -> None:
        """Forgets everything."""
        self._files.close()

    def add_present(self, files: Iterable[StoredFile]) -> None:
        """All that is there."""
        self._files.add(files)

    def add_listed(self, mets: str, reference: MetsItem, target: ResolvedHref) -> None:
        """Something that a METS lists."""
        self._listed.append(
            (
                reference.role,
                representation_folder(mets if target.why == "outside" else target.name) or "",
                target.name,
                target.why,
                mets,
                reference.href,
                reference.use,
                reference.size_bytes,
                reference.checksum,
                reference.checksum_type,
                reference.media_type,
                reference.created,
                reference.md_type,
                reference.format_name,
                reference.format_version,
                reference.puid,
                reference.original_name,
                reference.status,
                reference.content_type,
                reference.other_content_type,
            )
        )
        if len(self._listed) >= _BATCH:
            self.flush_listed()

    def flush_listed(self) -> None:
        """No more come for now."""
        placeholders = ", ".join("?" * 20)
        self._files.insert(
            f"INSERT INTO listed (role, folder, {_COLUMNS}, content, other) VALUES ({placeholders})",  # noqa: S608  # our own columns
            self._listed,
        )
        self._listed.clear()

    def resolve(self, href: str, folder: str) -> ResolvedHref:
        """Where a reference leads."""
        return resolve(href, folder, self.find)

    def find(self, name: str) -> str | None:
        """How a name is stored: as it is spelt, or composed otherwise where only one is the same but for that."""
        if self._files.has(name):
            return name
        if name.isascii():
            return None
        form = compose(name)
        names = {*self._files.alike(name), *([form] if self._files.has(form) else [])}
        return names.pop() if len(names) == 1 else None

    def entries(self, role: Role, folder: str | None) -> Iterator[Entry]:
        """What is listed in a role: everywhere, in one representation's folder, or outside of all (``""``)."""
        values = (role,) if folder is None else (role, folder)
        where = "role = ?" if folder is None else "role = ? AND folder = ?"
        query = f"SELECT {_COLUMNS} FROM listed WHERE {where} ORDER BY folder, name, number"  # noqa: S608  # ours
        for row in self._db.execute(query, values):
            yield Entry(*row)

    def mark_as_mets(self, name: str) -> None:
        """A file turned out to be a METS that is read: it is no file like others."""
        self._db.execute("UPDATE listed SET role = 'pointer' WHERE name = ?", (name,))

    def entry(self, name: str) -> Entry | None:
        """What is listed of one file; the first, where it is listed several times."""
        query = f"SELECT {_COLUMNS} FROM listed WHERE name = ? ORDER BY number LIMIT 1"  # noqa: S608  # ours
        row = self._db.execute(query, (name,)).fetchone()
        return Entry(*row) if row else None

    def content_of(self, folder: str) -> tuple[str, str]:
        """The content type that the groups of a folder's files tell."""
        query = "SELECT content, other FROM listed WHERE folder = ? AND content != '' LIMIT 1"
        row = self._db.execute(query, (folder,)).fetchone()
        return (str(row[0]), str(row[1])) if row else ("", "")

    def folders(self) -> Iterator[str]:
        """The folders of representations in which files lie; each is skipped once it is known."""
        name = ""
        while True:
            row = self._db.execute("SELECT name FROM present WHERE name > ? ORDER BY name LIMIT 1", (name,)).fetchone()
            if row is None:
                return
            folder = representation_folder(row[0])
            if folder is None:
                name = row[0]
            else:
                yield folder
                name = after(folder)

    def all_files(self) -> Iterator[tuple[str, int]]:
        """What is there."""
        yield from self._db.execute("SELECT name, size FROM present ORDER BY name")

    def unlisted(self) -> Iterator[str]:
        """What is there, and listed nowhere."""
        return self._files.unlisted("SELECT name FROM listed UNION SELECT 'METS.xml'")

    def unlisted_below(self, folder: str) -> Iterator[tuple[str, int]]:
        """What is there below a folder, and listed nowhere, with its size."""
        query = (
            "SELECT name, size FROM present p WHERE name >= ? AND name < ?"
            " AND NOT EXISTS (SELECT 1 FROM listed l WHERE l.name = p.name) ORDER BY name"
        )
        yield from self._db.execute(query, (folder, after(folder)))

    def size_of(self, name: str) -> int | None:
        """How large a file is that is there."""
        return self._files.size_of(name)
