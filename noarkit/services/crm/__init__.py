"""The CRM connector: modules whose records become case files, with their notes, emails and attachments.

settings     the settings of a connection, and their defaults
calls        the REST calls, one method for each; refusals become faults
listing      lists of records: by page and token, by id, in bulk where they are many; `calls` reads cursors,
             `services.paging` has the loop over pages
times        times as the service tells them, and how far its clock is behind
fields       the fields of a module that are read, and their types
service      the CRM as a service: its organisation, its streams, the items of each
reading      what a window holds of each stream: by time, and by what the archive holds
cases        the records that others belong to, in a temporary file
known_items  what the archive holds, by stream and id, to be compared with what is listed
deletions    what the archive holds and the service no longer has
streams      records, notes, emails and attachments as items
letters      emails rebuilt as .eml from the fields of the service
write_calls  inserts, updates, upserts and deletions in batches, with a result for each record
channels     notification channels, opened, renewed and closed
commands     the commands of `noarkit connect crm:NAME`
kind         what the rest of the house needs to know of the service, as one value
"""
