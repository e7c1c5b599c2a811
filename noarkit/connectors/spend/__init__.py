"""A spend service: settled entries with their receipts, export jobs, and the registers that old vouchers are read by.

settings   what a connection is configured with, and its defaults
calls      one method for each call we make
money      amounts as they were told, never as floats
streams    entries, jobs and registers as items
jobs       export jobs that are waited for
writing    registers and subscriptions that are changed on request
asking     what a person asks for in words
"""

from noarkit.connectors.spend.commands import run_command
from noarkit.connectors.spend.service import Spend, open_login, open_service

__all__ = ["Spend", "open_login", "open_service", "run_command"]
