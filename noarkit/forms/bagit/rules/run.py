"""Validates one bag: form, completeness and checksums, in a folder, zip or tar, in constant memory.

    report = validate_bag(Path("delivery.zip"))

A hostile archive file (links, twins, bombs) is refused by the fault of its kind; everything else becomes a finding.
"""

from __future__ import annotations

import contextlib
import hashlib
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from noarkit.errors import PackageFault
from noarkit.events import Listener, ignore_event
from noarkit.forms.bagit import read
from noarkit.forms.bagit.inventory import Inventory, Pair
from noarkit.forms.bagit.profile import BagFacts, Profile, breaches
from noarkit.forms.bagit.read import Manifest
from noarkit.forms.bagit.rules.copies import judge_copies
from noarkit.forms.bagit.rules.metadata import check_fetch_urls, check_info
from noarkit.forms.bagit.spec import (
    DECLARATION,
    FETCH,
    INFO,
    OLD_INFO,
    PAYLOAD,
    SYSTEM_FILES,
    WEAK,
    BadLine,
    Declaration,
    hash_name,
    is_normal,
    is_text,
    manifest_of,
)
from noarkit.forms.container.digests import Hashed
from noarkit.forms.container.hash_pool import HashPool, Task
from noarkit.forms.container.storage import Storage, StoredFile, open_storage
from noarkit.forms.findings import Hit, Tally, ValidateResult, place_data, rules_of
from noarkit.safe.digest import BLOCK_BYTES, Readable
from noarkit.safe.unpack import LIMITS, UnpackLimits, form_of

RULES = rules_of("noarkit.forms.bagit.rules")
_PAYLOAD_WORDS = {
    "not-payload": "BAGIT-2.1.3-OUTSIDE",
    "listed-twice": "BAGIT-2.1.3-TWICE",
    "listed-alike": "BAGIT-2.1.3-TWICE",
}
_OLD_PAYLOAD_WORDS = {**_PAYLOAD_WORDS, "listed-alike": "BAGIT-2.1.3-TWICE-ALIKE"}
_TAG_WORDS = {
    "payload-in-tag-manifest": "BAGIT-2.2.1-PAYLOAD",
    "lists-tag-manifest": "BAGIT-2.2.1-ITSELF",
    "listed-twice": "BAGIT-2.2.1-TWICE",
    "listed-alike": "BAGIT-2.2.1-TWICE",
}
_FETCH_WORDS = {"not-payload": "BAGIT-2.2.3-TAG", "listed-twice": "BAGIT-2.2.3-TWICE"}
_ODD_WORDS = {
    "asterisk": "BAGIT-6.1.3-ASTERISK",
    "dot-slash": "BAGIT-6.1.3-DOT-SLASH",
    "bare-percent": "BAGIT-2.1.3-PERCENT",
}
_MANY_FILES = 1_000
_SHA256 = "sha256"
_WINDOWS = frozenset('<>:"\\|?*') | frozenset(chr(number) for number in range(32))


def validate_bag(
    path: Path,
    *,
    limits: UnpackLimits = LIMITS,
    profile: Profile | None = None,
    width: int | None = None,
    emit: Listener = ignore_event,
    now_s: Callable[[], float] = time.perf_counter,
) -> ValidateResult:
    """All that can be said of the bag at `path`. Raises what `safe` refuses, `PackageFault` for what is no package."""
    began = now_s()
    tally = Tally(RULES)
    version, summary = _judge(path, limits, tally, (profile, width, emit))
    rules = tuple(RULES.values())
    return ValidateResult(str(path), "bagit", version, summary, rules, tally.outcomes({}), (), now_s() - began)


def _judge(
    path: Path, limits: UnpackLimits, tally: Tally, choices: tuple[Profile | None, int | None, Listener]
) -> tuple[str, dict[str, tuple[str, ...]]]:
    profile, width, emit = choices
    try:
        storage = open_storage(path, limits, twins=True, emit=emit)
    except PackageFault as error:
        if error.data.get("why") != "no-single-top-folder":
            raise
        tally.add("BAGIT-2-TOP", "")
        return "", {}
    try:
        declaration = _declaration(storage, tally)
        if declaration is None:
            return "", {}
        with _Check(storage, declaration, tally, width) as check:
            summary = check.run()
            if profile is not None:
                for breach in breaches(profile, check.facts(form_of(path) if path.is_file() else "")):
                    tally.add("BAGIT-PROFILE", "", key=breach.key, value=breach.value)
        return declaration.version, summary
    finally:
        storage.close()


def _declaration(storage: Storage, tally: Tally) -> Declaration | None:
    declaration = read.load_declaration(storage)
    if isinstance(declaration, Declaration):
        return declaration
    code = "BAGIT-2.1.1-MISSING" if declaration.why == "missing" else "BAGIT-2.1.1-FORM"
    _add_finding(tally, code, DECLARATION, declaration)
    return None


class _Check:
    """The validation of one bag, with its databases of listed and present files."""

    def __init__(self, storage: Storage, declaration: Declaration, tally: Tally, width: int | None) -> None:
        self._storage = storage
        self._declaration = declaration
        self._tally = tally
        self._width = width
        self._top = read.top_files(storage)
        self._payload_manifests = self._manifests(tags=False)
        self._tag_manifests = self._manifests(tags=True)
        self._payload = Inventory(len(self._payload_manifests))
        self._tags = Inventory(len(self._tag_manifests))
        self._pool_stack = contextlib.ExitStack()

    def __enter__(self) -> _Check:
        return self

    def __exit__(self, *exc: object) -> None:
        self._pool_stack.close()
        self._payload.close()
        self._tags.close()

    def run(self) -> dict[str, tuple[str, ...]]:
        """Every rule, in an order in which each has what it needs."""
        self._payload.take_present(self._present())
        pool = self._early_pool()
        self._structure()
        for tags in (False, True):
            self._read_manifests(tags=tags)
        self._fetch()
        for inventory, file in ((self._payload, PAYLOAD), (self._tags, "")):
            self._names(inventory, file)
        octets, count = self._payload.octets()
        info = check_info(self._storage, self._declaration, (octets, count), self._tally)
        self._completeness()
        self._tag_completeness()
        self._fixity(pool)
        columns = [manifest.algorithm for manifest in self._payload_manifests]
        judge_copies(self._storage, self._payload, columns.index(_SHA256) if _SHA256 in columns else None, self._tally)
        algorithms = tuple(manifest.algorithm for manifest in self._payload_manifests)
        return {"files": (str(count),), "bytes": (str(octets),), "algorithms": algorithms, **info}

    def facts(self, packed_as: str | None) -> BagFacts:
        """What a profile may speak about."""
        info = [entry for entry in read.info_lines(self._storage, self._declaration) if not isinstance(entry, BadLine)]
        tag_files = tuple(
            file.name
            for file in self._storage.files()
            if not file.name.startswith(PAYLOAD + "/") and not _is_required(file.name)
        )
        return BagFacts(
            self._declaration.version,
            tuple((label, value) for _, label, value in info),
            frozenset(manifest.algorithm for manifest in self._payload_manifests),
            frozenset(manifest.algorithm for manifest in self._tag_manifests),
            tag_files,
            FETCH in self._top,
            self._payload.octets(),
            packed_as or "",
        )

    @property
    def _is_new(self) -> bool:
        """True for version 1.0, which demands more of manifests than any before it."""
        return self._declaration.version == "1.0"

    def _manifests(self, *, tags: bool) -> list[Manifest]:
        """The usable manifests; faults in the names of manifests become findings."""
        usable = []
        for name in self._top:
            parts = manifest_of(name)
            if parts is None or parts[1] is not tags:
                continue
            algorithm = parts[0]
            if not is_normal(algorithm) and self._is_new:
                self._tally.add("BAGIT-2.4-NAME", name)
            hash_id = hash_name(algorithm)
            if hash_id is None:
                self._tally.add("BAGIT-2.4-UNKNOWN", name, algorithm=algorithm)
            else:
                usable.append(Manifest(name, algorithm))
                if hash_id in WEAK:
                    self._tally.add("BAGIT-2.4-WEAK", name, algorithm=algorithm)
        return usable

    def _present(self) -> Iterator[StoredFile]:
        """The payload as one walk meets it; tag files go their own way."""
        tag_files: list[StoredFile] = []
        for file in self._storage.files():
            name = file.name
            if file.odd:
                self._tally.add("BAGIT-2.1.2-ODD", name, kind=file.odd)
            elif not is_text(name):
                is_payload = name.startswith(PAYLOAD + "/")
                self._tally.add("BAGIT-2.1.3-UNLISTED" if is_payload else "BAGIT-2.2.1-UNLISTED", name)
            elif name.startswith(PAYLOAD + "/"):
                self._check_name(name)
                yield file
            else:
                tag_files.append(file)
            if len(tag_files) >= 5_000:
                self._tags.take_present(tag_files)
                tag_files = []
        self._tags.take_present(tag_files)

    def _check_name(self, name: str) -> None:
        if name.isalnum():
            return
        if name.rpartition("/")[2].lower() in SYSTEM_FILES:
            self._tally.add("BAGIT-6.1-SYSTEM-FILE", name)
        if not _WINDOWS.isdisjoint(name) or name.endswith((" ", ".")):
            self._tally.add("BAGIT-6.1.2-WINDOWS", name)

    def _structure(self) -> None:
        folder = self._storage.folder
        if folder is not None and not ((folder / PAYLOAD).is_dir() and not (folder / PAYLOAD).is_symlink()):
            self._tally.add("BAGIT-2.1.2-DATA", PAYLOAD)
        if not self._payload_manifests:
            self._tally.add("BAGIT-2.1.3-NONE", "")

    def _read_manifests(self, *, tags: bool) -> None:
        inventory = self._tags if tags else self._payload
        words = _TAG_WORDS if tags else _PAYLOAD_WORDS if self._is_new else _OLD_PAYLOAD_WORDS
        fallback_code = "BAGIT-2.2.1-LINE" if tags else "BAGIT-2.1.3-LINE"
        for column, manifest in enumerate(self._tag_manifests if tags else self._payload_manifests):
            lines = read.manifest_lines(self._storage, manifest, self._declaration, tags=tags)
            with _TextFaults(self._tally, manifest.name):
                for line in inventory.take_manifest(column, lines):
                    if isinstance(line, BadLine):
                        _add_finding(self._tally, _code(line, words, fallback_code), manifest.name, line)
                    else:
                        for odd in line.odd:
                            _add_finding(
                                self._tally, _ODD_WORDS[odd], manifest.name, BadLine(line.line, odd, line.name)
                            )

    def _fetch(self) -> None:
        with _TextFaults(self._tally, FETCH):
            for wrong in self._payload.take_promised(read.fetch_lines(self._storage, self._declaration)):
                _add_finding(self._tally, _code(wrong, _FETCH_WORDS, "BAGIT-2.2.3-LINE"), FETCH, wrong)
            check_fetch_urls(read.fetch_lines(self._storage, self._declaration), self._tally)
        for name in self._payload.promised_unlisted():
            self._tally.add("BAGIT-2.2.3-UNLISTED", name)

    def _names(self, inventory: Inventory, file: str) -> None:
        for name, stored_name, reason in inventory.match():
            code = "BAGIT-2.1.3-PERCENT" if reason == "raw" else "BAGIT-6.1.1-COMPOSITION"
            self._tally.add(code, name, stored=stored_name)
        for name_in_bag, twin in inventory.twins():
            self._tally.add("BAGIT-6.1.1-TWIN", name_in_bag, other=twin, part=file)

    def _completeness(self) -> None:
        add = self._tally.add
        for name in self._payload.missing(promised=False):
            add("BAGIT-3-MISSING", name)
        for name in self._payload.missing(promised=True):
            add("BAGIT-3-HOLE", name)
        for name in self._payload.unlisted():
            add("BAGIT-2.1.3-UNLISTED", name)
        if self._is_new:
            for column, manifest in enumerate(self._payload_manifests):
                for name in self._payload.partly_listed(column):
                    add("BAGIT-3-EVERY", name, manifest=manifest.name)

    def _tag_completeness(self) -> None:
        for name in self._tags.missing(promised=False):
            self._tally.add("BAGIT-3-TAG-MISSING", name)
        unlisted = set(self._tags.unlisted())
        for column, manifest in enumerate(self._tag_manifests):
            left_out = set(self._tags.partly_listed(column)) | unlisted
            for payload_manifest in self._payload_manifests:
                if payload_manifest.name in left_out:
                    is_open = self._is_new and payload_manifest.name in unlisted
                    code = "BAGIT-2.2.1-MANIFESTS" if is_open else "BAGIT-2.2.1-MANIFESTS-EACH"
                    self._tally.add(code, manifest.name, left_out=payload_manifest.name)
        if self._tag_manifests:
            for name in self._tags.unlisted():
                if not (manifest_of(name) or ("", False))[1]:
                    self._tally.add("BAGIT-2.2.1-UNLISTED", name)

    def _early_pool(self) -> HashPool | None:
        """Child processes start while the manifests are read, where there are many files."""
        if self._storage.folder is None or not self._payload_manifests:
            return None
        pool = HashPool(self._storage.folder, _hashes(self._payload_manifests), width=self._width)
        self._pool_stack.enter_context(pool)
        if self._payload.octets()[1] >= _MANY_FILES:
            pool.warm()
        return pool

    def _fixity(self, pool: HashPool | None) -> None:
        for inventory, manifests, code in (
            (self._payload, self._payload_manifests, "BAGIT-3-CHECKSUM"),
            (self._tags, self._tag_manifests, "BAGIT-3-TAG-CHECKSUM"),
        ):
            if manifests:
                early = pool if inventory is self._payload else None
                for pair, hashed in self._hash_files(inventory, _hashes(manifests), early):
                    self._compare(pair, hashed, manifests, code)

    def _compare(self, pair: Pair, hashed: Hashed, manifests: Sequence[Manifest], code: str) -> None:
        if hashed.why:
            self._tally.add("BAGIT-3-UNREADABLE", pair.name, why=hashed.why)
        elif hashed.digests != pair.digests:
            for expected, actual, manifest in zip(pair.digests, hashed.digests, manifests, strict=True):
                if expected not in (None, actual):
                    self._tally.add(code, pair.name, manifest=manifest.name, expected=expected, found=actual)

    def _hash_files(
        self, inventory: Inventory, hashes: Sequence[str], early: HashPool | None
    ) -> Iterator[tuple[Pair, Hashed]]:
        if self._storage.folder is None:
            yield from _hash_in_order(self._storage, inventory, hashes)
        elif early is not None:
            yield from _hash_with_pool(early, inventory)
        else:
            with HashPool(self._storage.folder, hashes, width=self._width) as pool:
                yield from _hash_with_pool(pool, inventory)


def _hash_with_pool(pool: HashPool, inventory: Inventory) -> Iterator[tuple[Pair, Hashed]]:
    waiting: deque[Pair] = deque()
    for _, hashed in pool.work(_tasks(inventory.pairs(), waiting)):
        yield waiting.popleft(), hashed


def _hashes(manifests: Sequence[Manifest]) -> list[str]:
    return [hash_name(manifest.algorithm) or "" for manifest in manifests]


def _is_required(name: str) -> bool:
    """Tag files that every bag has or may have: a profile's list of allowed ones does not speak of them."""
    return name in (DECLARATION, INFO, OLD_INFO, FETCH) or manifest_of(name) is not None


def _tasks(pairs: Iterable[Pair], waiting: deque[Pair]) -> Iterator[Task]:
    for pair in pairs:
        waiting.append(pair)
        yield Task(pair.stored_name, pair.size_bytes)


def _hash_in_order(storage: Storage, inventory: Inventory, hashes: Sequence[str]) -> Iterator[tuple[Pair, Hashed]]:
    for file, content in storage.contents():
        pair = inventory.expected(file)
        if pair is not None:
            try:
                yield pair, _hash(content, hashes)
            except PackageFault as error:
                yield pair, Hashed(str(error.data.get("why", "unreadable")))


def _hash(content: Readable, hashes: Sequence[str]) -> Hashed:
    hashers = [hashlib.new(name, usedforsecurity=False) for name in hashes]
    size = 0
    while block := content.read(BLOCK_BYTES):
        size += len(block)
        for hasher in hashers:
            hasher.update(block)
    return Hashed("", size, tuple(hasher.hexdigest() for hasher in hashers))


class _TextFaults:
    """A context that turns an encoding fault of a tag file into a finding, so that the other rules go on."""

    def __init__(self, tally: Tally, file: str) -> None:
        self._tally = tally
        self._file = file

    def __enter__(self) -> None:
        """Nothing to do."""

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> bool:
        if not isinstance(error, PackageFault) or error.data.get("line") is None:
            return False
        wrong = BadLine(int(str(error.data["line"])), str(error.data["why"]))
        _add_finding(self._tally, "BAGIT-2.3-TEXT", self._file, wrong)
        return True


def _code(wrong: BadLine, words: dict[str, str], fallback: str) -> str:
    return "BAGIT-5.1-PATH" if wrong.why.startswith("path:") else words.get(wrong.why, fallback)


def _add_finding(tally: Tally, code: str, file: str, wrong: BadLine) -> None:
    data = place_data({"why": wrong.why.removeprefix("path:"), "name": wrong.detail or None})
    tally.add_hit(Hit(code, file, line=wrong.line or None, data=data))
