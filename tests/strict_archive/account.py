"""Who asks: an account with the permissions of the published lists."""

from __future__ import annotations

from dataclasses import dataclass

EXPLICIT = ("ReadThis", "Read", "ReadRelated", "Create", "Update", "Delete", "Grant", "UpdateSystemManaged", "Move")
SERVICE = (
    "Edit list values",
    "Write changelog",
    "Store light PDF",
    "Edit journaled",
    "Dispose documents",
    "Edit finalized",
    "Publish documents",
    "View changelog",
    "Journal",
    "Store documents",
    "GUI administrator",
    "Security administrator",
)


@dataclass(frozen=True, slots=True)
class Account:
    """An account of an integration. As published, one cannot delete unless that was granted."""

    id: str
    secret: str
    name: str = "Arkiv Integrasjon"
    explicit: frozenset[str] = frozenset(EXPLICIT) - {"Delete"}
    service: frozenset[str] = frozenset(SERVICE)

    def can(self, permission: str) -> bool:
        """Whether it has a permission of either kind."""
        return permission in self.explicit or permission in self.service
