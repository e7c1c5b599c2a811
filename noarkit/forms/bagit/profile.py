"""BagIt profiles: what an archive asks of the bags it takes, read from JSON and held against a bag.

A profile is named by the user and never fetched. Each breach names the profile's own key.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

import orjson

from noarkit.errors import PackageFault

_MAX_BYTES = 4 * 1024 * 1024
_PACKINGS: Mapping[str, frozenset[str]] = {
    "application/zip": frozenset({"zip"}),
    "application/x-zip-compressed": frozenset({"zip"}),
    "application/tar": frozenset({"tar"}),
    "application/x-tar": frozenset({"tar"}),
    "application/gzip": frozenset({"tar.gz"}),
    "application/x-gzip": frozenset({"tar.gz"}),
    "application/x-gtar": frozenset({"tar.gz", "tar"}),
    "application/x-bzip2": frozenset({"tar.bz2"}),
    "application/x-xz": frozenset({"tar.xz"}),
}


@dataclass(frozen=True, slots=True)
class LabelRule:
    """What is asked of one label of `bag-info.txt`."""

    required: bool = False
    repeatable: bool = True
    values: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Profile:
    """A profile as it is written. None for a list means that anything is allowed."""

    identifier: str
    labels: Mapping[str, LabelRule] = field(default_factory=dict)
    lists: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    flags: Mapping[str, bool] = field(default_factory=dict)
    serialization: str = "optional"


@dataclass(frozen=True, slots=True)
class BagFacts:
    """What of a bag a profile speaks about. `packed_as` is empty for a folder."""

    version: str
    info: tuple[tuple[str, str], ...]
    manifests: frozenset[str]
    tag_manifests: frozenset[str]
    tag_files: tuple[str, ...]
    has_fetch: bool
    payload: tuple[int, int]
    packed_as: str = ""


@dataclass(frozen=True, slots=True)
class Breach:
    """A key of the profile that the bag does not keep, and with what."""

    key: str
    value: str


def read_profile(content: bytes) -> Profile:
    """A profile from its JSON. Raises `PackageFault` for what is none."""
    try:
        if len(content) > _MAX_BYTES:
            raise ValueError
        data = orjson.loads(content)
        info = data["BagIt-Profile-Info"]
        labels = {label: _label_rule(rule) for label, rule in data.get("Bag-Info", {}).items()}
        lists = {key: tuple(map(str, value)) for key, value in data.items() if isinstance(value, list)}
        flags = {key: value for key, value in data.items() if isinstance(value, bool)}
        identifier = str(info["BagIt-Profile-Identifier"])
        return Profile(identifier, labels, lists, flags, str(data.get("Serialization", "optional")))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise PackageFault(where="profile", why="malformed") from error


def _label_rule(rule: Mapping[str, object]) -> LabelRule:
    values = rule.get("values", [])
    allowed_values = tuple(map(str, values)) if isinstance(values, list) else ()
    return LabelRule(bool(rule.get("required", False)), bool(rule.get("repeatable", True)), allowed_values)


def breaches(profile: Profile, facts: BagFacts) -> Iterator[Breach]:
    """Everything a profile has against a bag."""
    yield from _labels(profile, facts)
    yield from _algorithms(profile, "Manifests", facts.manifests)
    yield from _algorithms(profile, "Tag-Manifests", facts.tag_manifests)
    yield from _tag_files(profile, facts)
    yield from _fetch(profile, facts)
    versions = profile.lists.get("Accept-BagIt-Version")
    if versions is not None and facts.version not in versions:
        yield Breach("Accept-BagIt-Version", facts.version)
    if profile.flags.get("Data-Empty") and (facts.payload[1] > 1 or facts.payload[0] > 0):
        yield Breach("Data-Empty", str(facts.payload[1]))
    yield from _packing(profile, facts)


def _labels(profile: Profile, facts: BagFacts) -> Iterator[Breach]:
    values_by_label: dict[str, list[str]] = {}
    for label, value in facts.info:
        values_by_label.setdefault(label.casefold(), []).append(value)
    identifiers = values_by_label.get("bagit-profile-identifier", [])
    if profile.identifier not in identifiers:
        yield Breach("BagIt-Profile-Identifier", profile.identifier)
    for label, rule in profile.labels.items():
        values = values_by_label.get(label.casefold(), [])
        if rule.required and not any(values):
            yield Breach(f"Bag-Info: {label}", "required")
        if not rule.repeatable and len(values) > 1:
            yield Breach(f"Bag-Info: {label}", "repeatable")
        if rule.values and any(value not in rule.values for value in values):
            yield Breach(f"Bag-Info: {label}", "values")


def _algorithms(profile: Profile, key: str, present: frozenset[str]) -> Iterator[Breach]:
    for algorithm in profile.lists.get(f"{key}-Required", ()):
        if algorithm not in present:
            yield Breach(f"{key}-Required", algorithm)
    allowed_algorithms = profile.lists.get(f"{key}-Allowed")
    for algorithm in sorted(present):
        if allowed_algorithms is not None and algorithm not in allowed_algorithms:
            yield Breach(f"{key}-Allowed", algorithm)


def _tag_files(profile: Profile, facts: BagFacts) -> Iterator[Breach]:
    for name in profile.lists.get("Tag-Files-Required", ()):
        if name not in facts.tag_files:
            yield Breach("Tag-Files-Required", name)
    allowed_patterns = profile.lists.get("Tag-Files-Allowed", ("*",))
    for name in facts.tag_files:
        if not _matches(name, allowed_patterns):
            yield Breach("Tag-Files-Allowed", name)


def _matches(name: str, patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def _fetch(profile: Profile, facts: BagFacts) -> Iterator[Breach]:
    if facts.has_fetch and not profile.flags.get("Allow-Fetch.txt", True):
        yield Breach("Allow-Fetch.txt", "fetch.txt")
    if not facts.has_fetch and profile.flags.get("Fetch.txt-Required", False):
        yield Breach("Fetch.txt-Required", "fetch.txt")


def _packing(profile: Profile, facts: BagFacts) -> Iterator[Breach]:
    if facts.packed_as and profile.serialization == "forbidden":
        yield Breach("Serialization", "forbidden")
    if not facts.packed_as and profile.serialization == "required":
        yield Breach("Serialization", "required")
    accepted = profile.lists.get("Accept-Serialization")
    if facts.packed_as and accepted is not None:
        forms = {form for mime in accepted for form in _PACKINGS.get(mime, frozenset())}
        if facts.packed_as not in forms:
            yield Breach("Accept-Serialization", facts.packed_as)
