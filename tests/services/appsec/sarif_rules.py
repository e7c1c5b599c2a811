"""Checks SARIF 2.1.0 files, as far as files of findings use the format.

An unknown or missing member, or a value of another type or outside its list, is a problem, reported with its location.
Parts that files of findings seldom have (graphs, stacks, fixes, conversions …) are not checked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from noarkit.services.canonical import parse

_GUID = re.compile(r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[1-5][0-9a-fA-F]{3}-[89abAB][0-9a-fA-F]{3}-[0-9a-fA-F]{12}")
_DEPTH = 60


@dataclass(frozen=True, slots=True)
class Kind:
    """The rules of one SARIF object: required and optional members, and the types of some of them."""

    needs: tuple[str, ...] = ()
    may: tuple[str, ...] = ()
    parts: Mapping[str, str] = field(default_factory=dict)
    lists: Mapping[str, str] = field(default_factory=dict)
    one_of: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    texts: tuple[str, ...] = ()
    least: Mapping[str, int] = field(default_factory=dict)
    guids: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()


KINDS: Mapping[str, Kind] = {
    "sarif": Kind(
        ("version", "runs"), ("inlineExternalProperties",), lists={"runs": "run"}, one_of={"version": ("2.1.0",)},
        texts=("$schema",),
    ),
    "run": Kind(
        ("tool",),
        ("conversion", "language", "originalUriBaseIds", "artifacts", "logicalLocations", "graphs", "runAggregates",
         "baselineGuid", "redactionTokens", "defaultEncoding", "defaultSourceLanguage", "newlineSequences",
         "columnKind", "externalPropertyFileReferences", "threadFlowLocations", "taxonomies", "addresses",
         "translations", "policies", "webRequests", "webResponses", "specialLocations"),
        parts={"tool": "tool", "automationDetails": "about"},
        lists={"results": "result", "invocations": "invocation", "versionControlProvenance": "origin",
               "runAggregates": "about"},
    ),
    "tool": Kind(("driver",), ("extensions",), parts={"driver": "component"}, lists={"extensions": "component"}),
    "component": Kind(
        ("name",),
        ("organization", "product", "productSuite", "shortDescription", "fullDescription", "globalMessageStrings",
         "notifications", "taxa", "locations", "contents", "isComprehensive", "localizedDataSemanticVersion",
         "minimumRequiredLocalizedDataSemanticVersion", "associatedComponent", "translationMetadata",
         "supportedTaxonomies", "dottedQuadFileVersion", "releaseDateUtc", "language"),
        lists={"rules": "rule"},
        texts=("name", "fullName", "version", "semanticVersion", "downloadUri", "informationUri"),
        guids=("guid",),
    ),
    "rule": Kind(
        ("id",),
        ("deprecatedIds", "deprecatedGuids", "deprecatedNames", "shortDescription", "fullDescription",
         "messageStrings", "defaultConfiguration", "help", "relationships"),
        texts=("id", "name", "helpUri"),
        guids=("guid",),
    ),
    "about": Kind(texts=("id",), parts={"description": "message"}, guids=("guid", "correlationGuid")),
    "invocation": Kind(
        ("executionSuccessful",),
        ("arguments", "responseFiles", "exitCodeDescription", "exitSignalName", "exitSignalNumber",
         "processStartFailureMessage", "executableLocation", "workingDirectory", "environmentVariables", "stdin",
         "stdout", "stderr", "stdoutStderr", "ruleConfigurationOverrides", "notificationConfigurationOverrides",
         "toolExecutionNotifications", "toolConfigurationNotifications", "exitCode", "processId"),
        texts=("commandLine", "startTimeUtc", "endTimeUtc", "machine", "account"),
        flags=("executionSuccessful",),
    ),
    "origin": Kind(
        ("repositoryUri",), ("mappedTo",), texts=("repositoryUri", "revisionId", "branch", "revisionTag", "asOfTimeUtc")
    ),
    "result": Kind(
        ("message",),
        ("rule", "analysisTarget", "occurrenceCount", "partialFingerprints", "fingerprints", "stacks", "graphs",
         "graphTraversals", "rank", "attachments", "hostedViewerUri", "workItemUris", "provenance", "fixes", "taxa",
         "webRequest", "webResponse"),
        parts={"message": "message"},
        lists={"locations": "location", "relatedLocations": "location", "codeFlows": "flow",
               "suppressions": "suppression"},
        one_of={"level": ("none", "note", "warning", "error"),
                "kind": ("notApplicable", "pass", "fail", "review", "open", "informational"),
                "baselineState": ("new", "unchanged", "updated", "absent")},
        texts=("ruleId",),
        least={"ruleIndex": -1},
        guids=("guid", "correlationGuid"),
    ),
    "message": Kind(texts=("text", "markdown", "id"), may=("arguments",)),
    "location": Kind(
        (), ("logicalLocations", "annotations", "relationships"), {"physicalLocation": "place", "message": "message"},
        least={"id": -1},
    ),
    "place": Kind((), ("address",), {"artifactLocation": "artifact", "region": "region", "contextRegion": "region"}),
    "artifact": Kind(texts=("uri", "uriBaseId"), parts={"description": "message"}, least={"index": -1}),
    "region": Kind(
        (), ("snippet",), {"message": "message"}, texts=("sourceLanguage",),
        least={"startLine": 1, "startColumn": 1, "endLine": 1, "endColumn": 1, "charOffset": -1, "charLength": 0,
               "byteOffset": -1, "byteLength": 0},
    ),
    "flow": Kind(("threadFlows",), parts={"message": "message"}, lists={"threadFlows": "thread"}),
    "thread": Kind(
        ("locations",), ("initialState", "immutableState"), {"message": "message"}, {"locations": "step"}, texts=("id",)
    ),
    "step": Kind(
        (), ("stack", "kinds", "taxa", "module", "state", "executionTimeUtc", "webRequest", "webResponse"),
        {"location": "location"}, one_of={"importance": ("important", "essential", "unimportant")},
        least={"index": -1, "nestingLevel": 0, "executionOrder": -1},
    ),
    "suppression": Kind(
        ("kind",), (), {"location": "location"},
        one_of={"kind": ("inSource", "external"), "status": ("accepted", "underReview", "rejected")},
        texts=("justification",), guids=("guid",),
    ),
}  # fmt: skip


def problems(data: bytes) -> Iterator[tuple[str, str]]:
    """Returns what is wrong with a file, as location and word; nothing for a valid one. Raises `ServiceStrange` if it
    is not JSON."""
    yield from _object(parse(data, "sarif"), "sarif", "", 0)


def _object(value: object, name: str, place: str, depth: int) -> Iterator[tuple[str, str]]:
    if not isinstance(value, Mapping) or depth > _DEPTH:
        yield place, "not-an-object"
        return
    kind = KINDS[name]
    members = {*kind.needs, *kind.may, *kind.parts, *kind.lists, *kind.one_of, *kind.texts, *kind.least, *kind.guids,
             *kind.flags, "properties"}  # fmt: skip
    for member in value.keys() - members:
        yield f"{place}/{member}", "unknown-member"
    for member in kind.needs:
        if member not in value:
            yield f"{place}/{member}", "missing-member"
    for member, inner in value.items():
        yield from _member(kind, member, inner, (f"{place}/{member}", depth))
    if name == "message" and not {"text", "id"} & value.keys():
        yield place, "missing-member"


def _member(kind: Kind, member: str, inner: object, at: tuple[str, int]) -> Iterator[tuple[str, str]]:
    place, depth = at
    if member in kind.parts:
        yield from _object(inner, kind.parts[member], place, depth + 1)
    elif member in kind.lists:
        if not isinstance(inner, list):
            yield place, "not-a-list"
            return
        for number, item in enumerate(inner):
            yield from _object(item, kind.lists[member], f"{place}/{number}", depth + 1)
    elif not _is_good(kind, member, inner):
        yield place, "bad-value"


def _is_good(kind: Kind, member: str, inner: object) -> bool:
    """True if a value is allowed for a member."""
    if member in kind.one_of:
        return inner in kind.one_of[member]
    if member in kind.texts:
        return isinstance(inner, str)
    if member in kind.guids:
        return isinstance(inner, str) and _GUID.fullmatch(inner) is not None
    if member in kind.least:
        return isinstance(inner, int) and not isinstance(inner, bool) and inner >= kind.least[member]
    if member in kind.flags:
        return isinstance(inner, bool)
    if member == "redactionTokens":
        return isinstance(inner, list) and len({str(item) for item in inner}) == len(inner)
    return member != "properties" or isinstance(inner, Mapping)
