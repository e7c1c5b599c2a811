"""Live SQL databases as a source: read only, from one snapshot, in constant memory.

address    URLs without passwords, and where passwords lie      session   a read-only connection with its snapshot
faults     what drivers say, in our words                       local     SQLite files that others write to
schema     tables, columns, keys and relations                  values    what columns hold, in plain form
rows       tables row by row, and what foreign keys lead to     keys      how rows are told apart
documents  which columns hold documents                         contents  what a plan keeps of them, and their slices
streams    documents opened again                               profile   what a scan tells
proposal   a recipe fitted to all this                          source    the database as a source of records
"""

from __future__ import annotations

from noarkit.sources.database.source import KIND, DatabaseSource, find_database, reopen_database

__all__ = ["KIND", "DatabaseSource", "find_database", "reopen_database"]
