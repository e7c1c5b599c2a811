"""Validates an AIC: its document, and the size, checksum and identity of every AIP that it lists."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path

from noarkit.errors import HostileInput, PackageFault, UnsafeXml
from noarkit.events import Event
from noarkit.forms.dias import spec
from noarkit.forms.dias.read.collection import AicContents, aic_id_of, read_aic
from noarkit.forms.dias.read.mets import MetsFile
from noarkit.forms.dias.read.package import open_dias
from noarkit.forms.dias.rules.documents import DocumentValidator, line_of, reason_data
from noarkit.forms.findings import Hit, Rule, Tally, ValidateResult, place_data
from noarkit.forms.noark5.rules.run import Noark5ValidateOptions
from noarkit.safe.digest import hash_of
from noarkit.safe.unpack import UnpackLimits
from noarkit.safe.workplace import temporary_folder


def validate_aic(
    path: Path,
    options: Noark5ValidateOptions,
    limits: UnpackLimits,
    rules: Mapping[str, Rule],
    now_s: Callable[[], float] = time.perf_counter,
) -> ValidateResult:
    """All that can be said of the AIC at `path`; its AIPs are packages of their own, validated by themselves."""
    began = now_s()
    tally = Tally(rules)
    collection: AicContents | None = None
    with temporary_folder("validate") as folder:
        try:
            collection = read_aic(path)
            DocumentValidator(folder, options.schemas).judge(
                path, collection.header.namespace, ("D801", path.name), tally
            )
        except (PackageFault, UnsafeXml) as fault:
            tally.add_hit(Hit("D801", path.name, line=line_of(fault), data=reason_data(fault)))
    for entry, place in collection.tars if collection is not None else ():
        if place is None:
            tally.add_hit(Hit("D802", path.name, line=entry.line, data=place_data({"name": entry.href})))
        else:
            options.listener(Event("validating", {"file": place.name, "bytes": 0}))
            _judge_aip(
                path, entry, place, spec.uuid_in(collection.header.object_id) if collection else "", (limits, tally)
            )
    size = (
        sum(place.stat().st_size for _, place in collection.tars if place is not None) if collection is not None else 0
    )
    summary = {"files": (str(len(collection.tars) if collection is not None else 0),), "bytes": (str(size),)}
    seconds = round(now_s() - began, 3)
    return ValidateResult(str(path), "dias", "AIC", summary, tuple(rules.values()), tally.outcomes({}), (), seconds)


def _judge_aip(document: Path, entry: MetsFile, place: Path, uuid: str, context: tuple[UnpackLimits, Tally]) -> None:
    limits, tally = context
    algorithm = spec.CHECKSUM_TYPES.get(entry.checksum_type.upper())
    pairs = [(str(place.stat().st_size), "" if entry.size_bytes is None else str(entry.size_bytes))]
    pairs.append((hash_of(place, algorithm) if algorithm else "-", entry.checksum))
    for actual, expected in pairs:
        if actual != expected:
            data = place_data({"name": place.name, "found": actual, "expected": expected or "-"})
            tally.add_hit(Hit("D803", document.name, line=entry.line, data=data))
    try:
        with open_dias(place, limits=limits, complete=False) as package:
            included_uuid = aic_id_of(package)
    except (PackageFault, HostileInput) as fault:
        included_uuid = str(fault.data.get("why", ""))
    if included_uuid != uuid:
        data = place_data({"name": place.name, "found": included_uuid or "-", "expected": uuid})
        tally.add_hit(Hit("D804", document.name, line=entry.line, data=data))
