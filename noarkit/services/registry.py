"""The registry of services: a line for each of our own, and those that other packages register.

A package registers a service as an entry point of the group `noarkit.services`, which names a `ServiceKind`. Nothing of
a service is imported until a connection, or a command, names it: every command reads the names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from noarkit.errors import UsageFault

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint, EntryPoints

    from noarkit.services.commands import Verb
    from noarkit.services.kind import ServiceKind

GROUP = "noarkit.services"
BUILT_IN = {
    "crm": "noarkit.services.crm.kind:CRM",
    "spend": "noarkit.services.spend.kind:SPEND",
    "appsec": "noarkit.services.appsec.kind:APPSEC",
    "features": "noarkit.services.features.kind:FEATURES",
}
_NAME = re.compile(r"[a-z][a-z0-9]{1,39}")
_CONNECTION = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")


def service_names() -> tuple[str, ...]:
    """Returns the names of all services, our own first."""
    others = {entry.name for entry in _registered() if _NAME.fullmatch(entry.name)}
    return (*BUILT_IN, *sorted(others - BUILT_IN.keys()))


def is_service(name: str) -> bool:
    """True for the name of a service."""
    return name in BUILT_IN or (_NAME.fullmatch(name) is not None and bool(_registered(name)))


def is_connection_name(text: str) -> bool:
    """True for a name such as `crm:main`."""
    service, colon, name = text.partition(":")
    return bool(colon) and _CONNECTION.fullmatch(name) is not None and is_service(service)


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


def _registered(name: str | None = None) -> EntryPoints:
    """What packages registered, under one name or all. The module for it is imported only where it is needed."""
    from importlib.metadata import entry_points

    return entry_points(group=GROUP) if name is None else entry_points(group=GROUP, name=name)


def _entry_point(name: str) -> EntryPoint:
    from importlib.metadata import EntryPoint

    if name in BUILT_IN:
        return EntryPoint(name, BUILT_IN[name], GROUP)
    # a package that is found twice on the path still registers the same thing
    entries = {entry.value: entry for entry in _registered(name)} if _NAME.fullmatch(name) else {}
    if not entries:
        raise UsageFault(what="unknown-source", where=name)
    if len(entries) > 1:
        raise UsageFault(what="service-twice", where=f"{name}: {', '.join(sorted(entries))}", do="pip uninstall")
    return next(iter(entries.values()))


def _broken(entry: EntryPoint, why: str) -> UsageFault:
    where = f"{entry.name} ({entry.value}): {why}"
    return UsageFault(what="service-broken", where=where, do=f"python -c 'import {entry.module}'")
