"""Copies that wait for a person: found by what that person calls them, accepted in a name that is kept."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from noarkit.copies.objects import OBJECTS
from noarkit.copies.rows import IS_COPY_OF, Acceptance, StoredCopy, StoredDocument, copy_of, document_of
from noarkit.copies.store import COPY_ROWS, DOCUMENT_ROWS, CopyStore
from noarkit.errors import UsageFault

_PREFIX = re.compile("[0-9a-f]{6,63}")
"""Digits enough to name a document by its sha256."""
_OF_COPY = f"document d WHERE {IS_COPY_OF.format('?1')}"


def held_copies(store: CopyStore) -> Iterator[StoredCopy]:
    """Every copy that waits for a person."""
    for row in store.rows(f"{COPY_ROWS} WHERE state = 'held' ORDER BY n"):
        yield copy_of(row, store.folder / OBJECTS)


def held_codes(copy: StoredCopy) -> list[str]:
    """The codes of the findings that a copy is held for."""
    codes = copy.data.get("findings")
    return [str(code) for code in codes] if isinstance(codes, list) else []


def record_keys(store: CopyStore, copy: int) -> Sequence[str]:
    """The keys of the records that the documents of a copy belong to."""
    rows = store.rows(f"SELECT DISTINCT d.record_key FROM {_OF_COPY}", (copy,))  # noqa: S608  # ours
    return [str(row[0]) for row in rows]


def document_name(store: CopyStore, copy: int) -> str:
    """The name of the document that a copy is of; of several with the same bytes, the first."""
    rows = store.rows(f"SELECT d.name FROM {_OF_COPY} ORDER BY d.n LIMIT 1", (copy,))  # noqa: S608  # ours
    return str(rows[0][0]) if rows else ""


def documents_by_key(store: CopyStore, key: str, limit: int) -> Sequence[StoredDocument]:
    """Documents as their sources were last read, by the key of their record or their sha256, else by their own
    name; each content once."""
    for condition in ("record_key = ?1 OR sha256 = ?1", "name = ?1"):
        first = (
            f"SELECT min(n) FROM document WHERE ({condition})"  # noqa: S608  # ours
            " AND walk IN (SELECT max(n) FROM walk GROUP BY source) GROUP BY coalesce(sha256, n), copy"
        )
        rows = store.rows(f"{DOCUMENT_ROWS} WHERE n IN ({first}) ORDER BY n LIMIT ?2", (key, limit))
        if rows:
            break
    return [document_of(row) for row in rows]


def whole_sha256(store: CopyStore, text: str) -> str:
    """The sha256 of a document that begins so, where it is the only one; any other text as it is.

    Raises `UsageFault` where several begin so.
    """
    if not _PREFIX.fullmatch(text):
        return text
    rows = store.rows("SELECT DISTINCT sha256 FROM document WHERE sha256 GLOB ? LIMIT 2", (f"{text}*",))
    if len(rows) > 1:
        raise UsageFault(what="ambiguous-sha256", where=text)
    return str(rows[0][0]) if rows else text


def acceptances(store: CopyStore, copy: int) -> Sequence[Acceptance]:
    """Who accepted a copy, in what order."""
    rows = store.rows("SELECT what, who, at FROM acceptance WHERE copy = ? ORDER BY n", (copy,))
    return [Acceptance(*map(str, row)) for row in rows]


def accepters(store: CopyStore, name: str) -> Sequence[str]:
    """Who accepted copies with a finding, a record key or the sha256 of a document, each once."""
    statement = (
        "SELECT DISTINCT a.who FROM acceptance a JOIN copy c ON c.n = a.copy WHERE c.source_sha256 = ?1"  # noqa: S608  # ours
        " OR EXISTS (SELECT 1 FROM json_each(c.data, '$.findings') WHERE value = ?1)"
        f" OR EXISTS (SELECT 1 FROM document d WHERE record_key = ?1 AND {IS_COPY_OF.format('c.n')}) ORDER BY a.n"
    )
    return [str(row[0]) for row in store.rows(statement, (name,))]


def acceptances_by_day(store: CopyStore) -> Sequence[tuple[str, str, int]]:
    """Who accepted copies of documents that are in a source still, on which day, and how many."""
    statement = (
        "SELECT a.who, substr(a.at, 1, 10), count(DISTINCT a.copy) FROM acceptance a"  # noqa: S608  # ours
        f" WHERE EXISTS (SELECT 1 FROM document d WHERE {IS_COPY_OF.format('a.copy')}"
        " AND d.walk IN (SELECT max(n) FROM walk GROUP BY source))"
        " GROUP BY 1, 2 ORDER BY 2, 1"
    )
    return [(str(who), str(day), int(count)) for who, day, count in store.rows(statement)]


def accept_copy(store: CopyStore, n: int, what: str, by: str, at: str) -> None:
    """Makes a held copy a copy, by a person's name, which is kept."""
    with store.transaction() as db:
        db.execute("INSERT INTO acceptance (copy, what, who, at) VALUES (?, ?, ?, ?)", (n, what, by, at))
        db.execute("UPDATE copy SET state = 'made', accepted_by = ? WHERE n = ? AND state = 'held'", (by, n))
