"""Where a document file lies in a package: below its own uuid, so that the same file has the same path every time."""

from __future__ import annotations

import re

from noarkit.forms.noark5.spec import DOCUMENT_FOLDER

_EXTENSION = re.compile(r"[A-Za-z0-9]{1,10}\Z")
_PLAIN = re.compile(r"[0-9A-Za-z-]{2,64}\Z")


def document_path(uuid: str, format_name: str, file_name: str) -> str:
    """`dokumenter/ab/abcdef….pdf`: the extension is the format where that reads like one, else the file's own."""
    name = uuid.lower() if _PLAIN.match(uuid) else uuid.encode().hex()
    extension = _extension(format_name, file_name)
    return f"{DOCUMENT_FOLDER}/{name[:2]}/{name}{extension}"


def _extension(format_name: str, file_name: str) -> str:
    for word in (format_name.removeprefix("."), file_name.rpartition(".")[2] if "." in file_name else ""):
        if _EXTENSION.match(word):
            return f".{word.lower()}"
    return ""
