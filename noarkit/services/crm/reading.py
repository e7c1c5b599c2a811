"""What a window holds of each stream of a CRM. Times are a hint: what changed in the window is read, and so is whatever
the archive does not hold, whenever that changed. What it holds and the service no longer has is a deletion."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from noarkit.events import Event, Listener
from noarkit.safe.spill import KeySet
from noarkit.services.crm import listing
from noarkit.services.crm.calls import Calls
from noarkit.services.crm.cases import Cases
from noarkit.services.crm.deletions import Deletions
from noarkit.services.crm.fields import Fields
from noarkit.services.crm.known_items import SNAPSHOT, KnownItems
from noarkit.services.crm.streams import NOTE_FIELDS, CrmItems
from noarkit.services.crm.times import is_changed, parse_time
from noarkit.services.paging import Row
from noarkit.services.port import FetchFailure, ServiceItem, Window

_CHANGED, _ACTIVE = "Modified_Time", "Last_Activity_Time"
_FACTS = (
    "Owner", "Created_By", "Account_Name", "Contact_Name", "Stage", "Status", "Contract_Number", "Case_Number", "Tag",
    _ACTIVE,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads streams within one window. `place` names a stream in faults; `clock_lag` is how far the service's clock is
    behind the one that the window was made by."""

    calls: Calls
    items: CrmItems
    cases: Cases
    known: KnownItems
    window: Window
    place: Callable[[str], str]
    bulk_from: int
    clock_lag: timedelta = timedelta()

    @property
    def since(self) -> datetime | None:
        """The start of the window by the service's clock; None for everything."""
        return None if self.window.since is None else self.window.since - self.clock_lag

    @property
    def reads_all(self) -> bool:
        """True if every record is read whole."""
        return self.window.since is None or self.window.sweep

    @property
    def deletions(self) -> Deletions:
        """The deletions of what was listed."""
        return Deletions(self.calls, self.items, self.known, None if self.reads_all else self.since)

    def read_cases(self, module: str, fields: Fields, emit: Listener) -> Iterator[ServiceItem]:
        """Yields the records of a module that are cases, and notes the facts of all of them. Tells how many have no
        date of creation."""
        self.cases.begin_listing(module)
        self.known.begin_listing(module)
        place = self.place(module)
        if self.reads_all:
            records = listing.all_records(self.calls, module, fields, place, self.bulk_from)
        else:
            slim = fields.only((*_FACTS, *self.items.title_fields, *fields.titles()))
            all_rows = listing.all_records(self.calls, module, slim, place, self.bulk_from)
            ids = (str(row["id"]) for row in all_rows if self._wants_case(module, row, slim))
            records = listing.records_by_ids(self.calls, module, fields, ids)
        undated_count = 0
        for record in records:
            facts = self._add_case(module, record, fields, is_whole=True)
            undated_count += parse_time(record.get("Created_Time")) is None
            yield self.items.record(module, record, fields, facts)
        if undated_count and not self.window.keys_only:
            emit(Event("remark", {"stream": module, "why": "no-creation-date", "key": module, "count": undated_count}))
        yield from self.deletions.of_module(module, place)
        self.cases.end_listing(module)

    def _add_case(self, module: str, record: Row, fields: Fields, *, is_whole: bool) -> Mapping[str, object]:
        """Notes the facts of a case, and returns them."""
        facts = self.items.facts(module, record, fields, asks=is_whole and not self.window.keys_only)
        is_due = self.window.sweep or facts["id"] in self.window.hinted_ids or not self._knows_case(facts)
        self.cases.add(module, facts, (record.get(_CHANGED), record.get(_ACTIVE)), is_due=is_due)
        self.known.mark_listed(module, record["id"])
        return facts

    def _wants_case(self, module: str, record: Row, fields: Fields) -> bool:
        """Notes a listed case. Returns whether it is to be read whole."""
        facts = self._add_case(module, record, fields, is_whole=False)
        return not self._knows_case(facts) or self._is_asked_for(record) or is_changed(record.get(_CHANGED), self.since)

    def _is_asked_for(self, record: Row) -> bool:
        """True for a record that an earlier run left out."""
        return str(record["id"]) in self.window.again

    def _knows_case(self, facts: Mapping[str, object]) -> bool:
        return self.known.has(f"{facts['key']}:{SNAPSHOT}")

    def read_related(self, module: str, fields: Fields) -> Iterator[ServiceItem]:
        """Yields the records of a module that belong to cases, each with its case."""
        self.known.begin_listing(module)
        place = self.place(module)
        if self.reads_all:
            records = listing.all_records(self.calls, module, fields, place, self.bulk_from)
        else:
            names = [name for name in (_CHANGED, *fields.look_ups()) if name in fields.names]
            all_rows = listing.listed_by_id(self.calls, module, names, place)
            ids = (str(row["id"]) for row in all_rows if self._wants_related(module, row, fields))
            records = listing.records_by_ids(self.calls, module, fields, ids)
        for record in records:
            case = self._case_of(module, record, fields)
            if case is not None:
                yield self.items.related_record(module, record, fields, case)
        yield from self.deletions.of_module(module, place)

    def _wants_related(self, module: str, record: Row, fields: Fields) -> bool:
        """True if a listed record belongs to a case and is to be read whole."""
        case = self._case_of(module, record, fields)
        if case is None:
            return False
        is_known = self.known.has(self.items.related_key(module, record, case))
        return not is_known or self._is_asked_for(record) or is_changed(record.get(_CHANGED), self.since)

    def _case_of(self, module: str, record: Row, fields: Fields) -> dict[str, object] | None:
        """Returns the case of a listed record, whose papers are looked through if the record changed."""
        self.known.mark_listed(module, record["id"])
        case = self.cases.parent_of(record, fields.names)
        if case is not None:
            self.cases.touch(str(case["id"]), record.get(_CHANGED))
        return case

    def read_notes(self) -> Iterator[ServiceItem]:
        """Yields the notes of cases. All are listed, for the list cannot be asked for changes alone."""
        self.known.begin_listing("Notes")
        place = self.place("Notes")
        for note in listing.all_notes(self.calls, NOTE_FIELDS, place):
            self.known.mark_listed("Notes", note["id"])
            parent = note.get("Parent_Id")
            case = self.cases.facts(str(parent.get("id"))) if isinstance(parent, Mapping) else None
            if case is None:
                continue  # its case is not archived, or becomes visible later: then it is not known, and read
            self.cases.touch(str(case["id"]), note.get(_CHANGED))
            is_known = self.known.has(self.items.note_key(note, case))
            is_wanted = self.reads_all or not is_known or self._is_asked_for(note)
            if is_wanted or is_changed(note.get(_CHANGED), self.since):
                yield self.items.note(note, case)
        yield from self.deletions.of_notes(self.cases.has_key)

    def read_papers(
        self, stream: str, ask: Callable[[Mapping[str, object]], Sequence[ServiceItem]]
    ) -> Iterator[ServiceItem]:
        """Yields the attachments or emails of the cases in which something may have changed."""
        self.known.begin_listing(stream)
        due_cases = self.cases.changed_cases(self.since, sweep=self.window.sweep, again=self.window.again)
        is_whole = self.reads_all
        with KeySet() as listed_cases:
            for case_key, case_items in self.items.for_each_case(due_cases, ask):
                if any(isinstance(item, FetchFailure) and item.key.startswith(f"{case_key}:") for item in case_items):
                    is_whole = False
                else:
                    listed_cases.add(case_key)
                for item in case_items:
                    self.known.mark_item(item.key)
                    yield item
            if stream == "Attachments":
                yield from self.deletions.of_attachments(listed_cases.has)
            elif is_whole:
                yield from self.deletions.of_emails(listed_cases.has, hides_cases=self._hides_cases())

    def _hides_cases(self) -> bool:
        """True if there are cases that this user may not see, or the archive holds one that it may not see any more."""
        is_complete = self.cases.is_complete
        return not is_complete or any(self.known.has_unlisted(module) for module in self.cases.modules())
