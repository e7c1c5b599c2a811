"""Follows archival copies back to their originals: dias-premis.xml against dias-mets.xml and the bytes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, suppress

from noarkit.errors import PackageFault, UnsafeXml
from noarkit.forms.container.storage import Storage
from noarkit.forms.dias import spec
from noarkit.forms.dias.read.inventory import Inventory
from noarkit.forms.dias.rules.documents import CopiedDocument
from noarkit.forms.findings import Hit, Tally, place_data
from noarkit.forms.metadata.copy_chain import ChainCodes, CopyChain, PackageFiles, may_tell_derivations
from noarkit.forms.metadata.premis_entities import DIAS, PremisEntity, read_entities

_CODES = ChainCodes("DIAS-COPY-SOURCE", "DIAS-COPY-CHECKSUM", "DIAS-COPY-EVENT", "DIAS-COPY-FORMAT")
_SHA256 = "SHA-256"


class _Sink:
    """Findings of one document."""

    def __init__(self, document: str, tally: Tally) -> None:
        self._document = document
        self._tally = tally

    def hit(self, code: str, line: int | None = None, **data: object) -> None:
        """One place where a rule does not hold."""
        self._tally.add_hit(Hit(code, self._document, line=line or None, data=place_data(data)))


def judge_copies(premis: CopiedDocument, storage: Storage, inventory: Inventory, tally: Tally) -> None:
    """Judges every derivation that dias-premis.xml tells of. What cannot be read is told by another rule."""

    with premis.path.open("rb") as file:
        if not may_tell_derivations(file):
            return

    def entities() -> Iterator[tuple[str, PremisEntity]]:
        with suppress(PackageFault, UnsafeXml), premis.path.open("rb") as file:
            for entity in read_entities(file, spec.PREMIS, (DIAS,)):
                yield spec.PREMIS, entity

    def name_of(_: str, location: str) -> str | None:
        return next((path for path in spec.paths_of(location) if inventory.files.has(path)), None)

    def listed_sum(name: str) -> str | None:
        entry = inventory.entry(name)
        return entry.checksum if entry is not None and entry.checksum_type.upper() == _SHA256 else None

    files = PackageFiles(storage, name_of, listed_sum)
    with closing(CopyChain(_CODES, files, placed_only=True)) as chain:
        for document, entity in entities():
            chain.observe(document, entity)
        chain.judge(entities, lambda document: _Sink(document, tally))
