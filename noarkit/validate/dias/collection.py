"""Holds an AIC to its rules: the document, and every AIP that it gathers, by what it seals of them."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path

from noarkit.errors import HostileInput, PackageFault, UnsafeXml
from noarkit.events import Event
from noarkit.packages.dias import spec
from noarkit.packages.dias.collection import Collected, included_in, read_aic
from noarkit.packages.dias.mets_read import Listed
from noarkit.packages.dias.read import open_dias
from noarkit.safe.digest import hash_of
from noarkit.safe.unpack import UnpackLimits
from noarkit.safe.workplace import own_folder
from noarkit.validate.dias.documents import Bench, line_of, why
from noarkit.validate.findings import Hit, Report, Rule, Tally, shown
from noarkit.validate.noark5.run import Wish


def validate_aic(
    path: Path,
    wish: Wish,
    limits: UnpackLimits,
    rules: Mapping[str, Rule],
    now_s: Callable[[], float] = time.perf_counter,
) -> Report:
    """All that can be said of the AIC at `path`; its AIPs are packages of their own, validated by themselves."""
    began = now_s()
    tally = Tally(rules)
    found: Collected | None = None
    with own_folder("validate") as folder:
        try:
            found = read_aic(path)
            Bench(folder, wish.schemas).judge(path, found.header.namespace, ("D801", path.name), tally)
        except (PackageFault, UnsafeXml) as fault:
            tally.take(Hit("D801", path.name, line=line_of(fault), data=why(fault)))
    for listed, place in found.tars if found is not None else ():
        if place is None:
            tally.take(Hit("D802", path.name, line=listed.line, data=shown({"name": listed.href})))
        else:
            wish.listener(Event("validating", {"file": place.name, "bytes": 0}))
            _judge_aip(path, listed, place, spec.uuid_in(found.header.object_id) if found else "", (limits, tally))
    size = sum(place.stat().st_size for _, place in found.tars if place is not None) if found is not None else 0
    summary = {"files": (str(len(found.tars) if found is not None else 0),), "bytes": (str(size),)}
    seconds = round(now_s() - began, 3)
    return Report(str(path), "dias", "AIC", summary, tuple(rules.values()), tally.outcomes({}), (), seconds)


def _judge_aip(document: Path, listed: Listed, place: Path, uuid: str, how: tuple[UnpackLimits, Tally]) -> None:
    limits, tally = how
    algorithm = spec.CHECKSUM_TYPES.get(listed.checksum_type.upper())
    pairs = [(str(place.stat().st_size), "" if listed.size_bytes is None else str(listed.size_bytes))]
    pairs.append((hash_of(place, algorithm) if algorithm else "-", listed.checksum))
    for found, expected in pairs:
        if found != expected:
            data = shown({"name": place.name, "found": found, "expected": expected or "-"})
            tally.take(Hit("D803", document.name, line=listed.line, data=data))
    try:
        with open_dias(place, limits=limits, whole=False) as package:
            named = included_in(package)
    except (PackageFault, HostileInput) as fault:
        named = str(fault.data.get("why", ""))
    if named != uuid:
        data = shown({"name": place.name, "found": named or "-", "expected": uuid})
        tally.take(Hit("D804", document.name, line=listed.line, data=data))
