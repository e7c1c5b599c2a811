"""PREMIS read by the names of the standard alone, with lxml: nothing of ours takes part."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

from lxml import etree

V3, DIAS = "http://www.loc.gov/premis/v3", "http://arkivverket.no/standarder/PREMIS"


@dataclass
class ForeignPremis:
    """All PREMIS documents of a package. `base` is the folder from which each tells its places."""

    documents: dict[Path, etree._Element]
    namespace: str = V3

    def find(self, path: str) -> list[tuple[Path, etree._Element]]:
        """Elements of every document with the folder that its places begin in."""
        names = {"p": self.namespace, "xsi": "http://www.w3.org/2001/XMLSchema-instance"}
        found = []
        for base, root in self.documents.items():
            elements = root.xpath(path, namespaces=names)
            assert isinstance(elements, list)
            found += [(base, one) for one in elements if isinstance(one, etree._Element)]
        return found

    def text(self, element: etree._Element, path: str) -> str:
        """The text at a path below an element."""
        return str(element.xpath(f"string({path})", namespaces={"p": self.namespace}))

    def texts(self, element: etree._Element, path: str) -> list[str]:
        """All texts at a path below an element."""
        found = element.xpath(path, namespaces={"p": self.namespace})
        assert isinstance(found, list)
        return [str(one.text) for one in found if isinstance(one, etree._Element)]

    def files(self) -> dict[str, Path]:
        """The file of each object that has a place, by the object's identifier."""
        found = {}
        for base, one in self.find("//p:object[.//p:contentLocationValue]"):
            number = self.text(one, "p:objectIdentifier/p:objectIdentifierValue")
            found[number] = base / _place(self.text(one, ".//p:contentLocationValue"))
        return found

    def derived(self, subtype: str) -> set[tuple[str, str]]:
        """Checksums of the bytes of two files that PREMIS relates: of the one that says so, and of the other."""
        files = self.files()
        pairs = set()
        related = f"p:relationship[p:relationshipType='derivation' and p:relationshipSubType='{subtype}']"
        for base, one in self.find(f"//p:object[.//p:contentLocationValue]/{related}"):
            own = base / _place(self.text(one, "..//p:contentLocationValue"))
            other = files[self.text(one, ".//p:relatedObjectIdentifierValue")]
            pairs.add((sha256(own), sha256(other)))
        return pairs

    def events(self, kind: str) -> dict[str, etree._Element]:
        """Events of a type by their identifiers."""
        return {
            self.text(one, "p:eventIdentifier/p:eventIdentifierValue"): one
            for _, one in self.find(f"//p:event[p:eventType='{kind}']")
        }


def _place(location: str) -> str:
    return unquote(location.removeprefix("file:"))


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def eark(package: Path) -> ForeignPremis:
    """That of an E-ARK package in a folder; places are told from two folders above `metadata/preservation`."""
    return ForeignPremis(
        {path.parents[2]: etree.parse(path).getroot() for path in package.rglob("metadata/preservation/premis.xml")}
    )
