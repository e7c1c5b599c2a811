"""BagIt as a form of package: what it is known by, and what the registry asks of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from noarkit.forms.container.storage import Storage
from noarkit.forms.findings import Opinion, ReadOpinion, ValidateResult
from noarkit.forms.form_markers import FormEvidence
from noarkit.forms.package_form import DetectedForm, PackageForm, Product, SourcePlace, ValidateOptions
from noarkit.records import Source, SourceIdentity

_CONTENT = "data/"
_MANIFEST = r"(?:tag)?manifest-[A-Za-z0-9_+-]+\.txt"
_PAYLOAD, _TAG_FILE = re.compile(r"data(?:/.*)?", re.DOTALL), re.compile(r"bag-info\.txt|tagmanifest-\w+\.txt")
_PAYLOAD_MANIFEST = re.compile(r"manifest-(?:md5|sha\d+)\.txt")
_PAYLOAD_OR_MANIFEST = re.compile(r"manifest-\w+\.txt|data(?:/.*)?", re.DOTALL)


def looks_like_bag(evidence: FormEvidence) -> bool:
    """A declaration, and a payload or a manifest: without both nothing says which files the bag has."""
    return "bagit.txt" in evidence.heads and _PAYLOAD_OR_MANIFEST in evidence.parts


def lacks_of_bag(evidence: FormEvidence) -> str:
    """The declaration of what has a payload and a manifest, or the manifest of what has other tag files."""
    if "bagit.txt" in evidence.heads:
        return "" if looks_like_bag(evidence) or _TAG_FILE not in evidence.parts else "manifest-sha512.txt, data/"
    return "bagit.txt" if {_PAYLOAD, _PAYLOAD_MANIFEST} <= evidence.parts else ""


def _find_source(place: SourcePlace) -> Source:
    from noarkit.forms.bagit.place import source_in_bag

    return source_in_bag(place)


def _reopen(identity: SourceIdentity) -> Source:
    from noarkit.forms.bagit.place import reopen_bag

    return reopen_bag(identity)


def _validate(path: Path, detected: DetectedForm, options: ValidateOptions) -> ValidateResult:
    from noarkit.forms.bagit.rules.run import validate_bag

    return validate_bag(detected.root, limits=options.limits, emit=options.listener)


def _second_opinion(report: ValidateResult, command: str, _: ReadOpinion) -> Opinion | None:
    """That of bagit-python, unless the user names another tool."""
    from noarkit.forms.bagit.rules.second import second_opinion

    return None if command else second_opinion(Path(report.package), report)


def _original_names(storage: Storage) -> Iterator[tuple[str, str]]:
    from noarkit.forms.bagit.read import load_declaration, read_names
    from noarkit.forms.bagit.spec import Declaration

    declaration = load_declaration(storage)
    if isinstance(declaration, Declaration):
        yield from ((_CONTENT + name, key) for name, key in read_names(storage, declaration))


BAGIT = PackageForm(
    name="bagit",
    source_kind="bag",
    marker_files=frozenset({"bagit.txt"}),
    parts=(_PAYLOAD_OR_MANIFEST, _PAYLOAD, _PAYLOAD_MANIFEST, _TAG_FILE),
    looks_like=looks_like_bag,
    lacks=lacks_of_bag,
    rank=10,
    sure=True,
    holds_twins=True,
    find_source=_find_source,
    reopen=_reopen,
    validate=_validate,
    second_opinion=_second_opinion,
    own_files=re.compile(
        r"(?:bagit|bag-info|package-info|fetch|original-names)\.txt|(?:tag)?manifest-\w+\.txt", re.DOTALL
    ),
    loss_rules=frozenset(
        {
            *("BAGIT-2.1.3-NONE", "BAGIT-2.1.3-LINE", "BAGIT-2.1.3-OUTSIDE", "BAGIT-2.1.3-TWICE"),
            *("BAGIT-2.1.3-UNLISTED", "BAGIT-2.2.1-LINE", "BAGIT-2.2.2-LINE", "BAGIT-2.2.2-OXUM"),
            *("BAGIT-2.2.2-OXUM-DIFFERS", "BAGIT-2.2.3-LINE", "BAGIT-2.3-TEXT", "BAGIT-3-MISSING", "BAGIT-3-HOLE"),
            *("BAGIT-3-TAG-MISSING", "BAGIT-5.1-PATH", "BAGIT-3-CHECKSUM", "BAGIT-3-TAG-CHECKSUM"),
            "BAGIT-3-UNREADABLE",
        }
    ),
    content=_CONTENT,
    original_names=_original_names,
    documents=(
        (re.compile(r"metadata/(?P<name>.+)", re.DOTALL), "other"),
        (re.compile(rf"(?!{_CONTENT}|(?:bagit\.txt|fetch\.txt|{_MANIFEST})\Z)(?P<kept>.+)", re.DOTALL), "other"),
    ),
    statement_reader="noarkit.extraction.statements:read_bag",
    products=(Product(name="bagit", maker="noarkit.extraction.packing:pack_bag", content=_CONTENT, whole=True),),
)
