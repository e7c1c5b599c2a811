"""A file of a package as a plan remembers it, with the checksum that the METS tells."""

from __future__ import annotations

from noarkit.forms.container.contents import PackageContents
from noarkit.forms.container.locators import locator_of
from noarkit.forms.eark.read.inventory import Entry
from noarkit.forms.eark.read.package import EarkPackage
from noarkit.forms.eark.spec import HASHES
from noarkit.graph.entity import Content

_SHA256_LENGTH = 64


def content_of(contents: PackageContents, package: EarkPackage, entry: Entry, size_bytes: int) -> Content:
    """A file by its locator; SHA-256 stands in the plan itself and needs no mention there. Raises `ItemVanished`."""
    algorithm = HASHES.get(entry.checksum_type, "") if entry.checksum else ""
    sha256 = entry.checksum if algorithm == "sha256" and len(entry.checksum) == _SHA256_LENGTH else None
    proof = ":" if sha256 or not algorithm else f"{algorithm}:{entry.checksum}"
    member = package.member(entry.name)
    place = entry.name if member is None else locator_of(member)
    name = entry.name[entry.name.rfind("/") + 1 :]
    media = entry.media_type or None
    modified = contents.modified_ns(entry.name)
    return Content(f"{proof}:{place}", name, size_bytes, modified, sha256, media, entry.puid or None)
