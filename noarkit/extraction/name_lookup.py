"""What a selection names in the archive: found by id, uuid or name. What is not there is told with what there is."""

from __future__ import annotations

from difflib import get_close_matches
from shlex import quote

from noarkit.archive.paging import pages
from noarkit.archive.port import Archive
from noarkit.archive.values import Parameter, Query, SavedObject
from noarkit.errors import UsageFault
from noarkit.model.identity_numbers import has_identity_number

_SHOWN = 20
_MOST_LOOKED_AT = 1_000
_FIELDS = {"Klasse": "klasseIdent"}


def find_named(archive: Archive, kind: str, name: str) -> SavedObject:
    """The one object of a kind with this id, uuid, title or class. Raises `UsageFault` for none and for several."""
    field_name = _FIELDS.get(kind, "tittel")
    conditions = ["id = @n"] if name.isascii() and name.isdigit() and len(name) < 19 else []
    for condition in [*conditions, "uuid = @n", f"{field_name} = @n"]:
        value: Parameter = int(name) if condition == "id = @n" else name
        matches = archive.query(Query(kind, condition, {"@n": value}, limit=_SHOWN)).objects
        if len(matches) == 1:
            return matches[0]
        if matches:
            uuids = ", ".join(str(match.fields.get("uuid") or match.id) for match in matches)
            raise _fault("several-of-that-name", kind, name, uuids, own="one-of")
    raise _not_there(archive, kind, name, field_name)


def _not_there(archive: Archive, kind: str, name: str, field_name: str) -> UsageFault:
    names = _names(archive, kind, field_name)
    choices = ", ".join(names[:_SHOWN]) + (", …" if len(names) > _SHOWN else "")
    by_folded = {candidate.casefold(): candidate for candidate in names}
    near = get_close_matches(name.casefold(), by_folded, 1)
    if near:
        return _fault("not-in-archive", kind, name, choices, value=quote(by_folded[near[0]]), is_guess=True)
    return _fault("not-in-archive", kind, name, choices or None, own="one-of" if choices else "name-there")


def _fault(what: str, kind: str, name: str, choices: str | None, *, value: str = "", **more: object) -> UsageFault:
    flag = f"--{kind.lower()}"
    return UsageFault(what=what, where=f"{flag} {name}", fix=f"{flag} {value}".strip(), choices=choices, **more)


def _names(archive: Archive, kind: str, field_name: str) -> list[str]:
    """The names of what there is of a kind, but for those that are of a person."""
    names: list[str] = []
    for page in pages(archive, Query(kind)):
        names += [str(found.fields.get(field_name) or "") for found in page.objects]
        if len(names) >= _MOST_LOOKED_AT:
            break
    return sorted({name for name in names if name and not has_identity_number(name)})
