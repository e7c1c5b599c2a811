"""Code lists and access groups of an archive: listed, added to and changed, each change told before and after."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from noarkit.api.destination import destination, open_target
from noarkit.archive.administration import Administration
from noarkit.archive.registers import AccessGroup, ListedCode
from noarkit.errors import UsageFault
from noarkit.events import Listener, ignore_event
from noarkit.loading.engines import assembly
from noarkit.loading.engines.worker_factory import connect_archive
from noarkit.results import SPREAD, Result, json_field
from noarkit.settings import Settings, resolve_settings

Change = Literal["added", "changed", "removed", "same"]
ADMINISTRATOR = "admin"
"""The client of an embedded archive that may do everything."""


@dataclass(frozen=True, slots=True)
class CodeResult(Result):
    """A code of a list; `change` says what was done to it, None where it was only listed."""

    EVENT: ClassVar = "code"

    field: str
    code: ListedCode = dataclasses.field(metadata=SPREAD)
    is_default: bool = dataclasses.field(default=False, metadata=json_field("default"))
    change: Change | None = None
    is_dry_run: bool = dataclasses.field(default=False, metadata=json_field("dry_run"))


@dataclass(frozen=True, slots=True)
class GroupResult(Result):
    """An access group; `change` says what was done to it, None where it was only listed."""

    EVENT: ClassVar = "group"

    group: AccessGroup = dataclasses.field(metadata=SPREAD)
    change: Change | None = None
    is_dry_run: bool = dataclasses.field(default=False, metadata=json_field("dry_run"))


@contextmanager
def administered(
    archive: str | None = None,
    *,
    dry_run: bool = False,
    settings: Settings | None = None,
    listener: Listener = ignore_event,
) -> Iterator[Administration]:
    """The further calls of an archive, for as long as a `with` block lasts; a dry run changes nothing.

    Raises `SourceGone` for an embedded archive that is not there, `ConfigFault`, `SecretFault`, faults of the archive.
    """
    resolved = resolve_settings(archive, settings)
    where = destination(resolved.config, resolved.environment)
    with open_target(where, reads=True, client_id=ADMINISTRATOR) as target:
        assembly.check_reachable(target, listener)
        with closing(connect_archive(target.settings, dry_run=dry_run, emit=listener)) as port:
            yield Administration(port)


def list_codes(administration: Administration, name: str | None = None) -> Iterator[CodeResult]:
    """Yields the codes of a list, or of all lists; each list once, whichever types have it. Raises `UsageFault` for a
    list that the archive does not have."""
    lists = {code_list.field: code_list for code_list in administration.code_lists(field=name)}
    if name is not None and name not in lists:
        raise UsageFault(what="no-such-code-list", where=name)
    for field, code_list in sorted(lists.items()):
        yield from (CodeResult(field, code, is_default=code.code == code_list.default) for code in code_list.values)


def set_code(administration: Administration, name: str, code: ListedCode, *, dry_run: bool = False) -> CodeResult:
    """Adds a code to a list, or gives it another name. A description or authority that is not given is kept.

    Raises `UsageFault` for a list that the archive does not have, faults of the archive.
    """
    before = _find(list_codes(administration, name), lambda entry: entry.code.code == code.code)
    if before is None:
        change: Change = "added"
    else:
        description, authority = code.description or before.code.description, code.authority or before.code.authority
        code = replace(code, name=code.name or before.code.name, description=description, authority=authority)
        change = "same" if code == before.code else "changed"
    if change != "same":
        code = administration.put_code(name, code)
    return CodeResult(name, code, before is not None and before.is_default, change, dry_run)


def remove_code(administration: Administration, name: str, code: str, *, dry_run: bool = False) -> CodeResult:
    """Takes a code out of a list; the archive refuses one that is in use. Raises `UsageFault` where there is none."""
    before = _find(list_codes(administration, name), lambda entry: entry.code.code == code)
    if before is None:
        raise UsageFault(what="no-such-code", where=f"{name} {code}")
    administration.delete_code(name, code)
    return replace(before, change="removed", is_dry_run=dry_run)


def list_groups(administration: Administration) -> Iterator[GroupResult]:
    """Yields every access group."""
    return (GroupResult(group) for group in administration.access_groups())


def find_group(administration: Administration, name: str) -> AccessGroup:
    """The access group with this name or number. Raises `UsageFault` where there is none, or several."""
    groups = [group for group in administration.access_groups() if name in (group.name, str(group.id))]
    if not groups:
        raise UsageFault(what="no-such-group", where=name)
    if len(groups) > 1:
        raise UsageFault(what="ambiguous-item", where=name, do=", ".join(str(group.id) for group in groups))
    return groups[0]


def add_group(administration: Administration, group: AccessGroup, *, dry_run: bool = False) -> GroupResult:
    """Makes an access group. Raises `UsageFault` where one of that name is there already."""
    if any(group.name == existing.name for existing in administration.access_groups()):
        raise UsageFault(what="group-exists", where=group.name)
    return GroupResult(administration.add_access_group(group), "added", dry_run)


def change_group(
    administration: Administration, before: AccessGroup, group: AccessGroup, *, dry_run: bool = False
) -> GroupResult:
    """Gives an access group these members and permissions."""
    if group == before:
        return GroupResult(group, "same", dry_run)
    return GroupResult(administration.set_access_group(group), "changed", dry_run)


def _find(codes: Iterable[CodeResult], matches: Callable[[CodeResult], bool]) -> CodeResult | None:
    return next((code for code in codes if matches(code)), None)
