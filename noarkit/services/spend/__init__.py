"""The spend connector: settled entries with their receipts, export jobs, and the registers needed to read old vouchers.

settings     the settings of a connection, and their defaults
calls        the REST calls, one method for each
money        amounts in minor units, never as floats
streams      entries, jobs and registers as items
vouchers     an entry as an item: title, receipts, page, data
receipts     which receipts an entry has, and what became of the others
registers    codes and names that entries refer to
labels       what records say, in words for people
jobs         waits for export jobs
write_calls  changes of registers and subscriptions on request
commands     the commands of `noarkit connect spend:NAME`
kind         what the rest of the house needs to know of the service, as one value
"""
