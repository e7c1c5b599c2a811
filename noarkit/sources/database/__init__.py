"""Live SQL databases as a source: read only, from one snapshot, in constant memory.

address    URLs without passwords, and where passwords lie      session   a read-only connection with its snapshot
faults     what drivers say, in our words                       local     SQLite files that others write to
schema     tables, keys and relations                           values    what columns hold, in plain form
columns    their types, and how values come about               catalogue  what only a server's own catalogue says
rows       tables row by row, and what foreign keys lead to     keys      how rows are told apart
documents  which columns hold documents                         contents  what a plan keeps of them, and their slices
streams    documents opened again                               profile   what a scan tells
roles      what each table is to the others                     proposal  a recipe fitted to all this
quiet      warnings of drivers that are nobody's business       expressions  how recipes come to a row's values
case_fields  what a recipe makes of columns of cases, letters
rule_parts  parts of its rules                                  screened_rows  no open text tells what is screened
table_copy  tables of a package, copied into a database of ours
source     the database as a source of records                  sqlite_statement  what only `CREATE TABLE` says
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from noarkit.records import SourceIdentity
    from noarkit.sources.database.source import DatabaseSource

KIND = "database"


def find_database(where: str) -> DatabaseSource | None:
    """The database behind a URL; None for what is none. Raises `SecretOnTheLine`, `UsageFault`."""
    if ":/" not in where:
        return None  # what drivers need is loaded where there is a database alone
    from noarkit.sources.database import source

    return source.find_database(where)


def reopen_database(identity: SourceIdentity) -> DatabaseSource:
    """The database that a plan was made from, on the same terms. Raises `UsageFault`, `PlanFault`."""
    from noarkit.sources.database import source

    return source.reopen_database(identity)
