"""ADDML with flat files: the tables of a records system as text files, described by an XML document beside them.

spec         names of character sets, separators and properties
model        what a description says: files, record types, fields, keys
description  reads it, in versions 8.2 and 8.3
read         the records of a flat file, in constant memory
values       what the text of a field stands for
tables       the files as a database of ours
source       a delivery as a source of records, by the recipes of databases
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from noarkit.forms.addml.source import AddmlSource
    from noarkit.records import SourceIdentity

KIND = "addml"


def find_addml(where: str) -> AddmlSource | None:
    """The delivery in a folder; None if there is none, and for a Noark 5 extract, which is more than its tables."""
    from noarkit.forms.addml.description import find_description

    path = Path(where)
    description = find_description(path) if path.is_dir() else None
    if description is None:
        return None
    from noarkit.forms.addml.source import AddmlSource

    return AddmlSource(path)


def reopen_addml(identity: SourceIdentity) -> AddmlSource:
    """The delivery that a plan was made from, on the same terms. Raises `SourceGone` where it is another now."""
    from noarkit.forms.addml.source import reopen

    return reopen(identity)
