"""The access control area: access groups, single permissions and access modifiers, in 27 calls.

A change takes effect from the next call of every account.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from noarkit.server.access import groups, modifiers, permissions
from noarkit.server.calling import Route
from noarkit.server.rights import EXPLICIT_PERMISSIONS, SERVICE_PERMISSIONS

ADMIN = "admin"
INTEGRATION = "integration"

# The permissions that an ingest and an extract need. Left out: Delete and Grant (an integration neither destroys nor
# hands out permissions), publishing, disposal and administration.
_INTEGRATION_EVERYWHERE = ("ReadThis", "Read", "ReadRelated", "Create", "Update", "UpdateSystemManaged", "Move")
_INTEGRATION_SERVICE = (
    "Edit list values",
    "Write changelog",
    "Edit journaled",
    "Edit finalized",
    "View changelog",
    "Journal",
    "Store documents",
)


def statements() -> Iterator[str]:
    """The tables, and the two groups of a new archive.

    `permission` holds what is granted on single nodes: `kind` is a family, a register, a list, or a list's values;
    `object` is the object's id or the code. `access_modifier` names what determines access control.
    """
    yield (
        "CREATE TABLE access_group (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, description TEXT,"
        " claims TEXT NOT NULL, global_permissions TEXT NOT NULL, service_permissions TEXT NOT NULL)"
    )
    yield (
        "CREATE TABLE permission (kind TEXT NOT NULL, object TEXT NOT NULL,"
        " access_group INTEGER NOT NULL REFERENCES access_group, permissions TEXT NOT NULL,"
        " PRIMARY KEY (kind, object, access_group)) WITHOUT ROWID"
    )
    yield "CREATE INDEX permission_access_group ON permission (access_group)"
    yield "CREATE TABLE access_modifier (kind TEXT NOT NULL, object TEXT NOT NULL, PRIMARY KEY (kind, object))"
    yield _group("Administrators", ADMIN, EXPLICIT_PERMISSIONS, SERVICE_PERMISSIONS)
    yield _group("Integrations", INTEGRATION, _INTEGRATION_EVERYWHERE, _INTEGRATION_SERVICE)


def routes() -> list[Route]:
    """The calls of this area."""
    return [*groups.routes(), *modifiers.routes(), *permissions.routes()]


def _group(name: str, claim: str, everywhere: tuple[str, ...], service: tuple[str, ...]) -> str:
    lists = ", ".join(f"'{json.dumps(words)}'" for words in ([claim], everywhere, service))
    return (
        "INSERT INTO access_group (name, claims, global_permissions, service_permissions)"  # noqa: S608  # our own words
        f" VALUES ('{name}', {lists})"
    )
