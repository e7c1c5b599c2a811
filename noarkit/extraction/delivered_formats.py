"""Whether a file that is delivered can be taken by a depot, beyond what its format says: by its own first bytes.

A PDF that does not claim to be PDF/A, a document with a password and one that was cut off are in formats with right
names, and no depot can use them. Only what is quickly seen is looked at; `noarkit validate` looks at everything.
"""

from __future__ import annotations

from pathlib import Path

from noarkit.documents.damage import ZIPPED, damage_of, is_judged, is_locked
from noarkit.documents.opendocument import refuse_locked
from noarkit.documents.refusal import DocumentRefused, Refusal
from noarkit.documents.zipped import open_package
from noarkit.safe.pdfa import available, claimed_flavour
from noarkit.sources.files.codecs import unaccepted_codec

NOT_TAKEN, NOT_PDFA, PASSWORD, DAMAGED = "format-not-taken", "pdf-not-pdfa", "password", "damaged"
EMPTY, NO_PDFA_BESIDE, CODEC = "empty", "no-pdfa-beside", "codec"
REASONS = (NOT_TAKEN, NOT_PDFA, PASSWORD, DAMAGED, EMPTY, NO_PDFA_BESIDE, CODEC)

_ZIPPED = frozenset(
    {"docx", "docm", "dotx", "dotm", "xlsx", "xlsm", "xltx", "xltm", "pptx", "pptm", "ppsx", "ppsm", "potx", "potm"}
    | {"odt", "ods", "odp"}
)
_HEAD_BYTES = 64 * 1024
_COMPOUND = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")


def reason_not_taken(path: Path, suffix: str) -> str | None:
    """Why no depot can use a file whose format is right by its name; None where nothing says so. Raises `OSError`."""
    size = path.stat().st_size
    if not size:
        return EMPTY
    reason = _of_pdf(path) if suffix == "pdf" else _of_zipped(path) if suffix in _ZIPPED else None
    if reason is not None or suffix == "pdf":
        return reason
    with path.open("rb") as file:
        if suffix in ZIPPED and is_locked(file.fileno()):
            return PASSWORD
        if unaccepted_codec(file.fileno(), size, suffix):
            return CODEC
        return DAMAGED if is_judged(suffix) and damage_of(file.fileno(), size, suffix) else None


def _of_pdf(path: Path) -> str | None:
    if not available():
        return None
    import pikepdf

    try:
        with pikepdf.open(path, attempt_recovery=False):
            pass
    except pikepdf.PasswordError:
        return PASSWORD
    except pikepdf.PdfError:
        return DAMAGED
    return None if claimed_flavour(path) is not None else NOT_PDFA


def _of_zipped(path: Path) -> str | None:
    with path.open("rb") as file:
        head = file.read(_HEAD_BYTES)
    if head.startswith(_COMPOUND):
        return PASSWORD if _ENCRYPTED in head or _ENCRYPTED in path.read_bytes() else DAMAGED
    try:
        with open_package(path) as package:
            refuse_locked(package)
    except DocumentRefused as refusal:
        return PASSWORD if refusal.reason is Refusal.PASSWORD else DAMAGED
    return None
