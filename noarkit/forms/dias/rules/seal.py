"""The submission description against the package that it seals: identity, size, checksum, and what both say."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from threading import Event
from types import TracebackType
from typing import Self

from noarkit.errors import PackageFault, UnsafeXml
from noarkit.forms.dias import spec
from noarkit.forms.dias.read.info import INFO_NAMESPACE
from noarkit.forms.dias.read.located import LocatedPackage
from noarkit.forms.dias.read.mets import MetsFile, MetsHeader
from noarkit.forms.dias.read.package import is_tar_entry, read_description
from noarkit.forms.dias.rules.documents import CopiedDocument, DocumentValidator, line_of, reason_data
from noarkit.forms.findings import Hit, Tally, place_data
from noarkit.safe.digest import BLOCK_BYTES, hash_of

_SHARED_ELEMENTS = ("SUBMISSIONAGREEMENT", "DELIVERYTYPE", "PACKAGENUMBER", "REFERENCECODE", "STARTDATE", "ENDDATE")


class Seal:
    """The check of a submission description. A thread hashes the whole tar while the other rules read its members."""

    def __init__(self, located: LocatedPackage, validator: DocumentValidator, tally: Tally) -> None:
        self._located = located
        self._tally = tally
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="noarkit-seal")
        self._sums: dict[str, Future[str]] = {}
        self._stop = Event()
        self._header: MetsHeader | None = None
        self._files: list[MetsFile] = []
        if located.description is None:
            tally.add("D501" if located.is_tar else "D502", located.place.name)
        else:
            self._read(located.description, validator)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._stop.set()  # who was interrupted does not wait for the end of a large tar
        self._thread.shutdown(cancel_futures=True)

    def _read(self, path: Path, validator: DocumentValidator) -> None:
        name = path.name
        try:
            self._header, self._files = read_description(path)
            if not self._is_older:
                validator.judge(path, self._header.namespace, ("D504", name), self._tally)
        except (PackageFault, UnsafeXml, OSError) as fault:
            if isinstance(fault, OSError):
                self._tally.add("D503", name, why=fault.strerror)
            else:
                self._tally.add_hit(Hit("D503", name, line=line_of(fault), data=reason_data(fault)))
            return
        if not self._located.is_tar:
            return
        for entry in self._files:
            algorithm = spec.CHECKSUM_TYPES.get(entry.checksum_type.upper())
            if algorithm is None or algorithm in self._sums:
                continue  # the tar is hashed once for each algorithm, however many entries name it
            if is_tar_entry(entry, self._located.place.name):
                self._sums[algorithm] = self._thread.submit(self._sum, self._located.place, algorithm)

    @property
    def _is_older(self) -> bool:
        """True for an info.xml that is no METS: it tells checksums, in a form that has no schema here."""
        return self._header is not None and self._header.namespace == INFO_NAMESPACE

    def _sum(self, place: Path, algorithm: str) -> str:
        hasher = hashlib.new(algorithm, usedforsecurity=False)
        with place.open("rb") as file:
            while not self._stop.is_set() and (block := file.read(BLOCK_BYTES)):
                hasher.update(block)
        return hasher.hexdigest()

    def judge(self, header: MetsHeader | None, mets: CopiedDocument | None) -> None:
        """Compares it with dias-mets.xml, and with the tar."""
        if self._header is None or self._located.description is None:
            return
        name = self._located.description.name
        if header is not None and not self._is_older:
            self._judge_identity(name, self._header, header)
        self._judge_tar(name)
        if mets is not None and not self._is_older:
            self._judge_mets(name, mets)

    def _judge_identity(self, name: str, outer: MetsHeader, inner: MetsHeader) -> None:
        pairs = [("OBJID", outer.object_id, inner.object_id, "D505"), ("TYPE", outer.type, inner.type, "D505")]
        pairs += [(kind, outer.value(kind), inner.value(kind), "D510") for kind in _SHARED_ELEMENTS]
        for element, value, expected, code in pairs:
            if value.lower() != expected.lower():
                self._tally.add(code, name, element=element, value=value or "-", expected=expected or "-")

    def _judge_tar(self, name: str) -> None:
        place = self._located.place
        sealing = [entry for entry in self._files if is_tar_entry(entry, place.name)]
        if not sealing:
            self._tally.add("D506", name, name=place.name)
        elif not self._located.is_tar:
            self._tally.add("D502", name)
        else:
            for entry in sealing:
                algorithm = spec.CHECKSUM_TYPES.get(entry.checksum_type.upper())
                actual = self._sums[algorithm].result() if algorithm is not None else ""
                self._compare(name, entry, place.name, (place.stat().st_size, actual))

    def _judge_mets(self, name: str, mets: CopiedDocument) -> None:
        entry = next((candidate for candidate in self._files if _names_mets(candidate)), None)
        if entry is None:
            self._tally.add("D506", name, name=spec.METS)
            return
        algorithm = spec.CHECKSUM_TYPES.get(entry.checksum_type.upper())
        actual = "" if algorithm is None else mets.sha256 if algorithm == "sha256" else hash_of(mets.path, algorithm)
        self._compare(name, entry, spec.METS, (mets.size_bytes, actual))

    def _compare(self, document: str, entry: MetsFile, name: str, actual: tuple[int, str]) -> None:
        size, checksum = actual
        if entry.size_bytes is not None and entry.size_bytes != size:
            self._add_finding("D507", document, entry, {"name": name, "found": size, "expected": entry.size_bytes})
        if checksum != entry.checksum or not checksum:
            data = {"name": name, "found": checksum or "-", "expected": entry.checksum or "-"}
            self._add_finding("D508", document, entry, data)

    def _add_finding(self, code: str, document: str, entry: MetsFile, data: Mapping[str, object]) -> None:
        self._tally.add_hit(Hit(code, document, line=entry.line, data=place_data(data)))


def _names_mets(entry: MetsFile) -> bool:
    return any(path.rpartition("/")[2] == spec.METS for path in spec.paths_of(entry.href))
