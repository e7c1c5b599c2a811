"""Which source is a connection to a service. For any other, nothing of services is imported."""

from __future__ import annotations

from typing import TYPE_CHECKING

from noarkit.records import Source, Watermarked
from noarkit.wings import require_wing

if TYPE_CHECKING:
    from noarkit.services.source import ConnectorSource


def connection_of(source: Source | None) -> ConnectorSource | None:
    """The connection that a source is; None for any other. Raises `UsageFault` where services are not installed."""
    if not isinstance(source, Watermarked):
        return None
    require_wing("services")
    from noarkit.services.source import ConnectorSource

    return source if isinstance(source, ConnectorSource) else None
