"""Stand-in of a spend service: entries with receipts, export jobs, registers, signed webhooks."""

from noarkit.services.spend.standin.service import standin

__all__ = ["standin"]
