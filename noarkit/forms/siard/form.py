"""SIARD as a form of package: what it is known by, and what the registry asks of it."""

from __future__ import annotations

import re
from pathlib import Path

from noarkit.forms.findings import ValidateResult
from noarkit.forms.form_markers import FormEvidence, root_of
from noarkit.forms.package_form import DetectedForm, PackageForm, Product, SourcePlace, ValidateOptions
from noarkit.records import Source, SourceIdentity
from noarkit.safe.paths import has_file, has_folder

_HEADER = "header/metadata.xml"
_CONTENT = re.compile(r"content(?:/.*)?", re.DOTALL)
_TABLE = re.compile(r"content/schema\d+/table\d+(?:/.*)?", re.DOTALL)
# an archive that is unpacked, and the Danish variant, which is a folder by nature
_FOLDERS = ((_HEADER, "content"), ("Indices/tableIndex.xml", "Tables"))
_MAKER = "noarkit.extraction.databases:convert_database"


def looks_like_siard(evidence: FormEvidence) -> bool:
    """A header of SIARD's own, or one of that name with content beside it."""
    head = evidence.heads.get(_HEADER)
    return head is not None and (root_of(head) == "siardArchive" or _CONTENT in evidence.parts)


def lacks_of_siard(evidence: FormEvidence) -> str:
    """The header of what holds tables as SIARD has them, or one that is no header of SIARD beside content."""
    head = evidence.heads.get(_HEADER)
    if head is None:
        return _HEADER if _TABLE in evidence.parts else ""
    return _HEADER if root_of(head) != "siardArchive" and _CONTENT in evidence.parts else ""


def _stands_at(path: Path) -> bool:
    return any(has_file(path, mark) and has_folder(path, beside) for mark, beside in _FOLDERS)


def _find_source(place: SourcePlace) -> Source | None:
    from noarkit.forms.siard.source import find_siard

    return find_siard(place.where)


def _reopen(identity: SourceIdentity) -> Source:
    from noarkit.forms.siard.source import reopen_siard

    return reopen_siard(identity)


def _validate(path: Path, _: DetectedForm, options: ValidateOptions) -> ValidateResult:
    from noarkit.forms.siard.rules.run import validate_siard

    return validate_siard(path, limits=options.limits, emit=options.listener)


SIARD = PackageForm(
    name="siard",
    source_kind="siard",
    marker_files=frozenset({_HEADER}),
    parts=(_CONTENT, _TABLE),
    looks_like=looks_like_siard,
    lacks=lacks_of_siard,
    rank=40,
    in_folder=False,
    stands_at=_stands_at,
    find_source=_find_source,
    reopen=_reopen,
    validate=_validate,
    layout="file",
    loss_rules=frozenset(
        {
            *("SIARD-M_5.0-1", "SIARD-M_5.1-1-11", "SIARD-P_4.3-1", "SIARD-P_4.3-1-MORE", "SIARD-P_4.3-10"),
            *("SIARD-G_4.1-1", "SIARD-T_6.0-1-XML"),
            *("SIARD-T_6.4-5-FILE", "SIARD-T_6.4-5-LENGTH", "SIARD-T_6.4-5-DIGEST"),
        }
    ),
    products=(
        Product(name="siard", maker=_MAKER, kind="database"),
        Product(name="sqlite", maker=_MAKER, kind="database"),
    ),
)
