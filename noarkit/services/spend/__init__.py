"""The spend connector: settled entries with their receipts, export jobs, and the registers needed to read old vouchers.

settings   the settings of a connection, and their defaults
calls      the REST calls, one method for each
money      amounts in minor units, never as floats
streams    entries, jobs and registers as items
jobs       waits for export jobs
writing    changes of registers and subscriptions on request
commands   the commands of `noarkit connect spend:NAME`
"""

from noarkit.services.spend.commands import run_command
from noarkit.services.spend.service import Spend, open_login, open_service

__all__ = ["Spend", "open_login", "open_service", "run_command"]
