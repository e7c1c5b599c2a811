"""Stand-in of a CRM: modules, records, notes, attachments, emails, bulk reads, notifications and MCP servers."""
