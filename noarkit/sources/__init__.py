"""Places that yield source records.

files/       file trees, registers beside them, mail
database/    PostgreSQL, MariaDB and SQLite
column_meanings  what columns of tables of cases and of documents mean
item_stream  what every source does with its items on their way
reader       sources that others write
scan         counts what a source holds

Packages are sources too: each form has its own in `noarkit.forms`; services have theirs in `noarkit.services.source`.
"""
