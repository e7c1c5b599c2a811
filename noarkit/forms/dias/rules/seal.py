"""Checks the submission description against the package: identity, delivery facts, and size and checksum of the tar and
dias-mets.xml.

A package is sealed when a description beside the tar has its checksum.
"""

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
from noarkit.forms.dias.read.package import is_tar_entry, read_description
from noarkit.forms.dias.rules.documents import CopiedDocument, DocumentValidator, line_of, reason_data
from noarkit.forms.findings import Hit, Tally, place_data
from noarkit.forms.metadata.mets_facts import MetsHeader, MetsItem
from noarkit.safe.digest import BLOCK_BYTES, hash_of

_SHARED_ELEMENTS = ("SUBMISSIONAGREEMENT", "DELIVERYTYPE", "PACKAGENUMBER", "REFERENCECODE", "STARTDATE", "ENDDATE")


class SealCheck:
    """Checks a submission description. A thread hashes the whole tar while the other rules read its members."""

    def __init__(self, located: LocatedPackage, validator: DocumentValidator, tally: Tally) -> None:
        self._located = located
        self._tally = tally
        self._executor = ThreadPoolExecutor(1, thread_name_prefix="noarkit-seal")
        self._checksums: dict[str, Future[str]] = {}
        self._stop = Event()
        self._header: MetsHeader | None = None
        self._files: list[MetsItem] = []
        if located.description is None:
            tally.add("D501" if located.is_tar else "D502", located.place.name)
        else:
            self._read(located.description, validator)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._stop.set()  # who was interrupted does not wait for the end of a large tar
        self._executor.shutdown(cancel_futures=True)

    def _read(self, path: Path, validator: DocumentValidator) -> None:
        name = path.name
        try:
            self._header, self._files = read_description(path)
            if not self._is_info_xml:
                validator.judge(path, self._header.namespace, ("D504", name), self._tally)
        except (PackageFault, UnsafeXml, OSError) as fault:
            if isinstance(fault, OSError):
                self._tally.add("D503", name, why=fault.strerror)
            else:
                self._tally.add_hit(Hit("D503", name, line=line_of(fault), data=reason_data(fault)))
            return  # a description that cannot be read names no tar to hash
        if not self._located.is_tar:
            return  # an unpacked package has no tar to hash
        for entry in self._files:
            algorithm = spec.CHECKSUM_TYPES.get(entry.checksum_type.upper())
            if algorithm is None or algorithm in self._checksums:
                continue  # the tar is hashed once for each algorithm, however many entries name it
            if is_tar_entry(entry, self._located.place.name):
                self._checksums[algorithm] = self._executor.submit(self._sum, self._located.place, algorithm)

    @property
    def _is_info_xml(self) -> bool:
        """True for an info.xml that is no METS: it has checksums, in a format that we have no schema for."""
        return self._header is not None and self._header.namespace == INFO_NAMESPACE

    def _sum(self, place: Path, algorithm: str) -> str:
        hasher = hashlib.new(algorithm, usedforsecurity=False)
        with place.open("rb") as file:
            while not self._stop.is_set() and (block := file.read(BLOCK_BYTES)):
                hasher.update(block)
        return hasher.hexdigest()

    def compare(self, header: MetsHeader | None, mets: CopiedDocument | None) -> None:
        """Compares the description with the header of dias-mets.xml, with the tar, and with dias-mets.xml itself."""
        if self._header is None or self._located.description is None:
            return  # none, or one that cannot be read: told when it was read
        name = self._located.description.name
        if header is not None and not self._is_info_xml:
            self._compare_identity(name, self._header, header)
        self._compare_tar(name)
        if mets is not None and not self._is_info_xml:
            self._compare_mets(name, mets)

    def _compare_identity(self, name: str, outer: MetsHeader, inner: MetsHeader) -> None:
        pairs = [("OBJID", outer.object_id, inner.object_id, "D505"), ("TYPE", outer.type, inner.type, "D505")]
        pairs += [(kind, outer.value(kind), inner.value(kind), "D510") for kind in _SHARED_ELEMENTS]
        for element, value, expected, code in pairs:
            if value.lower() != expected.lower():
                self._tally.add(code, name, element=element, value=value or "-", expected=expected or "-")

    def _compare_tar(self, name: str) -> None:
        place = self._located.place
        tar_entries = [entry for entry in self._files if is_tar_entry(entry, place.name)]
        if not tar_entries:
            self._tally.add("D506", name, name=place.name)
        elif not self._located.is_tar:
            self._tally.add("D502", name)
        else:
            for entry in tar_entries:
                algorithm = spec.CHECKSUM_TYPES.get(entry.checksum_type.upper())
                actual = self._checksums[algorithm].result() if algorithm is not None else ""
                self._compare_file(name, entry, place.name, (place.stat().st_size, actual))

    def _compare_mets(self, name: str, mets: CopiedDocument) -> None:
        entry = next((candidate for candidate in self._files if _refers_to_mets(candidate)), None)
        if entry is None:
            self._tally.add("D506", name, name=spec.METS)
            return  # nothing to compare with
        algorithm = spec.CHECKSUM_TYPES.get(entry.checksum_type.upper())
        if algorithm is None:
            actual = ""  # of an unknown type, which counts as a checksum that differs
        elif algorithm == "sha256":
            actual = mets.sha256
        else:
            actual = hash_of(mets.path, algorithm)
        self._compare_file(name, entry, spec.METS, (mets.size_bytes, actual))

    def _compare_file(self, document: str, entry: MetsItem, name: str, actual: tuple[int, str]) -> None:
        size, checksum = actual
        if entry.size_bytes is not None and entry.size_bytes != size:
            self._add_finding("D507", document, entry, {"name": name, "found": size, "expected": entry.size_bytes})
        if checksum != entry.checksum or not checksum:
            data = {"name": name, "found": checksum or "-", "expected": entry.checksum or "-"}
            self._add_finding("D508", document, entry, data)

    def _add_finding(self, code: str, document: str, entry: MetsItem, data: Mapping[str, object]) -> None:
        self._tally.add_hit(Hit(code, document, line=entry.line, data=place_data(data)))


def _refers_to_mets(entry: MetsItem) -> bool:
    return any(path.rpartition("/")[2] == spec.METS for path in spec.paths_of(entry.href))
