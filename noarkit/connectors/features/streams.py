"""Definitions, their versions, decisions and reviews, and the audit log as items.

Nothing there tells what changed since: definitions are listed whole each time, and a state that was archived before is
known by its key and its bytes. Where the service keeps no versions, what we saw is what there is. One that a list
leaves out is asked for: it is archived there and shown no more, or it is deleted.

Reviews have no list of their own. They are asked for definition by definition: at first all, then those of which
something tells that there may be news.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from urllib.parse import quote

from noarkit.connectors.canonical import canonical
from noarkit.connectors.features.calls import Calls
from noarkit.connectors.features.definitions import (
    SINGULAR,
    Manner,
    State,
    audit_moment,
    ident,
    moment,
    names,
    state,
)
from noarkit.connectors.features.known import Known, Remembered
from noarkit.connectors.paging import Row, Seen
from noarkit.connectors.port import Deleted, Item, Made, NotFetched, ServiceItem, Window
from noarkit.connectors.readable import readable_page
from noarkit.errors import ServiceBroken, ServiceRefused, ServiceStrange

VERSIONED = frozenset({"gates", "dynamic_configs", "experiments"})
REVIEWED = ("gates", "dynamic_configs", "experiments")
_ENDED = frozenset({"rejected", "committed"})
_JSON = "application/json"
_KINDS = {kind: kinds for kinds, kind in SINGULAR.items()}
_DAY = timedelta(days=1)
# clocks differ, and a version may show up some time after its change
LOOK_BACK = _DAY


class Book:
    """Makes items of what a project holds."""

    def __init__(self, calls: Calls, manner: Manner, project: str, known: Known, *, all_reviews: bool = False) -> None:
        self._calls = calls
        self._manner = manner
        self._project = project
        self._known = known
        self._all_reviews = all_reviews

    def key(self, *parts: object) -> str:
        """A key of the service's own ids."""
        return ":".join(quote(str(part), safe="") for part in (self._project, *parts))

    def definitions(self, kind: str, window: Window) -> Iterator[ServiceItem]:
        """Every state of every definition of a kind that we can see, and every decision."""
        with self._known.listing(kind, window.until) as listing:
            for told in self._calls.definitions(kind):
                listing.met(ident(told), _name(told))
                yield from self._definition(kind, told, window)
            for one in listing.missing():
                yield from self._missed(kind, one, window, fresh=listing.fresh)

    def reviews(self, kinds: Iterable[str], window: Window) -> Iterator[ServiceItem]:
        """Every review that may be new or other than it was; one whose state changed is a new version of its document.
        They are asked for where a definition changed, or is or was under review, or where the audit log names it."""
        with Seen() as named:
            if window.since is not None and not self._all_reviews:
                for entry in self._entries(window):
                    named.first(str(entry.get("name")))
            for kind in kinds:
                for told in self._calls.definitions(kind):
                    if self._may_have_news(kind, told, window, named):
                        yield from self._reviews_of(kind, told, window)

    def audit(self, window: Window) -> Iterator[ServiceItem]:
        """The audit log from a day before the mark."""
        for told in self._entries(window):
            when = audit_moment(told.get("date"), told.get("time"))
            if when is not None and when >= window.until:
                continue
            yield self._entry(told, when)
            yield from self._gone(told, when, window)

    def _entries(self, window: Window) -> Iterator[Row]:
        """Entries of whole days, from the day before: in which zone they begin nobody tells."""
        begin = None if window.since is None else (window.since - _DAY).date()
        return self._calls.audit(begin, (window.until + _DAY).date())

    def _definition(self, kind: str, told: Row, window: Window) -> Iterator[ServiceItem]:
        current = state(kind, told, self._manner)
        if kind in VERSIONED and _is_due(current, window):
            yield from self._earlier(current, told)
        yield self._state(current, told)
        if kind == "experiments" and told.get("decisionTime"):
            yield from self._decision(current, told)

    def _missed(self, kind: str, one: Remembered, window: Window, *, fresh: bool) -> Iterator[ServiceItem]:
        """One that was listed before and is not now. That it is deleted is told once to each archive."""
        gone = one.gone
        if gone is None:
            try:
                told = self._calls.definition(kind, one.id)
            except ServiceRefused as fault:
                key = self.key(SINGULAR[kind], one.id, "listed-before")
                yield NotFetched(kind, key, str(fault.data.get("why") or fault.code))
                return
            if told is not None:
                yield from self._definition(kind, told, window)
                return
            if not fresh:
                return  # it went after this span, and the next will tell it
            gone = window.until
            self._known.gone(kind, one.id, gone)
        if gone <= window.until and (window.since is None or gone > window.since + LOOK_BACK):
            yield Deleted(kind, self.key(SINGULAR[kind], one.id, "deleted"), None)

    def _may_have_news(self, kind: str, told: Row, window: Window, named: Seen) -> bool:
        if window.since is None or self._all_reviews or told.get("activeReview"):
            return True
        changed, one = moment(told.get("lastModifiedTime")), ident(told)
        if changed is None or changed >= window.since or named.has(_name(told)) or named.has(one):
            return True
        return self._known.reviewed_since(kind, one, window.since)

    def _reviews_of(self, kind: str, told: Row, window: Window) -> Iterator[ServiceItem]:
        one, is_open = ident(told), False
        try:
            for review in self._calls.reviews(kind, one):
                is_open = is_open or str(review.get("status")).casefold() not in _ENDED
                yield self._review(kind, told, review)
        except ServiceRefused as fault:  # it may have been deleted since it was listed
            key = self.key(SINGULAR[kind], one, "reviews")
            yield NotFetched("reviews", key, str(fault.data.get("why") or fault.code))
            is_open = True
        if is_open:
            self._known.under_review(kind, one, window.until)

    def _earlier(self, current: State, told: Row) -> Iterator[ServiceItem]:
        """What a definition was before, oldest first. One that was not asked for in time can be had later: it is kept
        there."""
        try:
            for version in reversed(list(self._calls.versions(current.kind, current.id))):
                found = state(current.kind, {**version, "id": current.id}, self._manner)
                if found.tail != current.tail:
                    yield self._state(found, {**version, "createdTime": told.get("createdTime")})
        except (ServiceRefused, ServiceBroken, ServiceStrange) as fault:
            key = self.key(SINGULAR[current.kind], current.id, "versions")
            yield NotFetched(current.kind, key, str(fault.data.get("why") or fault.code))

    def _state(self, found: State, told: Row) -> Item:
        kind = SINGULAR[found.kind]
        document = Made(f"{kind} {found.id} {found.tail}.json", _JSON, found.document)
        fields = {
            **self._fields(found.kind, found.id, told),
            "title": f"{_TITLES[kind]} {_name(told)}, {_told(found)}",
            "version": told.get("version"),
            "state": str(told.get("status") or ""),
            "author": _text(told.get("lastModifierName")) or _text(told.get("creatorName")),
            "changed": _iso(found.changed),
            "data": found.data,
        }
        key = self.key(kind, found.id, found.tail)
        made = _with_page(document, str(fields["title"]), found.data)
        return Item(found.kind, key, fields, found.changed, made, kind="version")

    def _decision(self, found: State, told: Row) -> Iterator[ServiceItem]:
        decided = moment(told.get("decisionTime"))
        group = _text(told.get("launchedGroupID"))
        data = {
            name: found.data.get(name)
            for name in ("decisionTime", "decisionReason", "launchedGroupID", "groups", "hypothesis", "status")
        }
        made = [Made(f"beslutning {found.id}.json", _JSON, canonical(data))]
        control = _text(told.get("controlGroupID"))
        pulse = self._calls.pulse(found.id, control, group) if group and control and group != control else None
        if pulse is not None:
            made.append(Made(f"resultat {found.id} {group}.json", _JSON, canonical(self._manner.kept(pulse))))
        fields = {
            **self._fields(found.kind, found.id, told),
            "title": f"Beslutning om {_name(told)}",
            "reason": _text(told.get("decisionReason")),
            "group": group,
            "author": _text(told.get("lastModifierName")),
            "changed": _iso(decided),
            "data": data,
        }
        key = self.key("experiment", found.id, "decision", told["decisionTime"])
        title = str(fields["title"])
        results = [replace(one, title=f"{title}, resultat") for one in made[1:]]
        documents = (*_with_page(made[0], title, data), *results)
        yield Item("experiments", key, fields, decided, documents, kind="decision")

    def _review(self, kind: str, told: Row, review: Row) -> Item:
        data, made = self._manner.kept(review), moment(review.get("created_at"))
        author = review.get("author")
        fields = {
            **self._fields(kind, ident(told), told),
            "title": f"Gjennomgang av {_name(told)}",
            "state": str(review.get("status") or ""),
            "author": _text(author.get("email")) if isinstance(author, Mapping) else "",
            "changed": _iso(made),
            "data": data,
        }
        document = Made(f"gjennomgang {review['review_id']}.json", _JSON, canonical(data))
        documents = _with_page(document, str(fields["title"]), data)
        return Item("reviews", self.key("review", review["review_id"]), fields, made, documents, kind="review")

    def _entry(self, told: Row, when: datetime | None) -> Item:
        data = self._manner.kept(told)
        action = str(told.get("actionType") or "")
        fields = {
            "project": self._project,
            "year": str(when.year) if when is not None else "ukjent",
            "title": f"{action or 'endring'} {_name(told)}",
            "action": action,
            "author": _text(told.get("updatedBy")),
            "changed": _iso(when),
            "data": data,
        }
        document = Made(f"endring {told['id']}.json", _JSON, canonical(data))
        documents = _with_page(document, str(fields["title"]), data)
        return Item("audit", self.key("audit", told["id"]), fields, when, documents, kind="audit")

    def _gone(self, told: Row, when: datetime | None, window: Window) -> Iterator[Deleted]:
        """What the log says is deleted, was never listed to us, and is not there any more. What was archived there only
        is still there, and what was listed to us is missed by the list itself."""
        name, kinds = str(told.get("name") or ""), deleted_kinds(str(told.get("actionType") or ""))
        if not name or not kinds or any(self._is_there(kind, name) for kind in kinds):
            return
        kind = kinds[0]
        self._known.gone(kind, name, window.until)
        yield Deleted(kind, self.key(SINGULAR[kind], name, "deleted"), when)

    def _is_there(self, kind: str, name: str) -> bool:
        """Whether we were shown one of that name, or the service still has it."""
        return self._known.named(kind, name) is not None or self._calls.definition(kind, name) is not None

    def _fields(self, kind: str, one: str, told: Row) -> dict[str, object]:
        """What a definition is, for the folder of it: nothing that its next version may say otherwise but its name."""
        return {
            "project": self._project,
            "definition": one,
            "kind": SINGULAR[kind],
            "kind_title": _TITLES[SINGULAR[kind]],
            "name": _name(told),
            "created": _iso(moment(told.get("createdTime"))),
            "owner": _owner(told),
            "tags": names(told.get("tags")),
            "apps": names(told.get("targetApps")),
            "unit": _text(told.get("idType")),
        }


# What the log calls the deletion of a kind; gates, configs and segments share a word.
_SHARED = {"config": ("gates", "dynamic_configs", "segments"), "autotune_experiment": ("autotunes",)}


def deleted_kinds(action: str) -> tuple[str, ...]:
    """The kinds that an action of the log may have deleted: `gate_delete`, `config_delete`, `delete_layer`.

    >>> deleted_kinds("layer_delete"), deleted_kinds("gate_create")
    (('layers',), ())
    """
    head, _, tail = action.partition("_")
    begin, _, end = action.rpartition("_")
    what = begin if end in ("delete", "deleted") else tail if head == "delete" else ""
    return _SHARED.get(what) or ((_KINDS[what],) if what in _KINDS else ())


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


def _with_page(document: Made, title: str, data: object) -> tuple[Made, ...]:
    """The page that a person reads and, beside it, the snapshot that it was made of."""
    page = readable_page(document.name.removesuffix(".json"), title, data if isinstance(data, Mapping) else {"": data})
    return page, replace(document, title=f"{title}, data")


def _is_due(found: State, window: Window) -> bool:
    """Whether earlier versions may be new to us: one that did not change since the mark was read whole before."""
    return window.since is None or found.changed is None or found.changed >= window.since


def _told(found: State) -> str:
    if found.tail.startswith("v") and found.tail[1:].isdigit():
        return f"versjon {found.tail[1:]}"
    return found.changed.strftime("%Y-%m-%d %H:%M") if found.changed is not None else f"tilstand {found.tail}"


def _name(told: Row) -> str:
    return _text(told.get("name")) or str(told.get("id") or "")


def _owner(told: Row) -> str:
    owner = told.get("owner")
    named = _text(owner.get("ownerName")) if isinstance(owner, Mapping) else ""
    return named or _text(told.get("creatorName"))


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _iso(when: datetime | None) -> str | None:
    return None if when is None else when.isoformat(timespec="milliseconds").replace("+00:00", "Z")
