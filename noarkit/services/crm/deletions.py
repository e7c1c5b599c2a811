"""What the archive holds and the CRM no longer has. Of modules the list of deleted records tells, of all else a
comparison with what was listed. What this user merely may not see any more is no deletion."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from urllib.parse import unquote

from noarkit.errors import ServiceDenied, ServiceRefused, ServiceStrange
from noarkit.services.crm import listing
from noarkit.services.crm.calls import Calls
from noarkit.services.crm.fields import A_CALL
from noarkit.services.crm.known_items import SNAPSHOT, KnownItem, KnownItems
from noarkit.services.crm.streams import CrmItems
from noarkit.services.crm.times import parse_time
from noarkit.services.port import DELETION_KEY_END, Deletion

_EVER = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Deletions:
    """The deletions since a time; ever, without one. To be asked for once a stream was listed."""

    calls: Calls
    items: CrmItems
    known: KnownItems
    since: datetime | None

    def of_module(self, module: str, place: str) -> Iterator[Deletion]:
        """Yields the deletions of records. Where the service's list of them is not to be had, or ends too early, what
        was not listed and cannot be read by its id either is deleted."""
        if self.known.is_empty:
            yield from self._since_mark(module, place)
        elif self.known.has_unlisted(module):
            try:
                for row in listing.deleted_records(self.calls, module, self.since or _EVER, place):
                    for key in self.known.unlisted_keys(module, row["id"]):
                        yield self._deletion(module, key, row.get("deleted_time"))
                    self.known.mark_listed(module, row["id"])
            except (ServiceRefused, ServiceDenied, ServiceStrange) as fault:
                if isinstance(fault, ServiceStrange) and fault.data.get("why") != "list-incomplete":
                    raise
                for items in self._absent(module, lambda item: True):
                    yield from self._deletions(module, items)

    def of_notes(self, is_listed: Callable[[str], bool]) -> Iterator[Deletion]:
        """Yields the deletions of notes whose case is listed, or is deleted itself. A note cannot be seen while its
        case is hidden, as it may have become since it was listed: each is asked for again once its case was seen."""
        for items in self._absent("Notes", lambda item: self._are_compared(item, is_listed)):
            yield from self._deletions("Notes", self._not_found("Notes", self._of_seen_cases(items)))

    def of_attachments(self, is_listed: Callable[[str], bool]) -> Iterator[Deletion]:
        """Yields the deletions of attachments of cases whose list was read, or that are deleted."""
        for item in self.known.unlisted("Attachments"):
            if self._are_compared(item, is_listed):
                yield self._deletion("Attachments", item.key)

    def of_emails(self, is_listed: Callable[[str], bool], *, hides_cases: bool) -> Iterator[Deletion]:
        """Yields the deletions of emails, once the lists of all cases were read that this user may see: an email may
        belong to any. If there are cases that are hidden, those are no deletions that may lie in one of them."""
        for item in self.known.unlisted("Emails"):
            if self._are_compared(item, is_listed) if item.case_keys else not hides_cases:
                yield self._deletion("Emails", item.key)

    def _are_compared(self, item: KnownItem, is_listed: Callable[[str], bool]) -> bool:
        """True if the lists of all cases of an item were read, or are gone with their case."""
        return all(is_listed(case_key) or self.known.is_gone(case_key) for case_key in item.case_keys)

    def _since_mark(self, module: str, place: str) -> Iterator[Deletion]:
        """Yields all deletions of cases since the mark, where nothing is known of what the archive holds."""
        if self.since is None:
            return
        for row in listing.deleted_records(self.calls, module, self.since, place):
            key = self.items.key(module, row["id"], SNAPSHOT)
            if not self.known.keys.is_gone(key):
                yield self._deletion(module, key, row.get("deleted_time"))

    def _absent(self, module: str, may_tell: Callable[[KnownItem], bool]) -> Iterator[Sequence[KnownItem]]:
        """Yields by the call what was not listed, and is not found by its id either: a list may have moved."""
        items = (item for item in self.known.unlisted(module) if may_tell(item))
        while batch := list(islice(items, A_CALL)):
            yield self._not_found(module, batch)
            for item in batch:
                self.known.mark_listed(module, item.id)

    def _not_found(self, module: str, items: Sequence[KnownItem]) -> Sequence[KnownItem]:
        """Returns those of some items, of one call at most, that the service does not find by their ids."""
        found_ids = self._found_ids(module, [item.id for item in items])
        return [item for item in items if item.id not in found_ids]

    def _of_seen_cases(self, items: Sequence[KnownItem]) -> Sequence[KnownItem]:
        """Returns those of some items whose case can be read now, or is deleted itself."""
        case_keys = {key: key.split(":") for item in items for key in item.case_keys}
        ids: dict[str, dict[str, str]] = {}
        for case_key, (_, module, case_id) in case_keys.items():
            ids.setdefault(unquote(module), {})[unquote(case_id)] = case_key
        seen_keys = {
            keys_by_id[case_id]
            for module, keys_by_id in ids.items()
            for case_id in self._found_ids(module, list(keys_by_id))
        }
        return [item for item in items if all(key in seen_keys or self.known.is_gone(key) for key in item.case_keys)]

    def _found_ids(self, module: str, ids: Sequence[str]) -> set[str]:
        """Returns those of some ids that the service finds."""
        unique_ids = list(dict.fromkeys(ids))
        return {str(row.get("id")) for row in self.calls.by_ids(module, ("id",), unique_ids)} if unique_ids else set()

    def _deletions(self, stream: str, items: Iterable[KnownItem]) -> Iterator[Deletion]:
        return (self._deletion(stream, item.key) for item in items)

    def _deletion(self, stream: str, key: str, deleted_time: object = None) -> Deletion:
        self.known.mark_gone(key)
        return Deletion(stream, f"{key}{DELETION_KEY_END}", parse_time(deleted_time))
