"""What a plan will make of each source record, to be looked at before somebody approves it.

Read from the locked graph alone, in pages of bounded size; each record and object says whether it is screened, so who
shows it masks it first; what it lies in, its faults, and the keys of duplicates, are masked here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import orjson

from noarkit.catalogue.screening import PlanDisclosures
from noarkit.graph.store import RECORD_STATE, GraphStore
from noarkit.loading.folder import RunFolder
from noarkit.model.conversions import Conversion, original_key, parse_details
from noarkit.model.disclosure import MASK, OPEN, Disclosure, public_title

PAGE = 50
IDENTITY_NUMBER = "W223"
"""The code of a national identity number in a title or open field."""
_MOST_ENTITIES = 100
_ABOVE = (
    "SELECT type, coalesce(json_extract(fields, '$.tittel'), ''), parent,"
    " json_extract(fields, '$.offentligTittel') FROM entity WHERE n = ?"
)
_MOST_KEYS = 20

GroupKind = Literal["set_aside", "skipped", "warning"]


@dataclass(frozen=True, slots=True)
class ReviewGroup:
    """Records that share a fault, a rule or a warning. `grave` is True if a person must decide something."""

    kind: GroupKind
    code: str
    count: int
    grave: bool = False


@dataclass(frozen=True, slots=True)
class ReviewedFile:
    """A file as it was planned; `ref` is the key of its document version, by which it is opened. An archival copy names
    the file that it is `copy_of`, where the plan holds that, and says what it was made with. `is_screened` where the
    file alone is to be had with a reason only."""

    ref: str
    name: str
    size_bytes: int | None
    sha256: str
    media_type: str
    puid: str
    copy_of: str = ""
    conversion: Conversion | None = None
    is_screened: bool = False


@dataclass(frozen=True, slots=True)
class ReviewedEntity:
    """One object that a record will become; `depth` is how far below the record's own it stands, `is_screened` whether
    it is to be masked."""

    key: str
    type: str
    depth: int
    target: str
    recipe_line: int
    fields: Mapping[str, object]
    file: ReviewedFile | None = None
    is_screened: bool = False


@dataclass(frozen=True, slots=True)
class ReviewedRecord:
    """A source record, what became of it in the plan, and what is to be known of it."""

    n: int
    key: str
    state: str
    code: str
    data: Mapping[str, object]
    notes: tuple[tuple[str, Mapping[str, object]], ...] = ()
    entities: tuple[ReviewedEntity, ...] = ()
    above: tuple[tuple[str, str], ...] = ()
    """Type and title of what the record will lie in, the topmost first; titles of what is screened are masked."""
    disclosure: Disclosure = OPEN
    """Whether the record, or something in it, is screened: then its key and what is told of its faults is masked."""
    is_cut: bool = False
    """True if it becomes more entities than are shown."""


@dataclass(frozen=True, slots=True)
class Duplicates:
    """Files with the same bytes: their sha256, how many there are, their size, and the keys of the first records. The
    key of what is screened is masked."""

    sha256: str
    count: int
    size_bytes: int
    keys: tuple[str, ...]


class PlanReview:
    """A plan opened to be looked at. Raises `JournalFault` where the run has none."""

    def __init__(self, folder: RunFolder) -> None:
        self.plan = folder.plan()
        self._graph = GraphStore.open(folder.graph)
        self._db = self._graph.db
        self._disclosures = PlanDisclosures(self._db)

    def close(self) -> None:
        """Ends it."""
        self._graph.close()

    def __enter__(self) -> PlanReview:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def counts(self) -> dict[str, int]:
        """The source records by their state in the plan."""
        return self._graph.record_counts()

    def groups(self) -> tuple[ReviewGroup, ...]:
        """Every fault, rule and warning with the number of its records, what is set aside first."""
        db = self._db
        aside = db.execute(
            "SELECT code, count(*) FROM record WHERE state = 'set_aside' GROUP BY code ORDER BY 2 DESC, 1"
        )
        skipped = self.counts().get("skipped", 0)
        warnings = db.execute(
            "SELECT code, count(DISTINCT coalesce(record, -rowid)), max(grave) FROM note GROUP BY code"
            " ORDER BY 3 DESC, 1"
        )
        return (
            *(ReviewGroup("set_aside", str(code), count, grave=True) for code, count in aside),
            *(ReviewGroup("warning", str(code), count, bool(grave)) for code, count, grave in warnings),
            *([ReviewGroup("skipped", "", skipped)] if skipped else []),
        )

    def records(
        self, after: int = 0, limit: int = PAGE, *, state: str = "", code: str = ""
    ) -> Iterator[ReviewedRecord]:
        """The records from behind a number on: all, those of a state, those with a fault or a warning of a code."""
        condition, values = "n > ?", [str(after)]
        if state:
            condition, values = f"{condition} AND {RECORD_STATE} = ?", [*values, state]
        if code:
            condition += " AND (code = ? OR n IN (SELECT record FROM note WHERE code = ?))"
            values += [code, code]
        rows = self._db.execute(
            f"SELECT n, key, {RECORD_STATE}, root, code, data FROM record WHERE {condition} ORDER BY n LIMIT ?",  # noqa: S608  # our own words
            (*values, limit),
        ).fetchall()
        for row in rows:
            yield self._record(row)

    def duplicates(self, after: str = "", limit: int = PAGE) -> list[Duplicates]:
        """Files that the source holds more than once, as far as the plan knows their bytes."""
        rows = self._db.execute(
            "SELECT sha256, count(*), max(size) FROM content WHERE sha256 > ? GROUP BY sha256 HAVING count(*) > 1"
            " ORDER BY sha256 LIMIT ?",
            (after, limit),
        ).fetchall()
        return [Duplicates(sha256, count, int(size or 0), self._keys_of(sha256)) for sha256, count, size in rows]

    def _keys_of(self, sha256: str) -> tuple[str, ...]:
        rows = self._db.execute(
            "SELECT DISTINCT r.n, r.key FROM content c JOIN entity e ON e.n = c.entity JOIN record r ON r.n = e.record"
            " WHERE c.sha256 = ? ORDER BY r.n LIMIT ?",
            (sha256, _MOST_KEYS),
        )
        return tuple(MASK if self._disclosures.of_record(n).hides_key else str(key) for n, key in rows.fetchall())

    def _record(self, row: Sequence[object]) -> ReviewedRecord:
        n, key, state, root, code, data = row
        number = int(str(n))
        notes = self._db.execute("SELECT code, data FROM note WHERE record = ? ORDER BY rowid", (number,)).fetchall()
        entities = list(self._entities(int(str(root)))) if root is not None else []
        disclosure, fault = self._disclosures.of_record(number), self._disclosures.fault
        return ReviewedRecord(
            number,
            str(key),
            str(state),
            str(code or ""),
            fault(orjson.loads(str(data)), disclosure) if data else {},
            tuple((str(note), fault(orjson.loads(note_data), disclosure)) for note, note_data in notes),
            tuple(entities[:_MOST_ENTITIES]),
            tuple(self._above(int(str(root)))) if root is not None else (),
            disclosure,
            len(entities) > _MOST_ENTITIES,
        )

    def _entities(self, root: int) -> Iterator[ReviewedEntity]:
        """The bundle of a record, parents before children."""
        rows = self._db.execute(
            "SELECT e.n, e.parent, e.key, e.type, e.target, e.line, e.fields, c.name, c.size, c.sha256, c.media_type,"
            " c.puid FROM entity e LEFT JOIN content c ON c.entity = e.n"
            " WHERE e.bundle = (SELECT bundle FROM entity WHERE n = ?) AND e.bundle != 0 ORDER BY e.n LIMIT ?",
            (root, _MOST_ENTITIES + 1),
        ).fetchall()
        depths: dict[int, int] = {}
        names = {str(row[9]): str(row[7]) for row in rows if row[9]}
        disclosures = self._disclosures.of_bundle(root)
        for n, parent, key, kind, target, line, fields, name, size, sha256, media_type, puid in rows:
            depths[n] = depths[parent] + 1 if parent in depths else 0
            known_fields = {field: value for field, value in orjson.loads(fields).items() if value is not None}
            is_screened = disclosures.of_entity(n, parent, kind, known_fields).is_screened
            file = None
            if name is not None:
                file = ReviewedFile(
                    key, name, size, sha256 or "", media_type or "", puid or "", is_screened=is_screened
                )
                file = _as_copy(file, str(known_fields.get("formatDetaljer") or ""), names)
            yield ReviewedEntity(key, kind, depths[n], target, int(line), known_fields, file, is_screened)

    def _above(self, root: int) -> list[tuple[str, str]]:
        above: list[tuple[str, str]] = []
        parent = self._db.execute("SELECT parent FROM entity WHERE n = ?", (root,)).fetchone()[0]
        while parent is not None:
            is_screened = self._disclosures.of_unit(parent).is_screened
            kind, title, parent, public = self._db.execute(_ABOVE, (parent,)).fetchone()
            above.append((str(kind), public_title(str(title), public, screened=is_screened)))
        return above[::-1]


def _as_copy(file: ReviewedFile, details: str, names: Mapping[str, str]) -> ReviewedFile:
    """The file with what it is a copy of, where it is one."""
    conversion = parse_details(details) if original_key(file.ref) is not None else None
    if conversion is None:
        return file
    return replace(file, copy_of=names.get(conversion.source_sha256, ""), conversion=conversion)
