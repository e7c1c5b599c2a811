"""The inspection of a document, by what it is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from noarkit.copies.inspection.binary import find_in_binary
from noarkit.copies.inspection.markup import find_in_markup
from noarkit.copies.inspection.odf import find_in_odf
from noarkit.copies.inspection.ooxml import find_in_ooxml
from noarkit.copies.inspection.pdf import find_in_pdf
from noarkit.copies.inspection.pictures import find_in_picture
from noarkit.copies.inspection.rtf import find_in_rtf
from noarkit.copies.port import Failure, Finding, Identity
from noarkit.copies.reasons import Reason
from noarkit.documents.opendocument import refuse_locked
from noarkit.documents.refusal import DocumentRefused
from noarkit.documents.zipped import open_package

_LOCKED = frozenset({"fmt/494", "fmt/754", "fmt/755"})
_OOXML = "application/vnd.openxmlformats-officedocument."
_MACRO_OOXML = ("application/vnd.ms-word.", "application/vnd.ms-excel.", "application/vnd.ms-powerpoint.")
_ODF = "application/vnd.oasis.opendocument."
_BINARY = frozenset(
    {"application/x-ole-storage", "application/msword", "application/vnd.ms-excel", "application/vnd.ms-powerpoint"}
)
_RTF = frozenset({"application/rtf", "text/rtf"})
_MARKUP = frozenset({"text/html", "application/xhtml+xml", "image/svg+xml"})


def inspect(path: Path, identity: Identity) -> tuple[Finding, ...] | Failure:
    """What a person should know of a document, or why no converter may be given it. Raises `OSError`."""
    if identity.puid in _LOCKED:
        return Failure(Reason.PASSWORD)
    try:
        return tuple(_findings(path, identity))
    except DocumentRefused as refused:
        return Failure(Reason(refused.reason), refused.data)


def is_ooxml(media_type: str) -> bool:
    """True for a media type of Office Open XML, with macros or without."""
    with_macros = media_type.startswith(_MACRO_OOXML) and "." in media_type.removeprefix("application/vnd.ms-")
    return media_type.startswith(_OOXML) or with_macros


def _findings(path: Path, identity: Identity) -> Iterator[Finding]:
    media_type = (identity.media_type or "").partition(",")[0]
    if is_ooxml(media_type):
        with open_package(path) as package:
            yield from find_in_ooxml(package)
    elif media_type.startswith(_ODF):
        with open_package(path) as package:
            refuse_locked(package)
            yield from find_in_odf(package)
    elif media_type in _BINARY:
        yield from find_in_binary(path)
    elif media_type in _RTF:
        yield from find_in_rtf(path)
    elif media_type == "application/pdf":
        yield from find_in_pdf(path)
    elif media_type in _MARKUP:
        yield from find_in_markup(path)
    elif media_type.startswith("image/"):
        yield from find_in_picture(path)
    elif media_type == "application/zip":
        with open_package(path) as package:
            if "META-INF/manifest.xml" in package.names:  # an OpenDocument whose content nobody can read
                refuse_locked(package)
