"""A document with its archival copy, as PREMIS tells of them: written from texts of its own, for packages good and bad.

The namespace decides how DIAS and PREMIS 3 spell the same; everything else is alike in both.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field

DIAS, PREMIS_3 = "http://arkivverket.no/standarder/PREMIS", "http://www.loc.gov/premis/v3"
LETTER = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1 a letter"
COPY = (
    b"%PDF-1.7\n<x:xmpmeta xmlns:pdfaid='http://www.aiim.org/pdfa/ns/id/'><pdfaid:part>2</pdfaid:part>"
    b"<pdfaid:conformance>B</pdfaid:conformance></x:xmpmeta>\n%%EOF\n"
)
EVENT = "event-1"


def sha256(content: bytes) -> str:
    """The checksum of bytes."""
    return hashlib.sha256(content).hexdigest()


@dataclass(slots=True)
class CopiedLetter:
    """A letter and its copy below a folder of a package. What is told of them can be changed, and so can the bytes."""

    folder: str
    namespace: str
    letter: bytes = LETTER
    copy: bytes = COPY
    names: tuple[str, str] = ("original/letter.doc", "archive/letter.pdf")
    puids: tuple[str, str] = ("fmt/40", "fmt/477")
    related: str = "file-1"
    """What the copy is said to be made of."""
    event: str = EVENT
    outcome: str = "success"
    detail: Mapping[str, str] = field(default_factory=dict)
    """What the event says otherwise than it should: `source`, `copy`, `made_as`."""
    swapped: bytes | None = None
    """The bytes of the copy in the package, where they are others than PREMIS tells of."""

    def files(self) -> dict[str, bytes]:
        """Both files."""
        return {
            f"{self.folder}/{name}": held
            for name, held in zip(self.names, (self.letter, self.swapped or self.copy), strict=True)
        }

    def entities(self) -> str:
        """Two objects and the event."""
        first = self._object(0, self._relation("is source of", "file-2"))
        return first + self._object(1, self._relation("has source", self.related)) + self._event()

    def premis(self) -> str:
        """A PREMIS document of nothing else."""
        return (
            f'<?xml version="1.0" encoding="UTF-8"?>\n<premis xmlns="{self.namespace}" version="3.0"'
            f' xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">\n{self.entities()}</premis>\n'
        )

    def _object(self, number: int, relation: str) -> str:
        content = (self.letter, self.copy)[number]
        place = f"{self.folder}/{self.names[number]}"
        kind = "SIP" if self.namespace == DIAS else "local"
        return (
            f'<object xsi:type="file">{_identifier("objectIdentifier", "object", f"file-{number + 1}")}'
            "<objectCharacteristics><compositionLevel>0</compositionLevel>"
            f"<fixity><messageDigestAlgorithm>SHA-256</messageDigestAlgorithm><messageDigest>{sha256(content)}"
            f"</messageDigest></fixity><size>{len(content)}</size><format><formatDesignation><formatName>"
            f"{place.rpartition('.')[2]}</formatName></formatDesignation><formatRegistry><formatRegistryName>PRONOM"
            f"</formatRegistryName><formatRegistryKey>{self.puids[number]}</formatRegistryKey></formatRegistry></format>"
            f"</objectCharacteristics><originalName>{place}</originalName><storage><contentLocation>"
            f"<contentLocationType>{kind}</contentLocationType><contentLocationValue>{place}</contentLocationValue>"
            f"</contentLocation></storage>{relation}</object>\n"
        )

    def _relation(self, subtype: str, related: str) -> str:
        end = "Identification" if self.namespace == DIAS else "Identifier"
        return (
            f"<relationship><relationshipType>derivation</relationshipType><relationshipSubType>{subtype}"
            f"</relationshipSubType>{_identifier(f'relatedObject{end}', 'relatedObject', related)}"
            f"{_identifier(f'relatedEvent{end}', 'relatedEvent', EVENT)}</relationship>"
        )

    def _event(self) -> str:
        told = {"source": sha256(self.letter), "copy": sha256(self.copy), "made_as": self.puids[1], **self.detail}
        text = f"{self.puids[0]} to {told['made_as']}, rule doc, sha256 {told['source']} to {told['copy']}"
        detail = f"<eventDetail>{text}</eventDetail>"
        if self.namespace == PREMIS_3:
            detail = f"<eventDetailInformation>{detail}</eventDetailInformation>"
        outcome = f"<eventOutcome>{self.outcome}</eventOutcome>" if self.outcome else ""
        information = f"<eventOutcomeInformation>{outcome}</eventOutcomeInformation>" if outcome else ""
        linked = "".join(_identifier("linkingObjectIdentifier", "linkingObject", f"file-{n}") for n in (1, 2))
        return (
            f"<event>{_identifier('eventIdentifier', 'event', self.event)}<eventType>Migration</eventType>"
            f"<eventDateTime>2026-01-22T09:12:03Z</eventDateTime>{detail}{information}"
            f"{_identifier('linkingAgentIdentifier', 'linkingAgent', 'tool')}{linked}</event>\n"
        )


def _identifier(tag: str, stem: str, value: str) -> str:
    return (
        f"<{tag}><{stem}IdentifierType>local</{stem}IdentifierType>"
        f"<{stem}IdentifierValue>{value}</{stem}IdentifierValue></{tag}>"
    )


ZEROS = "0" * 64
BAD_COPIES: Mapping[str, tuple[tuple[str, Mapping[str, object]], ...]] = {
    "SOURCE": (("unknown", {"related": "file-99"}),),
    "CHECKSUM": (
        ("of-the-original", {"detail": {"source": ZEROS}}),
        ("of-the-copy", {"detail": {"copy": ZEROS}}),
    ),
    "EVENT": (("other", {"event": "event-2"}), ("without-outcome", {"outcome": ""})),
    "FORMAT": (
        ("other-event", {"detail": {"made_as": "fmt/354"}}),
        ("other-ending", {"names": ("original/letter.doc", "archive/letter.txt")}),
        ("no-pdfa", {"copy": COPY.replace(b"pdfaid", b"nothing")}),
        ("no-pdf", {"copy": b"{\\rtf1 a letter}"}),
        ("other-object", {"puids": ("fmt/40", "fmt/354"), "detail": {"made_as": "fmt/477"}}),
        ("no-png", {"puids": ("fmt/119", "fmt/11"), "names": ("original/a.bmp", "archive/a.png"), "copy": b"BM a map"}),
    ),
}
"""Changes of a copied letter, each of which breaks one rule of every form that has it."""
