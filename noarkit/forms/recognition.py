"""Which form a place has, found by looking: at first bytes and at what lies inside, never at how it is called.

look(Path("delivery.bin"))     Found(form="eark", packed="zip", root=Path("delivery.bin"))
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import get_args

from noarkit.errors import NoarkitError, UnsafeMember, UsageFault
from noarkit.events import Listener, ignore_event
from noarkit.forms.dias.read.located import is_delivery
from noarkit.forms.form_markers import HEAD_BYTES, MARKER_FILES, Form, FormEvidence, head_of, match_form
from noarkit.safe.paths import has_file, has_folder
from noarkit.safe.unpack import LIMITS, UnpackLimits, form_of, stream_members

FORMS: tuple[Form, ...] = get_args(Form)

# The gravest first: a bag may hold any of the others, and a DIAS or E-ARK package a Noark 5 extract.
_ORDER: tuple[Form, ...] = ("bagit", "dias", "eark", "siard", "noark5")
_SURE: tuple[Form, ...] = ("bagit", "dias", "eark")
# a SIARD archive that is unpacked, and the Danish variant, which is a folder by nature
_SIARD_FOLDERS = (("header/metadata.xml", "content"), ("Indices/tableIndex.xml", "Tables"))
_IN_A_FOLDER: tuple[Form, ...] = ("bagit", "dias", "eark", "noark5")
_KINDS: Mapping[Form, str] = {"plain": "files"}
"""What a form is called by whoever names the kind of a source."""
_DEEPEST = 1 + max(mark.count("/") + 1 for mark in MARKER_FILES)
_SEVERAL = 2
_MOST_TOP_FOLDERS = 16
"""A package may lie in one folder of an archive file, with a few others beside it; one of many files has thousands."""


@dataclass(frozen=True, slots=True)
class DetectedForm:
    """A form, the kind of archive file it is packed in (None for a folder or a plain file), and its root: the folder
    that bears the marks, or the archive file."""

    form: Form
    packed: str | None
    root: Path


def detect_form(path: Path, limits: UnpackLimits = LIMITS, *, emit: Listener = ignore_event) -> DetectedForm:
    """What stands at `path`. Raises `FileNotFoundError`, and for a packed place whatever `safe` refuses."""
    if path.is_dir():
        return _detect_in_folder(path)
    if path.exists() and not path.is_file():
        return DetectedForm("plain", None, path)  # a FIFO would keep whoever opens it waiting
    packed = form_of(path)
    if packed is None:
        return DetectedForm("dias" if is_delivery(path) else "plain", None, path)
    return DetectedForm(_form_of_members(path, limits, emit), packed, path)


def detect_form_as(
    path: Path, form: Form, limits: UnpackLimits = LIMITS, *, emit: Listener = ignore_event
) -> DetectedForm:
    """What stands at `path`, read as `form` whatever else it looks like. Raises `UsageFault` where it is no such thing,
    and what `look` raises."""
    detected = _detect_as(path, form, limits, emit)
    if detected is None:
        raise UsageFault(what="not-this-kind", where=str(path), do=_KINDS.get(form, form))
    return detected


def _detect_as(path: Path, form: Form, limits: UnpackLimits, emit: Listener) -> DetectedForm | None:
    packed = form_of(path) if path.is_file() else None
    if form == "plain":
        return DetectedForm(form, packed, path)
    if packed is not None:
        return DetectedForm(form, packed, path) if _form_of_members(path, limits, emit, (form,)) == form else None
    if path.is_dir() and form in _IN_A_FOLDER:
        inner = [entry for entry in sorted(path.iterdir()) if entry.is_dir() and not entry.is_symlink()]
        roots = [
            root for root in (path, *(inner if len(inner) == 1 else ())) if _form_by_markers(root, (form,)) is not None
        ]
        if roots:
            return DetectedForm(form, None, roots[0])
    detected = detect_form(path, limits, emit=emit)
    return detected if detected.form == form else None


def is_extract(folder: Path) -> bool:
    """True where a folder is the top of a Noark 5 extract."""
    return _form_by_markers(folder, ("noark5",)) is not None


def _detect_in_folder(folder: Path) -> DetectedForm:
    form = _form_by_markers(folder)
    if form is not None:
        return DetectedForm(form, None, folder)
    entries = sorted(folder.iterdir())
    inner = [entry for entry in entries if entry.is_dir() and not entry.is_symlink()]
    if len(inner) == 1:
        form = _form_by_markers(inner[0])
        if form == "noark5" or (form is not None and len(entries) == 1):
            return DetectedForm(form, None, inner[0])
    if is_delivery(folder) or _is_lone_dias(entries):
        return DetectedForm("dias", None, folder)
    if any(has_file(folder, mark) and has_folder(folder, beside) for mark, beside in _SIARD_FOLDERS):
        return DetectedForm("siard", None, folder)
    return DetectedForm("plain", None, folder)


def _is_lone_dias(entries: list[Path]) -> bool:
    """True where a folder holds nothing but the tar of a DIAS package; it is not sealed, and still one."""
    if len(entries) != 1 or not entries[0].is_file() or entries[0].suffix.lower() != ".tar":
        return False
    try:
        return detect_form(entries[0]).form == "dias"
    except NoarkitError:
        return False  # whatever it is, it is told when it is read


def _form_by_markers(folder: Path, forms: tuple[Form, ...] = _IN_A_FOLDER) -> Form | None:
    markers = [mark for mark in MARKER_FILES if has_file(folder, mark)]
    if not markers:
        return None
    evidence = FormEvidence()
    for mark in markers:
        evidence.note(mark, partial(head_of, folder / mark))
    with suppress(OSError):  # as far as we may look
        for entry in folder.iterdir():
            evidence.note(entry.name)
    return match_form(evidence, forms)


def _form_of_members(path: Path, limits: UnpackLimits, emit: Listener, forms: tuple[Form, ...] = _ORDER) -> Form:
    """The form of an archive file, one of `forms`. In a bag names may stand that only some system takes for one."""
    try:
        return _form_of_archive(path, limits, emit, forms, twins=False)
    except UnsafeMember as fault:
        if fault.data.get("why") != "twin" or "bagit" not in forms:
            raise
        if _form_of_archive(path, limits, emit, forms, twins=True) != "bagit":
            raise
        return "bagit"


def _form_of_archive(path: Path, limits: UnpackLimits, emit: Listener, forms: tuple[Form, ...], *, twins: bool) -> Form:
    """The form of an archive file, one of `forms`: marks stand at its root, or in a folder there."""
    surely = tuple(form for form in _SURE if form in forms)
    below_top = tuple(form for form in _IN_A_FOLDER if form in forms)
    root, below = FormEvidence(), dict[str, FormEvidence]()
    last: tuple[str, ...] = ()
    tops: set[str] = set()
    for member, content in stream_members(path, limits=limits, twins=twins, emit=emit):
        parts = member.parts
        if len(tops) < _SEVERAL:
            tops.add(parts[0])
        top = below.get(parts[0])
        if top is None and len(parts) > 1 and len(below) < _MOST_TOP_FOLDERS:
            top = below[parts[0]] = FormEvidence()
        near = parts[:_DEEPEST]
        if near == last and near != parts:
            continue  # one more in a folder far from the top
        last = near
        head = partial(content.read, HEAD_BYTES) if near == parts else None
        root.note("/".join(near), head)
        if top is not None:
            top.note("/".join(near[1:]), head if "/".join(near) not in MARKER_FILES else None)
        sure = match_form(root, surely) or (match_form(top, surely) if top is not None else None)
        if sure is not None:
            return sure
    if len(tops) == 1 and form_of(path) == "zip":
        below_top = (
            forms  # a SIARD archive that was unpacked and zipped again has one folder around it, and nothing else
        )
    candidates = [match_form(root, forms), *(match_form(evidence, below_top) for evidence in below.values())]
    return next((form for form in forms if form in candidates), "plain")
