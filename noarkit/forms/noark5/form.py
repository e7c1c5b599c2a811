"""The Noark 5 extract as a form of package: what it is known by, and what the registry asks of it."""

from __future__ import annotations

import os
import re
from contextlib import closing
from pathlib import Path

from noarkit.errors import PackageFault, SourceGone
from noarkit.forms.findings import ValidateResult
from noarkit.forms.form_markers import FormEvidence, root_of
from noarkit.forms.package_form import DetectedForm, PackageForm, Product, SourcePlace, ValidateOptions
from noarkit.records import Source, SourceIdentity

_DOCUMENTS = re.compile(r"(?:content/)?(?:dokument(?:er)?(?:/.*)?|arkivstruktur\.xsd)", re.DOTALL | re.IGNORECASE)
_ABOVE = ("", "content/")


def looks_like_extract(evidence: FormEvidence) -> bool:
    """An extract's own documents by their root elements, or by their names with its other parts beside them."""
    for above in _ABOVE:
        description, structure = (
            evidence.heads.get(f"{above}arkivuttrekk.xml"),
            evidence.heads.get(f"{above}arkivstruktur.xml"),
        )
        if description is not None and (structure is not None or root_of(description) == "addml"):
            return True
        if structure is not None and (root_of(structure) == "arkiv" or _DOCUMENTS in evidence.parts):
            return True
    return False


def lacks_of_extract(evidence: FormEvidence) -> str:
    """The structure of what has a description alone, or one of both documents that is no XML."""
    names = [name for name in evidence.heads if name.rpartition("/")[2] in ("arkivuttrekk.xml", "arkivstruktur.xml")]
    if not names:
        return ""
    structures = [name for name in names if name.endswith("arkivstruktur.xml")]
    if not structures:
        described = evidence.heads[names[0]]
        return names[0].replace("arkivuttrekk", "arkivstruktur") if root_of(described) in ("addml", "") else ""
    return "" if root_of(evidence.heads[structures[0]]) else structures[0]


def _find_source(place: SourcePlace) -> Source | None:
    from noarkit.forms.noark5.source import find_extract

    return find_extract(place.where, place.detected)


def _reopen(identity: SourceIdentity) -> Source:
    from noarkit.forms.noark5.source import DEFAULT_ZONE, ExtractSource

    settings, accepted = identity.settings, identity.settings.get("accepted")
    source = ExtractSource(
        Path(identity.where),
        str(settings.get("zone") or DEFAULT_ZONE),
        take_incomplete=settings.get("take_incomplete") is True,
        carry=settings.get("carry") is not False,
        accepted=[str(name) for name in accepted] if isinstance(accepted, list) else (),
    )
    if not os.path.lexists(identity.where):
        raise SourceGone(where=identity.where, why="ENOENT")
    return source


def _validate(path: Path, detected: DetectedForm, options: ValidateOptions) -> ValidateResult:
    from noarkit.forms.container.storage import open_storage
    from noarkit.forms.noark5.rules.packed import validate_packed
    from noarkit.forms.noark5.rules.run import Noark5ValidateOptions, validate_extract
    from noarkit.forms.noark5.rules.run import root_of as root_of_extract

    day = options.today.isoformat() if options.today else ""
    own_options = Noark5ValidateOptions(options.schemas, None, day, options.listener, job_workers=options.job_workers)
    if detected.packed is not None:
        options.refuse_job_workers(path)
        with closing(open_storage(path, options.limits, top=False, emit=options.listener)) as storage:
            return validate_packed(storage, own_options)
    root = root_of_extract(path) if path.is_dir() else None
    if root is None:
        raise PackageFault(where=str(path), why="no-package", folder=str(path))
    return validate_extract(root, own_options)


NOARK5 = PackageForm(
    name="noark5",
    source_kind="noark5",
    marker_files=frozenset(f"{above}{name}.xml" for above in _ABOVE for name in ("arkivuttrekk", "arkivstruktur")),
    parts=(_DOCUMENTS,),
    looks_like=looks_like_extract,
    rank=50,
    beside_others=True,
    lacks=lacks_of_extract,
    judges_remnants=True,
    find_source=_find_source,
    reopen=_reopen,
    validate=_validate,
    uses_job_workers=True,
    layout="extract",
    own_files=re.compile(r"$^"),
    loss_rules=frozenset({"N001", "N002", "N003", "N005", "N006", "N007", "N205", "N401", "N402", "N403"}),
    products=(Product(name="noark5", maker="noarkit.extraction.convert:unpack_extract", kind="extract"),),
)
