"""Stand-in of a spend service: entries with receipts, export jobs, registers, signed webhooks."""
