"""Takes a source into an archive of its own and asks that archive what it holds."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

import noarkit
from noarkit import IngestResult, PlanResult, VerifyResult


@dataclass(frozen=True, slots=True)
class Landed:
    """A journey from a source to a verified archive, and all that the archive tells of some types."""

    planned: PlanResult
    loaded: IngestResult
    proof: VerifyResult
    told: dict[str, list[dict[str, object]]]

    def values(self, kind: str, name: str) -> list[object]:
        """What the objects of a type have in a field."""
        return [one[name] for one in self.told[kind] if one.get(name) is not None]

    def remarks(self) -> set[str]:
        """The text of every Merknad."""
        return {str(text) for text in self.values("Merknad", "tekst")}

    def identifiers(self) -> set[tuple[str, str]]:
        """Every EksternId."""
        return {(str(one["eksterntSystem"]), str(one["eksternID"])) for one in self.told["EksternId"]}

    def sums(self) -> set[str]:
        """The checksums of the documents that the archive holds."""
        return {str(one).lower() for one in self.values("Dokumentversjon", "sjekksum")}


_TYPES = (
    *("Arkiv", "Arkivskaper", "Arkivdel", "Mappe", "Basisregistrering", "Merknad", "EksternId", "Sakspart"),
    *("Korrespondansepart", "Dokumentversjon", "Noekkelord"),
)


def land(source: Path, place: Path, shallow_root: Path | None = None, *, despite_damage: bool = False) -> Landed:
    """Plans, loads and verifies byte for byte."""
    run, archive = place / "run", f"embedded:{place / 'archive'}"
    planned = noarkit.plan(source, run, shallow_root=shallow_root, despite_damage=despite_damage)
    loaded = noarkit.ingest(run, archive=archive, workers=0)
    proof = noarkit.verify(run, depth="bytes")
    with noarkit.Archive(archive) as asked:
        told = {kind: [dict(one.fields) for one in asked.find(kind)] for kind in _TYPES}
    return Landed(planned, loaded, proof, told)


def sha256(content: bytes) -> str:
    """The checksum of bytes."""
    return hashlib.sha256(content).hexdigest()
