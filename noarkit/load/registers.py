"""Sees to it that the archive has the codes and business fields that a plan needs, before anything is loaded.

A code that the archive knows by name under another code is used as the archive has it; one that it does not know is
made where the account may edit lists. What is missing and may not be made stops the run by name.
"""

from __future__ import annotations

from collections.abc import Mapping

import orjson

from noarkit.archive.administration import Administration
from noarkit.archive.port import Archive
from noarkit.archive.registers import BusinessField, BusinessGroup, BusinessKind, ListedCode
from noarkit.errors import ArchiveRefused, NotAllowed
from noarkit.graph.store import GraphStore
from noarkit.model import metamodel

Codes = Mapping[str, Mapping[str, str]]


def prepare(archive: Archive, graph: GraphStore, *, rehearsal: bool) -> Codes:
    """Makes what is missing; returns the codes that the archive has under other names, `{list: {planned: theirs}}`.

    Raises NotAllowed where something is missing that the account may not make. A rehearsal makes nothing.
    """
    needs = orjson.loads(graph.meta("needs") or "{}")
    codes, groups = needs.get("codes") or {}, needs.get("groups") or {}
    if not codes and not groups:
        return {}
    administration = Administration(archive)
    instead = _codes(administration, codes, rehearsal=rehearsal)
    if groups:
        _groups(administration, groups, needs.get("names") or {}, rehearsal=rehearsal)
    return instead


def needed_lists(graph: GraphStore) -> frozenset[str]:
    """The code lists that a plan brings codes of its own for."""
    return frozenset(orjson.loads(graph.meta("needs") or "{}").get("codes") or {})


def _codes(administration: Administration, wanted: Mapping[str, Mapping[str, list[str]]], *, rehearsal: bool) -> Codes:
    instead: dict[str, dict[str, str]] = {}
    standing = _standing(administration) if wanted else {}
    for list_name, codes in wanted.items():
        listed = standing.get(list_name, {})
        by_name = {one.name.casefold(): one for one in listed.values()}
        for code, (name, authority) in codes.items():
            known = listed.get(code)
            if known is not None and known.name == name:
                continue
            theirs = by_name.get(name.casefold())
            if theirs is not None:
                instead.setdefault(list_name, {})[code] = theirs.code
                continue
            free = _free(code, listed)
            if free != code:
                instead.setdefault(list_name, {})[code] = free
            if not rehearsal:
                _made(administration, list_name, ListedCode(free, name, authority=authority))
    return instead


def _free(code: str, taken: Mapping[str, ListedCode]) -> str:
    """A code that no other name has."""
    tries, free = 1, code
    while free in taken:
        tries += 1
        free = f"{code} ({tries})"
    return free


def _made(administration: Administration, list_name: str, code: ListedCode) -> None:
    try:
        administration.put_code(list_name, code)
    except NotAllowed as fault:
        raise NotAllowed(call="put_code", description=f"code-missing {list_name}: {code.name}") from fault


def _standing(administration: Administration) -> dict[str, dict[str, ListedCode]]:
    types = metamodel().types
    lists = {(name, one.name): one.code_list for name, kind in types.items() for one in kind.fields.values()}
    found: dict[str, dict[str, ListedCode]] = {}
    for one in administration.code_lists():
        list_name = lists.get((one.type, one.field))
        if list_name:
            found.setdefault(list_name, {}).update({value.code: value for value in one.values})
    return found


def _groups(
    administration: Administration,
    wanted: Mapping[str, Mapping[str, BusinessKind]],
    names: Mapping[str, str],
    *,
    rehearsal: bool,
) -> None:
    there = {group.id: {one.id for one in group.fields} for group in administration.business_groups()}
    for group, fields in wanted.items():
        missing = {name: kind for name, kind in fields.items() if name not in there.get(group, ())}
        if rehearsal or (group in there and not missing):
            continue
        try:
            if group not in there:
                administration.put_business_group(BusinessGroup(group, names.get(group, group)))
            for name, kind in missing.items():
                administration.put_business_field(group, BusinessField(name, names.get(f"{group}/{name}", name), kind))
        except (NotAllowed, ArchiveRefused) as fault:
            raise NotAllowed(call="put_business_field", description=f"field-missing {group}") from fault
