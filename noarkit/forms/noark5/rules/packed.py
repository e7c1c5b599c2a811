"""Validates an extract in a zip or tar: its XML is unpacked into a temporary folder, and its documents are hashed
inside the archive file.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import replace

from noarkit.errors import PackageFault
from noarkit.forms.container.storage import Storage
from noarkit.forms.findings import ValidateResult
from noarkit.forms.noark5.read.nested_extract import copy_top_files, find_extract_root
from noarkit.forms.noark5.rules.documents import packed_row
from noarkit.forms.noark5.rules.messages import Rows
from noarkit.forms.noark5.rules.run import Noark5ValidateOptions, validate_extract
from noarkit.forms.noark5.rules.store import Row
from noarkit.safe.digest import BLOCK_BYTES
from noarkit.safe.workplace import temporary_folder

_BATCH = 500


def validate_packed(storage: Storage, options: Noark5ValidateOptions) -> ValidateResult:
    """What is to be said about the extract in an archive file. Raises `PackageFault` where it holds none."""
    extract = find_extract_root(storage)
    if extract is None:
        raise PackageFault(where=storage.where, why="no-package", folder=storage.where)
    with temporary_folder("validate") as root:
        copy_top_files(extract, root)
        report = validate_extract(root, replace(options, packed_documents=_Documents(extract)))
    return replace(report, package=storage.where)


class _Documents:
    """The files of an extract below its root folder."""

    def __init__(self, extract: Storage) -> None:
        self._extract = extract

    def rows(self) -> Iterator[Rows]:
        """A row for each, in the order in which they lie."""
        rows: list[Row] = []
        for name, content in self._extract.contents():
            if "/" in name:
                rows.append(packed_row(name, content))
            if len(rows) >= _BATCH:
                yield Rows("files", tuple(rows))
                rows.clear()
        yield Rows("files", tuple(rows))

    def digest(self, name: str, algorithm: str) -> bytes | None:
        """The digest of one file."""
        try:
            hasher = hashlib.new(algorithm, usedforsecurity=False)
            with self._extract.open(name) as content:
                while block := content.read(BLOCK_BYTES):
                    hasher.update(block)
        except (ValueError, FileNotFoundError):
            return None
        return hasher.digest()
