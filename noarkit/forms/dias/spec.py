"""The names and words of a DIAS package, and how a path stands in its metadata."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from typing import Literal, get_args
from urllib.parse import unquote, unquote_plus

from noarkit.forms.metadata import mets_model

PackageType = Literal["SIP", "AIP"]
TYPES = ("SIP", "AIP", "DIP", "AIC", "AIU")
RecordStatus = Literal["NEW", "SUPPLEMENT", "REPLACEMENT", "TEST", "VERSION", "OTHER"]
RECORD_STATUSES: tuple[RecordStatus, ...] = get_args(RecordStatus)

METS_NAMESPACE = mets_model.DIAS
PREMIS_NAMESPACE = "http://arkivverket.no/standarder/PREMIS"
SUBMISSION_NAMESPACE = mets_model.METS
"""Of the submission description; packages before 2021 have it in dias-mets.xml too."""
EAD_NAMESPACE = "http://ead3.archivists.org/schema/"
EAC_NAMESPACE = "urn:isbn:1-931666-33-4"
XLINK = mets_model.XLINK
PROFILE = "http://xml.ra.se/METS/RA_METS_eARD.xml"

METS = "dias-mets.xml"
LOG = "log.xml"
CONTENT = "content"
DESCRIPTIVE = "descriptive_metadata"
ADMINISTRATIVE = "administrative_metadata"
OPERATIONS = f"{ADMINISTRATIVE}/repository_operations"
PREMIS = f"{ADMINISTRATIVE}/dias-premis.xml"
PREMIS_XSD = f"{ADMINISTRATIVE}/dias-premis.xsd"
METS_XSD = "dias-mets.xsd"
ADDML = f"{ADMINISTRATIVE}/arkivuttrekk.xml"
OLD_ADDML = f"{ADMINISTRATIVE}/addml.xml"
ADDML_XSD = f"{ADMINISTRATIVE}/addml.xsd"
EAD = f"{DESCRIPTIVE}/ead.xml"
EAD_XSD = f"{DESCRIPTIVE}/ead.xsd"
EAC = f"{DESCRIPTIVE}/eac-cpf.xml"
EAC_XSD = f"{DESCRIPTIVE}/eac-cpf.xsd"
HANDBOOK = f"{CONTENT}/systemhåndbok.pdf"
FOLDERS = (ADMINISTRATIVE, DESCRIPTIVE, CONTENT)
OBJECT_PREFIX = "UUID:"
IDENTIFIER_TYPE = "NO/RA"

CHECKSUM_TYPES: Mapping[str, str] = {
    "MD5": "md5",
    "SHA-1": "sha1",
    "SHA-256": "sha256",
    "SHA-384": "sha384",
    "SHA-512": "sha512",
}
"""What METS calls a checksum, and what hashlib does."""

PLAIN = "text/plain"
TAR_TYPE = "application/x-tar"
_MIME: Mapping[str, str] = {
    "pdf": "image/pdf",
    "xml": "application/xml",
    "xsd": "application/xml",
    "jpg": "image/jpg",
    "jpeg": "image/jpg",
    "tif": "image/tiff",
    "tiff": "image/tiff",
    "mp3": "audio/mp3",
    "mpg": "video/mpg",
    "mpeg": "video/mpg",
    "tar": TAR_TYPE,
    "txt": PLAIN,
}
_SCHEME = re.compile(r"file:(?://(?:\./)?)?", re.IGNORECASE)
_ENCODED = frozenset(' "<>\\^`{|}%#?[]')
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


def mime_of(name: str) -> str:
    """What METS may call a file: its list has eleven types, and whatever is none of them is `text/plain`."""
    return _MIME.get(extension_of(name), PLAIN)


def has_mime_type(name: str) -> bool:
    """True if the list has a type for the file."""
    return extension_of(name) in _MIME


def extension_of(name: str) -> str:
    """The ending of a name in lower case, empty if it has none."""
    last = name.rpartition("/")[2]
    return last.rpartition(".")[2].lower() if "." in last else ""


def href_of(name: str) -> str:
    """The address of a file of the package; letters of all languages stand as they are, as other writers have them."""
    if name.isascii():  # as most are
        return "file:" + name.translate(_ASCII_IN_HREF)
    return "file:" + "".join(sign if _plain(sign) else _percent(sign) for sign in name)


def paths_of(href: str) -> Iterator[str]:
    """What an address may mean, the likeliest first: it is encoded, or not, or as a form is; with `/` or with `\\`."""
    bare = _SCHEME.sub("", href.strip(" \t\r\n"), count=1)
    yielded = set()
    for candidate in (unquote(bare, errors="surrogateescape"), bare, unquote_plus(bare, errors="surrogateescape")):
        for path in (candidate, candidate.replace("\\", "/")):
            path = path.removeprefix("./")
            for form in (path, unicodedata.normalize("NFC", path), unicodedata.normalize("NFD", path)):
                if form not in yielded:
                    yielded.add(form)
                    yield form


def may_be_absent(package_type: str, name: str) -> bool:
    """True for what an AIP alone has: some list it in the METS of a SIP too, and then leave it out."""
    return package_type == "SIP" and name.startswith(f"{OPERATIONS}/")


def uuid_in(text: str) -> str:
    """The UUID that stands in a text, in lower case; empty if there is none."""
    match = _UUID.search(text)
    return match.group().lower() if match else ""


def _plain(sign: str) -> bool:
    if sign < "\x7f":
        return sign > "\x1f" and sign not in _ENCODED
    return unicodedata.category(sign) not in ("Cc", "Cf", "Cs", "Cn", "Co", "Zl", "Zp", "Zs")


def _percent(sign: str) -> str:
    return "".join(f"%{byte:02X}" for byte in sign.encode("utf-8", "surrogateescape"))


_ASCII_IN_HREF = {code: _percent(chr(code)) for code in range(128) if not _plain(chr(code))}
