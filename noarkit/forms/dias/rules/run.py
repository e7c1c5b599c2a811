"""Validates one DIAS package, in its tar or unpacked, and the Noark 5 extract in its content.

    report = validate_dias(Path("delivery"))

The findings on the extract stand in the same report, under their own codes and with paths from the package's root, so
that there is one verdict. What is hostile as an archive file is refused by the fault of its kind.
"""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from unicodedata import normalize

from noarkit.errors import HostileInput, PackageFault, UnsafeXml
from noarkit.events import Event
from noarkit.forms.container.hash_pool import HashPool, Task
from noarkit.forms.container.storage import Storage, SubfolderStorage
from noarkit.forms.dias import spec
from noarkit.forms.dias.read.collection import AicContents, aic_id_of, read_aic
from noarkit.forms.dias.read.inventory import Entry, Inventory
from noarkit.forms.dias.read.located import LocatedPackage, is_aic, locate
from noarkit.forms.dias.read.package import open_dias
from noarkit.forms.dias.read.tar_storage import open_tar_storage
from noarkit.forms.dias.rules.copies import judge_copies
from noarkit.forms.dias.rules.documents import CopiedDocument, DocumentValidator, hash_of_bytes, line_of, reason_data
from noarkit.forms.dias.rules.metadata import judge_description, judge_premis, judge_strength, read_mets
from noarkit.forms.dias.rules.seal import SealCheck
from noarkit.forms.dias.rules.structure import judge_names, judge_places, judge_type
from noarkit.forms.findings import Hit, Outcome, Rule, Tally, ValidateResult, place_data, rules_of
from noarkit.forms.metadata.mets_facts import MetsHeader, MetsItem
from noarkit.forms.noark5.read.nested_extract import find_extract_root
from noarkit.forms.noark5.rules.packed import validate_packed
from noarkit.forms.noark5.rules.run import Noark5ValidateOptions, validate_extract
from noarkit.safe.digest import hash_of
from noarkit.safe.unpack import LIMITS, UnpackLimits, members
from noarkit.safe.workplace import temporary_folder

FORM = "dias"
RULES = rules_of("noarkit.forms.dias.rules")
_DEFAULT_OPTIONS = Noark5ValidateOptions()
_EMIT_EVERY_BYTES = 64 * 1024 * 1024
_STRAY = "N004"


def validate_dias(
    path: Path,
    options: Noark5ValidateOptions = _DEFAULT_OPTIONS,
    *,
    limits: UnpackLimits = LIMITS,
    now_s: Callable[[], float] = time.perf_counter,
) -> ValidateResult:
    """All that can be said of the package at `path`: tar, folder of tar and description, unpacked folder, or AIC.

    `options.schemas` may hold the official schemas (DIAS_METS.xsd and so on). Raises what `safe` refuses, and
    `PackageFault` for what is no package.
    """
    if is_aic(path):
        return validate_aic(path, options, limits, RULES, now_s)
    began = now_s()
    located = locate(path)
    tally = Tally(RULES)
    with ExitStack() as stack:
        folder = stack.enter_context(temporary_folder("validate"))
        storage = open_tar_storage(located.place, limits, options.listener)
        stack.callback(storage.close)
        inventory = Inventory()
        stack.callback(inventory.close)
        check = Check(located, storage, inventory, DocumentValidator(folder, options.schemas), tally)
        header = check.run(options)
        inner = _inner(storage, inventory, options, tally)
        octets, files = inventory.files.octets()
    summary = {**_summary(header), **({} if inner is None else inner.summary)}
    summary |= {"files": (str(files),), "bytes": (str(octets),)}
    return ValidateResult(
        package=str(path),
        form=FORM,
        version=header.type if header is not None else "",
        summary=summary,
        rules=(*RULES.values(), *(() if inner is None else inner.rules)),
        outcomes=(*tally.outcomes({}), *(() if inner is None else _outcomes_in_content(inner))),
        counts=() if inner is None else inner.counts,
        seconds=round(now_s() - began, 3),
        description_sha256=None if inner is None else inner.description_sha256,
    )


def looks_like_dias(path: Path) -> bool:
    """True for a package in any of its shapes. Reads no more of a tar than it must; hostile ones are refused."""
    try:
        if is_aic(path):
            return True
        located = locate(path)
    except PackageFault as fault:
        return fault.data.get("why") == "several-packages"
    if not located.is_tar or located.description is not None:
        return True
    for member, _ in members(located.place):
        name = member.name.replace("\\", "/")
        if name.rpartition("/")[2] == spec.METS and name.count("/") <= 1:
            return True
    return False


class Check:
    """The validation of one package."""

    def __init__(
        self,
        located: LocatedPackage,
        storage: Storage,
        inventory: Inventory,
        validator: DocumentValidator,
        tally: Tally,
    ) -> None:
        self._located = located
        self._storage = storage
        self._inventory = inventory
        self._validator = validator
        self._tally = tally

    def run(self, options: Noark5ValidateOptions) -> MetsHeader | None:
        """Every rule but those for the content; the header of dias-mets.xml where it can be read."""
        with SealCheck(self._located, self._validator, self._tally) as seal:
            self._inventory.add_present(self._storage.files())
            judge_places(self._located, self._storage, self._inventory, self._tally)
            mets = self._copy(spec.METS)
            header = None
            if mets is None:
                self._tally.add("D104", spec.METS)
            else:
                header = read_mets(mets, self._inventory, self._validator, self._tally)
            if header is not None:
                judge_type(header, self._inventory, self._tally)
                judge_names(header, self._located, self._storage, self._tally)
                for name in self._inventory.unlisted():
                    self._tally.add("D303", name)
            self._documents(spec.uuid_in(header.object_id) if header else "", has_header=header is not None)
            self._fixity(options)
            seal.compare(header, mets)
        return header

    def _copy(self, name: str) -> CopiedDocument | None:
        return self._validator.copy(self._storage.open(name)) if self._inventory.files.has(name) else None

    def _documents(self, uuid: str, *, has_header: bool) -> None:
        for name in (spec.PREMIS, spec.LOG):
            copied = self._copy(name) if has_header else None
            if copied is not None:
                judge_premis(name, copied, uuid, (self._inventory, self._validator, self._tally))
                if name == spec.PREMIS:
                    judge_copies(copied, self._storage, self._inventory, self._tally)
        for name in (spec.EAD, spec.EAC):
            copied = self._copy(name)
            if copied is not None:
                judge_description(name, copied, self._tally)

    def _fixity(self, options: Noark5ValidateOptions) -> None:
        kinds: Counter[str] = Counter()
        total = sum(entry.size_bytes for entry in self._inventory.entries())
        options.listener(Event("validating", {"file": spec.METS, "bytes": 0, "of": total}))
        read_bytes = emitted_bytes = 0
        for entry, result in self._hash_files(options):
            kinds[entry.checksum_type] += 1
            self._compare(entry, result)
            read_bytes += entry.size_bytes
            if read_bytes - emitted_bytes >= _EMIT_EVERY_BYTES:
                options.listener(Event("validating", {"file": entry.name, "bytes": read_bytes, "of": total}))
                emitted_bytes = read_bytes
        options.listener(Event("validating", {"file": spec.METS, "bytes": read_bytes, "of": total}))
        judge_strength(kinds, self._tally)

    def _compare(self, entry: Entry, result: tuple[int, str] | str) -> None:
        if isinstance(result, str):
            self._tally.add("D310", entry.name, why=result)
            return
        size, checksum = result
        if entry.listed_bytes not in (None, size):
            self._tally.add("D305", entry.name, found=size, expected=entry.listed_bytes)
        if checksum and checksum != entry.checksum:
            self._tally.add("D306", entry.name, found=checksum, expected=entry.checksum)

    def _hash_files(self, options: Noark5ValidateOptions) -> Iterator[tuple[Entry, tuple[int, str] | str]]:
        """Every listed file with its size and checksum, or with why it cannot be read."""
        if self._storage.folder is None:
            for name, content in self._storage.contents():
                entry = self._inventory.entry(name)
                if entry is None:
                    continue
                algorithm = spec.CHECKSUM_TYPES.get(entry.checksum_type.upper())
                try:
                    size, checksum = hash_of_bytes(content, algorithm or "sha256")
                except PackageFault as fault:
                    yield entry, str(fault.data.get("why", "unreadable"))
                else:
                    yield entry, (size, checksum if algorithm and entry.checksum else "")
        else:
            yield from self._hash_with_pool(self._storage.folder, options)

    def _hash_with_pool(
        self, folder: Path, options: Noark5ValidateOptions
    ) -> Iterator[tuple[Entry, tuple[int, str] | str]]:
        declared_kinds = {kind.upper() for kind in self._inventory.kinds()} & set(spec.CHECKSUM_TYPES)
        kinds = sorted(declared_kinds) or ["SHA-256"]
        waiting: deque[Entry] = deque()

        def tasks() -> Iterator[Task]:
            for entry in self._inventory.entries():
                waiting.append(entry)
                yield Task(entry.name, entry.size_bytes)

        with HashPool(folder, [spec.CHECKSUM_TYPES[kind] for kind in kinds], width=options.workers) as pool:
            for _, hashed in pool.work(tasks()):
                entry = waiting.popleft()
                kind = entry.checksum_type.upper()
                checksum = hashed.digests[kinds.index(kind)] if kind in kinds and not hashed.why else ""
                yield entry, hashed.why or (hashed.size_bytes, checksum if entry.checksum else "")


def _inner(
    storage: Storage, inventory: Inventory, options: Noark5ValidateOptions, tally: Tally
) -> ValidateResult | None:
    """The report on the extract in the content; None where there is none."""
    if not inventory.files.has_below(f"{spec.CONTENT}/"):
        return None
    content = SubfolderStorage(storage, spec.CONTENT)
    extract = find_extract_root(content)
    if extract is None:
        tally.add("D701", spec.CONTENT)
        return None
    if extract.folder is not None:
        return validate_extract(extract.folder, options)
    return validate_packed(content, options)


def _outcomes_in_content(inner: ValidateResult) -> Iterator[Outcome]:
    """The findings on the extract, but for the one file that DIAS puts beside it."""
    for outcome in inner.outcomes:
        places = [replace(place, file=f"{spec.CONTENT}/{place.file}") for place in outcome.places]
        kept_places = [
            place for place in places if outcome.rule.code != _STRAY or normalize("NFC", place.file) != spec.HANDBOOK
        ]
        count = outcome.count - len(places) + len(kept_places)
        if count:
            yield replace(outcome, count=count, places=tuple(kept_places))


def _summary(header: MetsHeader | None) -> dict[str, tuple[str, ...]]:
    """The summary of the package's own metadata; the extract's summary takes precedence."""
    if header is None:
        return {}
    creators = tuple(agent.name for agent in header.agents if (agent.role, agent.type) == ("ARCHIVIST", "ORGANIZATION"))
    period = tuple(day for kind in ("STARTDATE", "ENDDATE") if (day := header.value(kind)))
    system = tuple(agent.name for agent in header.agents if (agent.role, agent.other_type) == ("ARCHIVIST", "SOFTWARE"))
    agreement = tuple(number for number in (header.value("SUBMISSIONAGREEMENT"),) if number)
    return {"creators": creators, "period": period, "system": system, "agreement": agreement}


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


def _judge_aip(document: Path, entry: MetsItem, place: Path, uuid: str, context: tuple[UnpackLimits, Tally]) -> None:
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
