"""E-ARK as a form of package: what it is known by, and what the registry asks of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, time
from pathlib import Path

from noarkit.forms.container.storage import Storage
from noarkit.forms.eark.marks import (
    METS_NAMES,
    METS_OF_PART,
    PARTS_BESIDE,
    REPRESENTATIONS,
    lacks_of_eark,
    looks_like_eark,
)
from noarkit.forms.findings import Opinion, ReadOpinion, ValidateResult
from noarkit.forms.package_form import DetectedForm, PackageForm, Product, SourcePlace, ValidateOptions
from noarkit.records import Source, SourceIdentity

_MAKER = "noarkit.extraction.packing:pack_eark"
_PART = r"(?:representations/(?P<part>[^/]+)/)?"
_CONTENT = "representations/{part}/data/"


def _find_source(place: SourcePlace) -> Source | None:
    from noarkit.forms.eark.source import find_eark

    where = place.where if place.detected is None else str(place.detected.root)
    return find_eark(where, place.detected, place.limits)


def _reopen(identity: SourceIdentity) -> Source:
    from noarkit.forms.eark.source import reopen_eark

    return reopen_eark(identity)


def _original_names(storage: Storage) -> Iterator[tuple[str, str]]:
    from noarkit.forms.eark.read.package import original_names

    return original_names(storage)


def _lacks_at(path: Path) -> str:
    from noarkit.forms.eark.rules.run import has_misnamed_mets

    return METS_NAMES[0] if path.is_dir() and has_misnamed_mets(path) else ""


def _validate(path: Path, _: DetectedForm, options: ValidateOptions) -> ValidateResult:
    from noarkit.forms.eark.rules.run import EarkValidateOptions, validate_eark

    now = datetime.combine(options.today, time.min, UTC) if options.today is not None else None
    own_options = EarkValidateOptions(
        schemas=options.schemas, limits=options.limits, listener=options.listener, now=now
    )
    return validate_eark(path, own_options)


def _second_opinion(report: ValidateResult, command: str, read_opinion: ReadOpinion) -> Opinion | None:
    """That of the tool that the user names, as eark-validator and commons-ip tell it."""
    if not command:
        return None
    from noarkit.forms.eark.rules.second import second_opinion

    return second_opinion(Path(report.package), report, command, fallback_reader=read_opinion)


EARK = PackageForm(
    name="eark",
    source_kind="eark",
    marker_files=frozenset(METS_NAMES),
    parts=(REPRESENTATIONS, METS_OF_PART, PARTS_BESIDE),
    looks_like=looks_like_eark,
    rank=30,
    sure=True,
    lacks=lacks_of_eark,
    lacks_at=_lacks_at,
    judges_remnants=True,
    find_source=_find_source,
    reopen=_reopen,
    validate=_validate,
    second_opinion=_second_opinion,
    rule_ids=re.compile(r"(?<![A-Za-z0-9])(?:CSIPSTR|CSIP|SIP|AIPM|AIP|DIP)\d+(?![0-9])"),
    # eark-validator's own tests are at fault
    false_alarms=frozenset(
        {"CSIP12", "CSIP13", "CSIP15", "CSIP16", "CSIP63", "CSIP101", "CSIP103", "CSIP105", "SIP11", "SIP14"}
    ),
    own_files=re.compile(
        r"(?:representations/[^/]+/)?(?:mets\.xml|(?:metadata|schemas|documentation)/.+|[^/]+\.xsd)",
        re.IGNORECASE | re.DOTALL,
    ),
    loss_rules=frozenset(
        {
            *("CSIP69", "CSIP71", "CSIP79", "EARK-XML", "EARK-XML-HOSTILE", "EARK-HREF"),
            *("EARK-MISSING", "EARK-SIZE", "EARK-CHECKSUM", "EARK-UNLISTED", "EARK-UNREADABLE"),
            *("EARK-PREMIS-CHECKSUM", "EARK-PREMIS-SIZE", "CSIP24", "CSIP27", "CSIP29", "CSIP38", "CSIP41", "CSIP43"),
            *("CSIP51", "CSIP54", "CSIP56"),
        }
    ),
    layout="representations",
    original_names=_original_names,
    documents=(
        (re.compile(_PART + r"metadata/descriptive/(?P<name>.+)", re.I | re.S), "descriptive"),
        (re.compile(_PART + r"metadata/other/(?P<name>.+)", re.I | re.S), "other"),
        (re.compile(_PART + r"documentation/(?P<name>.+)", re.I | re.S), "documentation"),
        (re.compile(_PART + r"schemas/(?P<name>.+)", re.I | re.S), "schema"),
        (re.compile(_PART + r"(?P<kept>metadata/.+|mets\.xml)", re.I | re.S), "other"),
    ),
    statement_reader="noarkit.extraction.statements:read_eark",
    products=tuple(Product(name=f"eark-{kind}", maker=_MAKER, content=_CONTENT) for kind in ("sip", "aip", "dip")),
)
