"""Stand-in of an application security service: projects, scans in all their states, findings, reports and uploads."""

from noarkit.standins.appsec.service import standin

__all__ = ["standin"]
