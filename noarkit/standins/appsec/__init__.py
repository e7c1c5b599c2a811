"""An application security service on loopback: projects, scans in all their states, findings, reports and uploads."""

from noarkit.standins.appsec.service import standin

__all__ = ["standin"]
