"""DIAS as a form of package: what it is known by, and what the registry asks of it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from noarkit.errors import NoarkitError, PackageFault, SourceGone
from noarkit.forms.container.storage import FolderStorage, Storage
from noarkit.forms.findings import ValidateResult
from noarkit.forms.form_markers import FormEvidence, root_of
from noarkit.forms.package_form import DetectedForm, PackageForm, Product, SourcePlace, ValidateOptions
from noarkit.records import DESPITE_DAMAGE, Source, SourceIdentity, limits_of
from noarkit.safe.unpack import UnpackLimits

_MARK = "dias-mets.xml"
_PART = r"(?:representations/(?P<part>[^/]+)/)?"
_BELOW = "content/"
_CONTENT = re.compile(r"content(?:/.*)?", re.DOTALL)
_ADMINISTRATIVE = re.compile(r"administrative_metadata(?:/.*)?", re.DOTALL)
_MAKER = "noarkit.extraction.packing:pack_dias"


def looks_like_dias(evidence: FormEvidence) -> bool:
    """A DIAS METS, or a file of that name with the folder it describes."""
    head = evidence.heads.get(_MARK)
    return head is not None and (root_of(head) == "mets" or _CONTENT in evidence.parts)


def lacks_of_dias(evidence: FormEvidence) -> str:
    """The METS of what has the folders of a package, or one that is no METS with nothing beside it."""
    if _MARK in evidence.heads:
        return "" if looks_like_dias(evidence) else _MARK
    return _MARK if {_CONTENT, _ADMINISTRATIVE} <= evidence.parts else ""


def _lacks_at(path: Path) -> str:
    from noarkit.forms.dias.read.located import damaged_tar

    return damaged_tar(path)


def _stands_at(path: Path) -> bool:
    """True for a description with its tar, and for a folder that holds nothing but the tar of a package."""
    from noarkit.forms.dias.read.located import is_delivery

    return is_delivery(path) or (path.is_dir() and _is_lone_tar(path))


def _is_lone_tar(folder: Path) -> bool:
    """True if a folder holds nothing but the tar of a DIAS package; it is not sealed, and still one."""
    from noarkit.forms.recognition import detect_form

    entries = list(islice(folder.iterdir(), 2))
    if len(entries) != 1 or not entries[0].is_file() or entries[0].suffix.lower() != ".tar":
        return False
    try:
        return detect_form(entries[0]).form == "dias"
    except NoarkitError:
        return False  # whatever it is, it is told when it is read


def _find_source(place: SourcePlace) -> Source | None:
    from noarkit.forms.dias.source import find_dias

    return find_dias(place.where, place.limits)


def _reopen(identity: SourceIdentity) -> Source:
    from noarkit.forms.dias.source import DiasSource

    despite = identity.settings.get(DESPITE_DAMAGE) is True
    source = DiasSource(Path(identity.where), limits_of(identity), despite=despite)
    if not os.path.lexists(identity.where):
        raise SourceGone(where=identity.where, why="ENOENT")
    return source


def _original_names(storage: Storage) -> Iterator[tuple[str, str]]:
    from noarkit.forms.dias.read.package import original_names

    return original_names(storage)


def _open_package(detected: DetectedForm, path: Path, limits: UnpackLimits) -> Storage:
    """A package as its folder, its tar, or the tar that lies beside its description."""
    from noarkit.forms.dias.read.located import unpacked_beside
    from noarkit.forms.dias.read.tar_storage import open_tar_storage

    if detected.packed is not None:
        return open_tar_storage(path, limits)
    if (detected.root / _MARK).is_file():
        return FolderStorage(detected.root)
    if path.is_file():
        return open_tar_storage(path.with_suffix(".tar"), limits)
    if (unpacked := unpacked_beside(path)) is not None:
        return FolderStorage(unpacked)
    tars = sorted(tar_path for tar_path in path.glob("*.tar") if tar_path.with_suffix(".xml").is_file()) or sorted(
        path.glob("*.tar")
    )
    if len(tars) != 1:
        raise PackageFault(where=str(path), why="several-packages")
    return open_tar_storage(tars[0], limits)


def _description_of(path: Path) -> Path | None:
    from noarkit.forms.dias.read.located import locate

    return locate(path).description


def _validate(path: Path, _: DetectedForm, options: ValidateOptions) -> ValidateResult:
    from noarkit.forms.dias.rules.run import validate_dias
    from noarkit.forms.noark5.rules.run import Noark5ValidateOptions

    day = options.today.isoformat() if options.today else ""
    own_options = Noark5ValidateOptions(options.schemas, None, day, options.listener)
    return validate_dias(path, own_options, limits=options.limits)


DIAS = PackageForm(
    name="dias",
    source_kind="dias",
    marker_files=frozenset({_MARK}),
    parts=(_CONTENT, _ADMINISTRATIVE),
    looks_like=looks_like_dias,
    lacks=lacks_of_dias,
    lacks_at=_lacks_at,
    rank=20,
    sure=True,
    stands_at=_stands_at,
    find_source=_find_source,
    reopen=_reopen,
    validate=_validate,
    own_files=re.compile(
        r"(?:dias-mets|dias-premis|log|info|mets|premis|eac|ead)\.(?:xml|xsd)|[^/]+\.xsd"
        r"|(?:administrative_metadata|descriptive_metadata)/.+",
        re.IGNORECASE | re.DOTALL,
    ),
    loss_rules=frozenset({"D201", "D301", "D303", "D305", "D306", "D307", "D310", "D503", "D507", "D508"}),
    content=_BELOW,
    original_names=_original_names,
    open_package=_open_package,
    description_of=_description_of,
    documents=(
        (re.compile(r"descriptive_metadata/" + _PART + r"(?P<name>.+(?<!\.xsd))", re.I | re.S), "descriptive"),
        (re.compile(r"administrative_metadata/" + _PART + r"documentation/(?P<name>.+)", re.S), "documentation"),
        (re.compile(r"administrative_metadata/" + _PART + r"other/(?P<name>.+)", re.S), "other"),
        (re.compile(r"administrative_metadata/" + _PART + r"schemas/(?P<name>.+)", re.S), "schema"),
        (re.compile(r"(?P<kept>administrative_metadata/.+(?<!\.xsd)|[^/]+\.xml)", re.I | re.S), "other"),
    ),
    statement_reader="noarkit.extraction.statements:read_dias",
    products=tuple(Product(name=f"dias-{kind}", maker=_MAKER, content=_BELOW) for kind in ("sip", "aip")),
)
