"""Makes the codes and business-specific fields that a plan needs and the archive lacks, before anything is loaded.

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
    instead = _prepare_codes(administration, codes, rehearsal=rehearsal)
    if groups:
        _make_groups(administration, groups, needs.get("names") or {}, rehearsal=rehearsal)
    return instead


def needed_lists(graph: GraphStore) -> frozenset[str]:
    """The code lists that a plan brings codes of its own for."""
    return frozenset(orjson.loads(graph.meta("needs") or "{}").get("codes") or {})


def _prepare_codes(
    administration: Administration, codes_by_list: Mapping[str, Mapping[str, list[str]]], *, rehearsal: bool
) -> Codes:
    instead: dict[str, dict[str, str]] = {}
    existing_by_list = _existing_codes(administration) if codes_by_list else {}
    for list_name, codes in codes_by_list.items():
        existing = existing_by_list.get(list_name, {})
        by_name = {entry.name.casefold(): entry for entry in existing.values()}
        for code, (name, authority) in codes.items():
            existing_code = existing.get(code)
            if existing_code is not None and existing_code.name == name:
                continue
            archive_code = by_name.get(name.casefold())
            if archive_code is not None:
                instead.setdefault(list_name, {})[code] = archive_code.code
                continue
            free = _free_code(code, existing)
            if free != code:
                instead.setdefault(list_name, {})[code] = free
            if not rehearsal:
                _make_code(administration, list_name, ListedCode(free, name, authority=authority))
    return instead


def _free_code(code: str, taken_codes: Mapping[str, ListedCode]) -> str:
    """A variant of a code that is not taken yet."""
    tries, free = 1, code
    while free in taken_codes:
        tries += 1
        free = f"{code} ({tries})"
    return free


def _make_code(administration: Administration, list_name: str, code: ListedCode) -> None:
    try:
        administration.put_code(list_name, code)
    except NotAllowed as fault:
        raise NotAllowed(call="put_code", description=f"code-missing {list_name}: {code.name}") from fault


def _existing_codes(administration: Administration) -> dict[str, dict[str, ListedCode]]:
    types = metamodel().types
    lists = {
        (name, code_list.name): code_list.code_list
        for name, kind in types.items()
        for code_list in kind.fields.values()
    }
    codes_by_list: dict[str, dict[str, ListedCode]] = {}
    for code_list in administration.code_lists():
        list_name = lists.get((code_list.type, code_list.field))
        if list_name:
            codes_by_list.setdefault(list_name, {}).update({value.code: value for value in code_list.values})
    return codes_by_list


def _make_groups(
    administration: Administration,
    groups_needed: Mapping[str, Mapping[str, BusinessKind]],
    names: Mapping[str, str],
    *,
    rehearsal: bool,
) -> None:
    fields_by_group = {group.id: {entry.id for entry in group.fields} for group in administration.business_groups()}
    for group, fields in groups_needed.items():
        missing = {name: kind for name, kind in fields.items() if name not in fields_by_group.get(group, ())}
        if rehearsal or (group in fields_by_group and not missing):
            continue
        try:
            if group not in fields_by_group:
                administration.put_business_group(BusinessGroup(group, names.get(group, group)))
            for name, kind in missing.items():
                administration.put_business_field(group, BusinessField(name, names.get(f"{group}/{name}", name), kind))
        except (NotAllowed, ArchiveRefused) as fault:
            raise NotAllowed(call="put_business_field", description=f"field-missing {group}") from fault
