"""What the modelled archive holds, and how it answers: objects by type, whole transactions or nothing, small queries.

It behaves as the port promises, and as archives do: a version that has moved on is a conflict, a class name is unique
below its system, a uuid everywhere. It knows no rule of Noark beyond those; time is somebody else's business.
"""

from __future__ import annotations

import re
import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

from noarkit.archive.values import Action, Delete, Link, Page, Query, Save, SavedObject
from noarkit.errors import ArchiveConflict, ArchiveNotFound, ArchiveRefused, NotAllowed

_TERM = re.compile(r"\s*([\w.]+) = (@\w+)\s*")
_TO_ONE = {"refKlassifikasjonssystem": "Klasse"}


@dataclass
class Stored:
    """One object."""

    type: str
    id: str
    version: int
    fields: dict[str, object]
    links: dict[str, str] = field(default_factory=dict)

    def as_saved(self) -> SavedObject:
        return SavedObject(self.type, self.id, str(self.version), dict(self.fields), dict(self.links))


class Holdings:
    """The objects of an archive. `honours_versions` and `may_set_uuids` are what it and its account grant."""

    def __init__(self, *, honours_versions: bool = True, may_set_uuids: bool = False) -> None:
        self.honours_versions = honours_versions
        self.may_set_uuids = may_set_uuids
        self.by_type: dict[str, dict[str, Stored]] = {}
        self.files: dict[str, tuple[str, int]] = {}
        self.commits = 0
        self._by_id: dict[str, Stored] = {}
        self._external: dict[str, list[Stored]] = {}
        self._classes: dict[object, list[Stored]] = {}
        self._uuids: set[object] = set()
        self._number = 1000

    def keep_file(self, sha256: str, size: int) -> str:
        """Stores a file that nothing refers to yet; its id."""
        number = self._next()
        self.files[number] = (sha256, size)
        return number

    def apply(self, actions: Sequence[Action]) -> dict[str, SavedObject]:
        """Carries out a transaction, whole or not at all. Raises what an archive answers."""
        self._judge(actions)
        temporary: dict[str, Stored] = {}
        saved: dict[str, Stored] = {}
        for action in actions:
            if isinstance(action, Save):
                saved[action.id] = self._save(action, temporary)
            elif isinstance(action, Link):
                item = temporary.get(action.id) or self._by_id[action.id]
                for target in action.targets:
                    item.links[action.reference] = temporary[target].id if target in temporary else target
            elif isinstance(action, Delete):
                self._delete(action.id)
        self.commits += 1
        return {name: item.as_saved() for name, item in saved.items()}

    def answer(self, query: Query) -> Page:
        """One page of what a query means."""
        matches = self._matches(query)
        for name, direction in reversed(query.order):
            matches.sort(key=lambda item: _sorted_by(item, name), reverse=direction == "desc")
        page = matches[query.offset : query.offset + query.limit]
        return Page(tuple(item.as_saved() for item in page), len(matches) > query.offset + query.limit)

    def external_ids(self, system: str) -> Counter[str]:
        """How often each external id of a system is there."""
        items = self.by_type.get("EksternId", {}).values()
        return Counter(str(item.fields["eksternID"]) for item in items if item.fields["eksterntSystem"] == system)

    def target_of(self, archive_id: str, reference: str) -> str | None:
        """What an object is linked to."""
        item = self._by_id.get(archive_id)
        return None if item is None else item.links.get(reference)

    def counts(self) -> Counter[str]:
        """How many objects of each type there are."""
        return Counter({kind: len(items) for kind, items in self.by_type.items()})

    def _judge(self, actions: Sequence[Action]) -> None:
        new = {action.id for action in actions if isinstance(action, Save) and not action.id.isdigit()}
        names: set[tuple[object, str]] = set()
        for place, action in enumerate(actions):
            if isinstance(action, Save):
                self._judge_save(action, place, new)
            elif isinstance(action, Link):
                for target in (action.id, *action.targets):
                    if target not in new and target not in self._by_id:
                        raise ArchiveNotFound(call="transaction", status=404, action=place)
                if action.reference == "refKlassifikasjonssystem":
                    names.add((action.id, action.targets[0]))
        for save in actions:
            if isinstance(save, Save) and save.type == "Klasse" and save.id in new:
                below = next((system for name, system in names if name == save.id), None)
                self._judge_class(save, below)

    def _judge_save(self, action: Save, place: int, new: set[str]) -> None:
        if action.id not in new:
            item = self._by_id.get(action.id)
            if item is None:
                raise ArchiveNotFound(call="transaction", status=404, action=place)
            if self.honours_versions and action.version not in (None, str(item.version)):
                raise ArchiveConflict(call="transaction", status=409, action=place)
        elif "uuid" in action.fields:
            if not self.may_set_uuids:
                raise NotAllowed(call="transaction", status=403, action=place)
            if action.fields["uuid"] in self._uuids:
                raise ArchiveRefused(call="transaction", status=400, action=place, field="uuid")
        file = action.fields.get("referanseDokumentfil")
        if file is not None and file not in self.files:
            raise ArchiveNotFound(call="transaction", status=404, action=place)

    def _judge_class(self, save: Save, below: str | None) -> None:
        for item in self._classes.get(save.fields.get("klasseIdent"), ()):
            if item.links.get("refKlassifikasjonssystem") == below:
                raise ArchiveRefused(call="transaction", status=400, field="klasseIdent")

    def _save(self, action: Save, temporary: dict[str, Stored]) -> Stored:
        item = self._by_id[action.id] if action.id.isdigit() else temporary.get(action.id)
        if item is not None:
            item.fields.update(action.fields)
            item.version += action.id.isdigit()
            return item
        fields: dict[str, object] = dict(action.fields)
        if action.type != "EksternId" or "uuid" in fields:
            fields.setdefault("uuid", str(uuid.UUID(int=int(self._next()) << 64)))
            self._uuids.add(fields["uuid"])
        file = fields.get("referanseDokumentfil")
        if file is not None:
            fields["sjekksum"], fields["filstoerrelse"] = self.files[str(file)]
        item = Stored(action.type, self._next(), 1, fields)
        temporary[action.id] = self._by_id[item.id] = item
        self.by_type.setdefault(action.type, {})[item.id] = item
        if action.type == "Klasse":
            self._classes.setdefault(fields.get("klasseIdent"), []).append(item)
        if action.type == "EksternId":
            self._external.setdefault(str(fields["eksternID"]), []).append(item)
        return item

    def _delete(self, archive_id: str) -> None:
        item = self._by_id.pop(archive_id)
        del self.by_type[item.type][archive_id]

    def _next(self) -> str:
        self._number += 1
        return str(self._number)

    def _matches(self, query: Query) -> list[Stored]:
        items: Iterable[Stored] = self.by_type.get(query.type, {}).values()
        if not query.where:
            return list(items)
        if query.type == "EksternId" and "eksternID" in query.where:
            values = [str(value) for value in dict.fromkeys(query.parameters.values())]
            items = [item for value in values for item in self._external.get(value, ())]
        elif query.type == "Klasse" and query.where.startswith("klasseIdent = @k "):
            items = self._classes.get(query.parameters["@k"], ())
        elif query.where == "id = @id":
            item = self._by_id.get(str(query.parameters["@id"]))
            items = [item] if item is not None and item.type == query.type else []
        matches = _condition(query.where)
        return [item for item in items if matches(item, query.parameters)]


Condition = Callable[[Stored, Mapping[str, object]], bool]


@cache
def _condition(text: str) -> Condition:
    """`a = @x && (b = @y || c.id = @z)` as a function. Terms that are all ors need no brackets."""
    condition, remainder = _any_of(text)
    if remainder.strip():
        raise ArchiveRefused(call="query", description=f"not understood: {remainder}")
    return condition


def _any_of(text: str) -> tuple[Condition, str]:
    alternatives = []
    condition, text = _all_of(text)
    alternatives.append(condition)
    while text.lstrip().startswith("||"):
        condition, text = _all_of(text.lstrip()[2:])
        alternatives.append(condition)
    return (lambda item, given: any(each(item, given) for each in alternatives)), text


def _all_of(text: str) -> tuple[Condition, str]:
    parts = []
    condition, text = _term(text)
    parts.append(condition)
    while text.lstrip().startswith("&&"):
        condition, text = _term(text.lstrip()[2:])
        parts.append(condition)
    return (lambda item, given: all(each(item, given) for each in parts)), text


def _term(text: str) -> tuple[Condition, str]:
    text = text.lstrip()
    if text.startswith("("):
        condition, remainder = _any_of(text[1:])
        if not remainder.lstrip().startswith(")"):
            raise ArchiveRefused(call="query", description=f"not understood: {remainder}")
        return condition, remainder.lstrip()[1:]
    match = _TERM.match(text)
    if match is None:
        raise ArchiveRefused(call="query", description=f"not understood: {text}")
    name, parameter = match[1], match[2]
    return (lambda item, given: _value(item, name) == given[parameter]), text[match.end() :]


def _value(item: Stored, name: str) -> object:
    if name == "id":
        return item.id
    if name.endswith(".id"):
        return item.links.get(name.removesuffix(".id"))
    return item.fields.get(name)


def _sorted_by(item: Stored, name: str) -> tuple[int, str]:
    value = str(_value(item, name) or "")
    return len(value), value
