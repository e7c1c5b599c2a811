"""Carries out the actions of a transaction in a draft; `rules` has what is checked at its end."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime

from tests.strict_archive.account import Account
from tests.strict_archive.finality import is_final
from tests.strict_archive.rules import complete
from tests.strict_archive.store import PARENTS, Draft, Object, Store, StoredFile, as_answer
from tests.strict_archive.tables import CodeList, Field, ObjectType, Reference
from tests.strict_archive.values import RefusedRequest, Value, bad, shown, taken

BUSINESS = "virksomhetsspesifikkeMetadata"
_MEMBERS = {
    "save": ({"action", "type", "id"}, {"version", "fields"}),
    "link": ({"action", "type", "id", "ref", "linkToId"}, {"version"}),
    "unlink": ({"action", "type", "id", "ref", "unlinkFromId"}, {"version"}),
    "delete": ({"action", "type", "id"}, {"version"}),
}


class Transaction:
    """One transaction of one account, at one moment."""

    def __init__(self, store: Store, account: Account, now: datetime, codes: Mapping[str, CodeList]) -> None:
        self.draft = Draft(store)
        self._codes = codes
        self._tables = store.tables
        self._account = account
        self._now = now
        self._named: dict[str, int] = {}
        self._answered: dict[str, int] = {}
        self._defaulted_dates: dict[int, set[str]] = {}
        self._before: dict[int, bool] = {}

    def run(self, body: object, note: Callable[[Draft], None]) -> dict[str, object]:
        """Carries out a request: all of it, or none. `note` writes the change log."""
        if not isinstance(body, dict) or set(body) != {"actions"} or not isinstance(body["actions"], list):
            raise bad("A transaction has the member actions, which is a list.")
        for number, action in enumerate(body["actions"]):
            self._carry_out(number, action)
        self._defaulted_dates = complete(self.draft, self._account, self._now, self._codes)
        for id in self.draft.changed:
            self._check_final(id)
        note(self.draft)
        self.draft.store.commit(self.draft)
        return {"saved": {name: self._saved(id) for name, id in self._answered.items() if id not in self.draft.deleted}}

    def _saved(self, id: int) -> dict[str, object]:
        answer = as_answer(self._tables, self.draft.store.objects[id])
        fields = answer["fields"]
        assert isinstance(fields, dict)
        for name in self._defaulted_dates.get(id, ()):  # a date that was defaulted is told as a moment, as published
            fields[name] = shown(self._now)
        return answer

    def _carry_out(self, number: int, action: object) -> None:
        if not isinstance(action, dict) or action.get("action") not in _MEMBERS:
            raise bad(f"Action {number} is none of {', '.join(_MEMBERS)}.")
        needed, allowed = _MEMBERS[action["action"]]
        if missing := needed - set(action):
            raise bad(f"Action {number} has no {', '.join(sorted(missing))}.")
        if unknown := set(action) - needed - allowed:
            raise bad(f"Action {number} has the unknown member {', '.join(sorted(unknown))}.")
        if not isinstance(action["type"], str) or not isinstance(action["id"], str | int) or not str(action["id"]):
            raise bad(f"Action {number} has no type or id.")
        described = self._tables.types.get(action["type"])
        if described is None:
            raise bad(f"Action {number}: there is no type {action['type']} to be saved.")
        getattr(self, f"_{action['action']}")(action, described)

    def _known(self, id: object, types: tuple[str, ...]) -> Object:
        if isinstance(id, str) and id in self._named:
            found = self.draft.look(self._named[id])
        elif str(id).isascii() and str(id).isdigit():
            found = self.draft.look(int(str(id)))
        else:
            raise bad(f"The temporary id {id} was not saved before.")
        if found.type not in types:
            raise bad(f"The object {id} is a {found.type}, not a {' or '.join(types)}.")
        return found

    def _touch(self, found: Object) -> Object:
        self._before.setdefault(found.id, found.id not in self.draft.created and is_final(found))
        return self.draft.change(found.id)

    def _check_version(self, found: Object, action: Mapping[str, object]) -> None:
        version = action.get("version")
        if version is None:
            return
        if not str(version).isdigit():
            raise bad("A version is a number.")
        stored = self.draft.store.objects.get(found.id)
        if stored is not None and int(str(version)) < stored.version:
            raise RefusedRequest(409, f"The object {found.id} was changed since it was read.")

    def _save(self, action: Mapping[str, object], described: ObjectType) -> None:
        id = str(action["id"])
        if id in self._named or id.isdigit():
            self._need("Update")
            seen = self._touch(self._known(id, (described.name,)))
            self._check_version(seen, action)
        else:
            self._need("Create")
            seen = self.draft.create(described.name)
            self._named[id] = seen.id
        self._answered[id] = seen.id
        fields = action.get("fields") or {}
        if not isinstance(fields, dict):
            raise bad("The member fields is an object.")
        for name, value in fields.items():
            if name == BUSINESS:
                self._save_business(seen, described, value)
                continue
            field = described.fields.get(name)
            if field is None:
                raise bad(f"A field with name {name} was not found in {described.name} or its hierarchy.")
            self._set(seen, field, taken(field, value, described.name))

    def _set(self, seen: Object, field: Field, value: Value) -> None:
        before = seen.fields.get(field.name)
        if field.kind == "timestamp" and isinstance(value, datetime) and value == before:
            return
        if value == before and field.name in seen.fields:
            return
        if field.save == "sm":
            raise bad(f"The field {field.name} of {seen.type} is never writable.")
        if field.save == "cw" and not (value is None and before is None):
            self._check_system_managed(seen, field, before)
        if field.name == "klasseIdent" and before is not None:
            raise bad("The field klasseIdent of Klasse cannot be changed.")
        if field.name == "referanseDokumentfil":
            self._use_file(seen, value)
        seen.fields[field.name] = value

    def _check_system_managed(self, seen: Object, field: Field, before: Value) -> None:
        if field.name == "prefiks" and before is not None:
            raise bad("The field prefiks cannot be changed once it is set.")
        # the permission depends on where the object lies: outside the structure nobody has it
        is_placed = seen.type not in PARENTS or any(seen.links.get(name) for name in PARENTS[seen.type])
        if not self._account.can("UpdateSystemManaged") or not is_placed:
            raise RefusedRequest(403, f"There is no permission to write the field {field.name} of {seen.type}.")

    def _use_file(self, seen: Object, value: Value) -> None:
        stored = self.draft.store.files.get(str(value))
        if stored is None:
            raise bad("The field referanseDokumentfil names no uploaded file.")
        if stored.owner != self._account.id:
            raise RefusedRequest(500, "The file was uploaded by another account.")
        self.draft.files.add(stored.id)
        seen.fields |= file_facts(stored)

    def _save_business(self, seen: Object, described: ObjectType, value: object) -> None:
        if not described.takes_business_metadata:
            raise bad(f"A field with name {BUSINESS} was not found in {described.name} or its hierarchy.")
        seen.business = self.draft.store.registry.taken(value)

    def _ends(self, action: Mapping[str, object], described: ObjectType, member: str) -> tuple[Reference, list[object]]:
        reference = described.references.get(str(action["ref"]))
        if reference is None:
            raise bad(f"A reference with name {action['ref']} was not found in {described.name} or its hierarchy.")
        value = action[member]
        ends = value if isinstance(value, list) else [value]
        if not ends or not all(isinstance(end, str | int) for end in ends):
            raise bad(f"The member {member} holds ids.")
        return reference, ends

    def _link(self, action: Mapping[str, object], described: ObjectType) -> None:
        self._need("Update")
        reference, ends = self._ends(action, described, "linkToId")
        if not reference.can_link:
            raise bad(f"The reference {reference.name} of {described.name} cannot be linked.")
        owner = self._touch(self._known(action["id"], (described.name,)))
        self._check_version(owner, action)
        targets = tuple(name for entry in reference.targets for name in self._tables.concrete(entry))
        for end in ends:
            self._connect(owner, reference, self._touch(self._known(end, targets)))

    def _connect(self, owner: Object, reference: Reference, target: Object) -> None:
        inverse = self._tables.inverse(owner.type, reference, target.type)
        there = self._tables.types[target.type].references.get(inverse)
        for side, is_many, name, other in (
            (owner, reference.is_many, reference.name, target),
            (target, there is None or there.is_many, inverse, owner),
        ):
            held = side.links.setdefault(name, [])
            if other.id in held:
                continue
            if held and not is_many:
                raise bad(f"The reference {name} of {side.type} holds another object; unlink it first.")
            held.append(other.id)

    def _unlink(self, action: Mapping[str, object], described: ObjectType) -> None:
        self._need("Update")
        reference, ends = self._ends(action, described, "unlinkFromId")
        if not reference.can_unlink:
            raise bad(f"The reference {reference.name} of {described.name} cannot be unlinked.")
        owner = self._touch(self._known(action["id"], (described.name,)))
        self._check_version(owner, action)
        for end in ends:
            target = self._touch(self._known(end, tuple(self._tables.types)))
            if target.id not in owner.links.get(reference.name, ()):
                raise bad(f"The object {end} is not linked.")
            owner.links[reference.name].remove(target.id)
            target.links[self._tables.inverse(owner.type, reference, target.type)].remove(owner.id)

    def _delete(self, action: Mapping[str, object], described: ObjectType) -> None:
        self._need("Delete")
        found = self._known(action["id"], (described.name,))
        self._check_version(found, action)
        self.draft.remove(found)

    def _need(self, permission: str) -> None:
        if not self._account.can(permission):
            raise RefusedRequest(403, f"The permission {permission} is missing.")

    def _check_final(self, id: int) -> None:
        """A change of what was final before needs a permission of its own."""
        if id in self.draft.deleted or not self._before.get(id) or self._account.can("Edit finalized"):
            return
        raise RefusedRequest(403, f"The object {id} is finalised.")


def file_facts(stored: StoredFile) -> dict[str, Value]:
    """What the archive knows of a file itself."""
    return {
        "sjekksum": stored.sha256,
        "sjekksumAlgoritme": "SHA-256",
        "filstoerrelse": len(stored.body),
        "filnavn": stored.name,
        "innholdstype": stored.media_type,
    }
