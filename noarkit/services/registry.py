"""The registry of services: finds the kind of one by its name, ours or another package's.

An entry point of the group `noarkit.services` names a `ServiceKind`. Nothing of a service is imported until a
connection, or a command, names it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from noarkit.errors import UsageFault
from noarkit.service_names import BUILT_IN, GROUP, registered, service_names

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from noarkit.services.commands import Verb
    from noarkit.services.kind import ServiceKind


def find_kind(name: str) -> ServiceKind:
    """Returns the kind of service of that name.

    Raises `UsageFault` if there is none, if several packages register it, or if what is registered is no service.
    """
    from noarkit.services.kind import ServiceKind

    entry = _entry_point(name)
    try:
        kind = entry.load()
    except Exception as error:  # whatever somebody else's module does when it is imported
        if name in BUILT_IN:
            raise
        raise _broken(entry, type(error).__name__) from error
    if not isinstance(kind, ServiceKind) or kind.name != name:
        raise _broken(entry, "ServiceKind")
    return kind


def verbs_of(service: str) -> Iterator[tuple[str, Verb[Any]]]:
    """Yields each verb of a service after its resource. Raises what `find_kind` raises."""
    table = find_kind(service).commands
    if table is not None:
        yield from ((resource, verb) for resource, verbs in table.resources.items() for verb in verbs)


def verbs_with_formats() -> Iterator[tuple[str, str, Verb[Any]]]:
    """Yields each verb whose results may be shown in several formats, after its service and its resource.

    Imports every service. Raises what `find_kind` raises.
    """
    for name in service_names():
        yield from ((name, resource, verb) for resource, verb in verbs_of(name) if verb.formats)


def _entry_point(name: str) -> EntryPoint:
    from importlib.metadata import EntryPoint

    if name in BUILT_IN:
        return EntryPoint(name, BUILT_IN[name], GROUP)
    # a package that is found twice on the path still registers the same thing
    entries = {entry.value: entry for entry in registered(name)}
    if not entries:
        raise UsageFault(what="unknown-source", where=name)
    if len(entries) > 1:
        raise UsageFault(what="service-twice", where=f"{name}: {', '.join(sorted(entries))}", do="pip uninstall")
    return next(iter(entries.values()))


def _broken(entry: EntryPoint, why: str) -> UsageFault:
    where = f"{entry.name} ({entry.value}): {why}"
    return UsageFault(what="service-broken", where=where, do=f"python -c 'import {entry.module}'")
