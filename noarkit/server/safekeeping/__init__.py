"""Keeps an archive folder safe: checks it whole, backs it up while it serves, and begins again from a backup.

integrity     every row, every link, every file and its bytes
row_checks    what a row of each type must hold
backup        a consistent copy of a folder that others write to
manifest      what a finished backup holds, with checksums; the marks of a backup
"""
