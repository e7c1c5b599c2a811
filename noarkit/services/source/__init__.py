"""Services as sources: what a connection lists becomes source records, for the same pipeline as files and tables.

source          the source over a service: windows, marks, records, contents
document_store  documents that were made of listings, kept with the run until they are uploaded
item_faults     what became of something that a service did not give
accepted_losses  what is gone from a service for good, and was accepted so
run_watermarks  the marks of a connection across runs, for each archive
writeback       ids of the archive, written into the records that case files were made of
"""

from noarkit.services.source.source import ConnectorSource, find_connection, reopen_connection

__all__ = ["ConnectorSource", "find_connection", "reopen_connection"]
