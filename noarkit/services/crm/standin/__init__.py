"""Stand-in of a CRM: modules, records, notes, attachments, emails, bulk reads, notifications and MCP servers."""

from noarkit.services.crm.standin.service import standin

__all__ = ["standin"]
