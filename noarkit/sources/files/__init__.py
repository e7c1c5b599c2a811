"""File trees as a source: every readable file a record, whatever its name; registers beside them; mail.

source    a tree or a single file as a source
policy    what is taken, and the notes on what is taken
walk      the tree, folder by folder            judge    whether a file is taken, without opening it
folders   opening without following links       streams  the bytes of a content, watched for change
names     bytes of names, keys, readable texts  records  what recipes see
inside    looks into files: detect (media types), puids (PRONOM), mail, mailbox
default   the recipe of a source of plain files
beside    registers in use: registers (rows by file), tables (CSV, JSON), sheets (xlsx); tally counts names
"""

from __future__ import annotations

from noarkit.sources.files.policy import FilePolicy
from noarkit.sources.files.source import FileSummary, FileTree

__all__ = ["FilePolicy", "FileSummary", "FileTree"]
