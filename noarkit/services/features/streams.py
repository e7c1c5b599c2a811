"""Definitions, their versions, decisions and reviews, and the audit log as items.

The service cannot list changes: definitions are listed whole each time, and the archive recognises known states by key
and bytes. If the service keeps no versions, the states we saw are all there are. A definition missing from a list is
read by its id: it is archived and no longer listed, or it is deleted.

Reviews have no list of their own. They are read definition by definition: at first and in a sweep all, else those with
a sign of news.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import chain, groupby
from urllib.parse import quote, unquote

from noarkit.errors import ServiceBroken, ServiceRefused, ServiceStrange
from noarkit.safe.clocks import utc_text
from noarkit.safe.spill import KeySet
from noarkit.services.canonical import canonical
from noarkit.services.features.calls import Calls
from noarkit.services.features.definitions import (
    SINGULAR,
    Redaction,
    State,
    audit_moment,
    ident,
    moment,
    names,
    state_of,
)
from noarkit.services.features.known_definitions import KnownDefinition, KnownDefinitions
from noarkit.services.features.labels import (
    ENDED_STATES,
    change_page,
    change_title,
    decision_title,
    describe,
    group_name,
    review_title,
)
from noarkit.services.known_keys import KnownKeys
from noarkit.services.paging import Row
from noarkit.services.port import DELETION_KEY_END, Deletion, FetchFailure, GeneratedDocument, Item, ServiceItem, Window
from noarkit.services.readable import readable_page, title_line

VERSIONED = frozenset({"gates", "dynamic_configs", "experiments"})
REVIEWED = ("gates", "dynamic_configs", "experiments")
_JSON = "application/json"
_KINDS = {kind: kinds for kinds, kind in SINGULAR.items()}
_DAY = timedelta(days=1)
# clocks differ, and a version may appear some time after its change
LOOK_BACK = _DAY
# a decision and the change that makes it are one act, with two times
DECIDED_WITHIN = timedelta(seconds=1)


class ProjectItems:
    """Builds the items of a project."""

    def __init__(
        self,
        calls: Calls,
        redaction: Redaction,
        project: str,
        definitions: KnownDefinitions,
        *,
        all_reviews: bool = False,
    ) -> None:
        self._calls = calls
        self._redaction = redaction
        self._project = project
        self._known_definitions = definitions
        self._all_reviews = all_reviews

    def key(self, *parts: object) -> str:
        """Builds a key from the service's own ids."""
        return ":".join(quote(str(part), safe="") for part in (self._project, *parts))

    def definitions(self, kind: str, window: Window) -> Iterator[ServiceItem]:
        """Yields every visible state of every definition of a kind, and every decision."""
        with self._known_definitions.begin_listing(kind, window.until) as listing:
            for row in self._calls.definitions(kind):
                listing.add(ident(row), _name(row))
                yield from self._definition(kind, row, window)
            missing = chain(listing.missing(), listing.never_listed(self._known_ids(kind, window.known_keys)))
            for definition in missing:
                yield from self._missing_items(kind, definition, window, fresh=listing.is_fresh)
            listing.finish()

    def _known_ids(self, kind: str, known_keys: KnownKeys) -> Iterator[str]:
        """Yields the ids of the definitions that the archive holds, each after another."""
        begin = f"{self.key(SINGULAR[kind])}:"
        for definition_id, _ in groupby(known_keys.under(begin), lambda key: key.removeprefix(begin).partition(":")[0]):
            yield unquote(definition_id)

    def reviews(self, kinds: Iterable[str], window: Window) -> Iterator[ServiceItem]:
        """Yields every review that may be new or changed; a changed state is a new version of its document. Reviews are
        read if a definition changed, is or was under review, or is named in the audit log."""
        with KeySet() as named_ids:
            if not self._reads_all_reviews(window):
                for entry in self._entries(window):
                    named_ids.add(str(entry.get("name")))
            for kind in kinds:
                for row in self._calls.definitions(kind):
                    if self._may_have_changed(kind, row, window, named_ids):
                        yield from self._reviews_of(kind, row, window)

    def audit(self, window: Window) -> Iterator[ServiceItem]:
        """Yields the audit log, from a day before the watermark."""
        for row in self._entries(window):
            logged_at = audit_moment(row.get("date"), row.get("time"))
            if logged_at is not None and logged_at >= window.until:
                continue
            yield self._entry(row, logged_at)
            yield from self._logged_deletions(row, logged_at, window)

    def _entries(self, window: Window) -> Iterator[Row]:
        """Reads entries of whole days, from the day before: the time zone of a day is not documented."""
        begin = None if window.since is None or window.sweep else (window.since - _DAY).date()
        return self._calls.audit(begin, (window.until + _DAY).date())

    def _definition(self, kind: str, row: Row, window: Window) -> Iterator[ServiceItem]:
        current = state_of(kind, row, self._redaction)
        if kind in VERSIONED and self._is_due(current, window):
            yield from self._earlier_states(current, row)
        yield self._state(current, row)
        if kind == "experiments" and row.get("decisionTime"):
            yield from self._decision(current, row)

    def _is_due(self, state: State, window: Window) -> bool:
        """True if earlier versions and reviews may be new to us: those of an unchanged definition were read before. A
        state that the archive lacks is new whatever its time says, and a sweep takes all for new."""
        if window.since is None or window.sweep or state.changed_at is None or state.changed_at >= window.since:
            return True
        return self._is_unknown(state, window)

    def _is_unknown(self, state: State, window: Window) -> bool:
        """True for a state that the archive is not known to hold."""
        return not window.known_keys.has(self.key(SINGULAR[state.kind], state.id, state.tail))

    def _missing_items(
        self, kind: str, missing: KnownDefinition, window: Window, *, fresh: bool
    ) -> Iterator[ServiceItem]:
        """Yields the item of a definition that was listed before and is not now. Its deletion is reported once to each
        archive."""
        deleted_at = missing.deleted_at
        if deleted_at is None:
            try:
                row = self._calls.definition(kind, missing.id)
            except ServiceRefused as fault:
                key = self.key(SINGULAR[kind], missing.id, "listed-before")
                yield FetchFailure(kind, key, str(fault.data.get("why") or fault.code))
                return
            if row is not None:
                yield from self._definition(kind, row, window)
                return
            if not fresh:
                return  # it went after this span, and the next will tell it
            deleted_at = window.until
            self._known_definitions.note_deleted(kind, missing.id, deleted_at)
        if deleted_at <= window.until and self._is_news(kind, missing, deleted_at, window):
            yield Deletion(kind, f"{self.key(SINGULAR[kind], missing.id)}{DELETION_KEY_END}", None)

    def _is_news(self, kind: str, missing: KnownDefinition, deleted_at: datetime, window: Window) -> bool:
        """True for a deletion that was not reported to the archive, of what it holds; also of one that was listed again
        since it was reported, and is gone again."""
        key = self.key(SINGULAR[kind], missing.id)
        known_keys = window.known_keys
        if not known_keys.is_kept:
            return window.since is None or deleted_at > window.since + LOOK_BACK
        is_held = next(known_keys.under(f"{key}:"), None) is not None
        is_gone_again = missing.was_listed and missing.deleted_at is None
        return is_held and (is_gone_again or not known_keys.is_gone(key))

    def _reads_all_reviews(self, window: Window) -> bool:
        """True if no sign of news is waited for: on a first run, in a sweep, or if it is configured."""
        return window.since is None or window.sweep or self._all_reviews

    def _may_have_changed(self, kind: str, row: Row, window: Window, named_ids: KeySet) -> bool:
        if window.since is None or self._reads_all_reviews(window) or row.get("activeReview"):
            return True
        changed_at, definition_id = moment(row.get("lastModifiedTime")), ident(row)
        if (
            changed_at is None
            or changed_at >= window.since
            or (window.known_keys.is_kept and self._is_unknown(state_of(kind, row, self._redaction), window))
            or named_ids.has(_name(row))
            or named_ids.has(definition_id)
        ):
            return True
        return self._known_definitions.reviewed_since(kind, definition_id, window.since)

    def _reviews_of(self, kind: str, row: Row, window: Window) -> Iterator[ServiceItem]:
        definition_id, is_open = ident(row), False
        try:
            for review in self._calls.reviews(kind, definition_id):
                is_open = is_open or str(review.get("status")).casefold() not in ENDED_STATES
                yield self._review(kind, row, review)
        except ServiceRefused as fault:  # it may have been deleted since it was listed
            key = self.key(SINGULAR[kind], definition_id, "reviews")
            yield FetchFailure("reviews", key, str(fault.data.get("why") or fault.code))
            is_open = True
        if is_open:
            self._known_definitions.note_review(kind, definition_id, window.until)

    def _earlier_states(self, current: State, row: Row) -> Iterator[ServiceItem]:
        """Yields the earlier states of a definition, oldest first. If they cannot be read now, a later run can: the
        service keeps them."""
        try:
            versions = list(self._calls.versions(current.kind, current.id))
            if not versions and self._calls.definition(current.kind, current.id) is None:
                raise ServiceRefused(where=current.kind, why="not-there", status=404)
            for version in reversed(versions):
                earlier = state_of(current.kind, {**version, "id": current.id}, self._redaction)
                if earlier.tail != current.tail:
                    yield self._state(earlier, {**version, "createdTime": row.get("createdTime")})
        except (ServiceRefused, ServiceBroken, ServiceStrange) as fault:
            key = self.key(SINGULAR[current.kind], current.id, "versions")
            yield FetchFailure(current.kind, key, str(fault.data.get("why") or fault.code))

    def _state(self, state: State, row: Row) -> Item:
        kind = SINGULAR[state.kind]
        document = GeneratedDocument(f"{kind} {state.id} {state.tail}.json", _JSON, state.document)
        fields = {
            **self._fields(state.kind, state.id, row),
            "title": title_line(f"{_TITLES[kind]} {_name(row)}, {_state_label(state)}"),
            "version": row.get("version"),
            "state": str(row.get("status") or ""),
            "author": _text(row.get("lastModifierName")) or _text(row.get("creatorName")),
            "changed": _iso(state.changed_at),
            "data": state.data,
        }
        key = self.key(kind, state.id, state.tail)
        generated = _with_page(document, str(fields["title"]), describe(state.data))
        return Item(state.kind, key, fields, state.changed_at, generated, kind="version")

    def _decision(self, state: State, row: Row) -> Iterator[ServiceItem]:
        decided_at = moment(row.get("decisionTime"))
        key = self.key("experiment", state.id, "decision", row["decisionTime"])
        try:
            author = self._decided_by(state, row, decided_at)
        except (ServiceRefused, ServiceBroken, ServiceStrange) as fault:
            yield FetchFailure(state.kind, key, str(fault.data.get("why") or fault.code))
            return
        group = _text(row.get("launchedGroupID"))
        launched = group_name(state.data.get("groups"), group)
        data = {
            name: state.data.get(name)
            for name in ("decisionTime", "decisionReason", "launchedGroupID", "groups", "hypothesis", "status")
        }
        documents_made = [GeneratedDocument(f"beslutning {state.id}.json", _JSON, canonical(data))]
        control = _text(row.get("controlGroupID"))
        pulse = self._calls.pulse(state.id, control, group) if group and control and group != control else None
        if pulse is not None:
            documents_made.append(
                GeneratedDocument(f"resultat {state.id} {group}.json", _JSON, canonical(self._redaction.apply(pulse)))
            )
        fields = {
            **self._fields(state.kind, state.id, row),
            "title": decision_title(_name(row), decided_at, launched),
            "reason": _text(row.get("decisionReason")),
            "group": group,
            "author": author,
            "changed": _iso(decided_at),
            "data": data,
        }
        title, page = str(fields["title"]), describe({**data, "launchedGroupID": launched or None})
        results = [replace(document, title=f"{title}, resultat") for document in documents_made[1:]]
        documents = (*_with_page(documents_made[0], title, page), *results)
        yield Item("experiments", key, fields, decided_at, documents, kind="decision")

    def _decided_by(self, state: State, row: Row, decided_at: datetime | None) -> str:
        """Returns who made a decision: whoever changed the experiment into the first version that has it. Others may
        have changed the experiment since; if the service keeps no versions, nobody is named then."""
        if state.changed_at is None or decided_at is None or state.changed_at <= decided_at + DECIDED_WITHIN:
            return _text(row.get("lastModifierName"))
        versions = reversed(list(self._calls.versions(state.kind, state.id)))
        first = next((version for version in versions if version.get("decisionTime") == row["decisionTime"]), {})
        return _text(first.get("lastModifierName"))

    def _review(self, kind: str, row: Row, review: Row) -> Item:
        data, created_at = self._redaction.apply(review), moment(review.get("created_at"))
        author = review.get("author")
        fields = {
            **self._fields(kind, ident(row), row),
            "title": review_title(_name(row), created_at),
            "state": str(review.get("status") or ""),
            "author": _text(author.get("email")) if isinstance(author, Mapping) else "",
            "changed": _iso(created_at),
            "data": data,
        }
        document = GeneratedDocument(f"gjennomgang {review['review_id']}.json", _JSON, canonical(data))
        documents = _with_page(document, str(fields["title"]), describe(data))
        return Item("reviews", self.key("review", review["review_id"]), fields, created_at, documents, kind="review")

    def _entry(self, row: Row, logged_at: datetime | None) -> Item:
        data = self._redaction.apply(row)
        action = str(row.get("actionType") or "")
        fields = {
            "project": self._project,
            "year": str(logged_at.year) if logged_at is not None else "ukjent",
            "title": change_title(_name(row), logged_at, action),
            "action": action,
            "author": _text(row.get("updatedBy")),
            "changed": _iso(logged_at),
            "data": data,
        }
        document = GeneratedDocument(f"endring {row['id']}.json", _JSON, canonical(data))
        documents = _with_page(document, str(fields["title"]), change_page(data, logged_at))
        return Item("audit", self.key("audit", row["id"]), fields, logged_at, documents, kind="audit")

    def _logged_deletions(self, row: Row, deleted_at: datetime | None, window: Window) -> Iterator[Deletion]:
        """Yields deletions found in the audit log, of definitions that were never listed to us and do not exist now.
        Archived ones still exist, and listed ones are found missing by the list itself."""
        name, kinds = str(row.get("name") or ""), deleted_kinds(str(row.get("actionType") or ""))
        if not name or not kinds or any(self._definition_exists(kind, name) for kind in kinds):
            return
        kind = kinds[0]
        self._known_definitions.note_deleted(kind, name, window.until)
        yield Deletion(kind, f"{self.key(SINGULAR[kind], name)}{DELETION_KEY_END}", deleted_at)

    def _definition_exists(self, kind: str, name: str) -> bool:
        """True if we know a definition of that name, or the service still has it."""
        return self._known_definitions.find(kind, name) is not None or self._calls.definition(kind, name) is not None

    def _fields(self, kind: str, definition_id: str, row: Row) -> dict[str, object]:
        """Builds the fields of a definition for its folder: only what stays the same in its next version, and the
        name."""
        return {
            "project": self._project,
            "definition": definition_id,
            "kind": SINGULAR[kind],
            "kind_title": _TITLES[SINGULAR[kind]],
            "name": title_line(_name(row)),
            "created": _iso(moment(row.get("createdTime"))),
            "owner": _owner(row),
            "tags": names(row.get("tags")),
            "apps": names(row.get("targetApps")),
            "unit": _text(row.get("idType")),
        }


# The audit log's words for kinds; gates, configs and segments share one.
_SHARED = {"config": ("gates", "dynamic_configs", "segments"), "autotune_experiment": ("autotunes",)}


def deleted_kinds(action: str) -> tuple[str, ...]:
    """Returns the kinds that an action of the audit log may have deleted: `"gate_delete"`, `"config_delete"`,
    `"delete_layer"`.

    >>> deleted_kinds("layer_delete"), deleted_kinds("gate_create")
    (('layers',), ())
    """
    head, _, tail = action.partition("_")
    begin, _, end = action.rpartition("_")
    word = begin if end in ("delete", "deleted") else tail if head == "delete" else ""
    return _SHARED.get(word) or ((_KINDS[word],) if word in _KINDS else ())


_TITLES = {
    "gate": "Funksjonsbryter",
    "dynamic_config": "Dynamisk oppsett",
    "experiment": "Forsøk",
    "layer": "Lag",
    "segment": "Segment",
    "param_store": "Parametersamling",
    "autotune": "Selvjustering",
    "holdout": "Kontrollutvalg",
    "metric": "Måltall",
}


def _with_page(document: GeneratedDocument, title: str, page: Mapping[str, object]) -> tuple[GeneratedDocument, ...]:
    """Returns the readable page of a document and the document itself."""
    made_page = readable_page(document.name.removesuffix(".json"), title, page)
    return made_page, replace(document, title=f"{title}, data")


def _state_label(state: State) -> str:
    if state.tail.startswith("v") and state.tail[1:].isdigit():
        return f"versjon {state.tail[1:]}"
    return state.changed_at.strftime("%Y-%m-%d %H:%M") if state.changed_at is not None else f"tilstand {state.tail}"


def _name(row: Row) -> str:
    return _text(row.get("name")) or str(row.get("id") or "")


def _owner(row: Row) -> str:
    owner = row.get("owner")
    owner_name = _text(owner.get("ownerName")) if isinstance(owner, Mapping) else ""
    return owner_name or _text(row.get("creatorName"))


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _iso(timestamp: datetime | None) -> str | None:
    return None if timestamp is None else utc_text(timestamp)
