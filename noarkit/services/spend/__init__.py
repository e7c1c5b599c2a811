"""The spend connector: settled entries with their receipts, export jobs, and the registers needed to read old vouchers.

settings     the settings of a connection, and their defaults
calls        the REST calls, one method for each
money        amounts in minor units, never as floats
streams      entries, jobs and registers as items
jobs         waits for export jobs
write_calls  changes of registers and subscriptions on request
commands     the commands of `noarkit connect spend:NAME`
kind         what the rest of the house needs to know of the service, as one value
"""
