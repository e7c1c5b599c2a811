"""The CRM as a service: modules whose records become case files, with their notes, emails and attachments.

settings   what a connection to a CRM is configured with, and its defaults
calls      one method for each call we make; what the service says is told as faults
listing    lists of records: by page and token, by keyset, in bulk where they are many
fields     which fields of a module are read, and whether they are the ones that were read before
streams    records, notes, emails and attachments as items
letters    an email put together again from what the service tells of it
writing    inserts, updates, upserts and deletions in batches, with a result for each record
channels   notifications: channels that are kept alive
asking     what a person asks for in words
"""

from noarkit.connectors.crm.channels import renew_webhooks
from noarkit.connectors.crm.commands import run_command
from noarkit.connectors.crm.service import Crm, open_login, open_service

__all__ = ["Crm", "open_login", "open_service", "renew_webhooks", "run_command"]
