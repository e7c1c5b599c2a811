"""The names of services and of connections to them: our own services, and those that other packages register.

A package registers a service as an entry point of the group `noarkit.services`. Nothing of a service is imported for
its name: every command reads the names.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.metadata import EntryPoints

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
    others = {entry.name for entry in registered() if _NAME.fullmatch(entry.name)}
    return (*BUILT_IN, *sorted(others - BUILT_IN.keys()))


def is_service(name: str) -> bool:
    """True for the name of a service."""
    return name in BUILT_IN or (bool(registered(name)))


def is_connection_name(text: str) -> bool:
    """True for a name such as `crm:main`."""
    service, colon, name = text.partition(":")
    return bool(colon) and _CONNECTION.fullmatch(name) is not None and is_service(service)


def registered(name: str | None = None) -> EntryPoints:
    """Returns what packages registered, under one name or all; nothing under what is no name of a service."""
    from importlib.metadata import EntryPoints, entry_points

    if name is None:
        return entry_points(group=GROUP)
    return entry_points(group=GROUP, name=name) if _NAME.fullmatch(name) else EntryPoints(())
