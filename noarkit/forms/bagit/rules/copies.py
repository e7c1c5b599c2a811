"""Follows the archival copies in a bag back to their originals: premis.xml against the manifests and the bytes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

from noarkit.errors import PackageFault, UnsafeXml
from noarkit.forms.bagit.inventory import Inventory
from noarkit.forms.container.storage import Storage
from noarkit.forms.dias.spec import paths_of
from noarkit.forms.findings import Hit, Tally, place_data
from noarkit.forms.metadata.copy_chain import ChainCodes, CopyChain, PackageFiles
from noarkit.forms.metadata.premis_entities import PremisEntity, read_entities

PREMIS = "premis.xml"
_CODES = ChainCodes("BAGIT-COPY-SOURCE", "BAGIT-COPY-CHECKSUM", "BAGIT-COPY-EVENT", "BAGIT-COPY-FORMAT")


class _Sink:
    """Findings of premis.xml."""

    def __init__(self, tally: Tally) -> None:
        self._tally = tally

    def hit(self, code: str, line: int | None = None, **data: object) -> None:
        """One place where a rule does not hold."""
        self._tally.add_hit(Hit(code, PREMIS, line=line or None, data=place_data(data)))


def judge_copies(storage: Storage, payload: Inventory, sha256_column: int | None, tally: Tally) -> None:
    """Judges every derivation that premis.xml tells of; `sha256_column` is the manifest whose checksums are SHA-256."""

    def entities() -> Iterator[tuple[str, PremisEntity]]:
        with storage.open(PREMIS) as source:
            for entity in read_entities(source, PREMIS):
                yield PREMIS, entity

    def name_of(_: str, location: str) -> str | None:
        pairs = (payload.find(path) for path in paths_of(location))
        return next((pair.stored_name for pair in pairs if pair is not None), None)

    def listed_sum(stored_name: str) -> str | None:
        pair = payload.expected(stored_name) if sha256_column is not None else None
        return pair.digests[sha256_column] if pair is not None and sha256_column is not None else None

    with closing(CopyChain(_CODES, PackageFiles(storage, name_of, listed_sum))) as chain:
        try:
            for document, entity in entities():
                chain.observe(document, entity)
            chain.judge(entities, lambda _: _Sink(tally))
        except FileNotFoundError:
            return  # a bag need not have one
        except (PackageFault, UnsafeXml) as fault:
            line = fault.data.get("line")
            data = place_data({"why": fault.data.get("detail") or fault.data.get("why")})
            tally.add_hit(Hit("BAGIT-COPY-PREMIS", PREMIS, line=line if isinstance(line, int) else None, data=data))
