"""Which form a place has, found by looking: at first bytes and at what lies inside, never at how it is called.

detect_form(Path("delivery.bin"))     DetectedForm(form="eark", packed="zip", root=Path("delivery.bin"))
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from functools import partial
from pathlib import Path

from noarkit.errors import UnsafeMember, UsageFault
from noarkit.events import Listener, ignore_event
from noarkit.forms.form_markers import HEAD_BYTES, FormEvidence, head_of
from noarkit.forms.package_form import PLAIN, DetectedForm, FormName, PackageForm
from noarkit.forms.registry import FILES, known_forms
from noarkit.safe.paths import has_file
from noarkit.safe.unpack import LIMITS, UnpackLimits, form_of, stream_members

_SEVERAL = 2
_MOST_TOP_FOLDERS = 16
"""A package may lie in one folder of an archive file, with a few others beside it; one of many files has thousands."""


def detect_form(path: Path, limits: UnpackLimits = LIMITS, *, emit: Listener = ignore_event) -> DetectedForm:
    """What stands at `path`. Raises `FileNotFoundError`, and for a packed place whatever `safe` refuses."""
    if path.is_dir():
        return _detect_in_folder(path)
    if path.exists() and not path.is_file():
        return DetectedForm(PLAIN, None, path)  # a FIFO would keep whoever opens it waiting
    packed = form_of(path)
    if packed is None:
        return DetectedForm(_form_standing_at(path), None, path)
    return DetectedForm(_form_of_members(path, limits, emit, known_forms().by_rank), packed, path)


def detect_form_as(
    path: Path, form: FormName, limits: UnpackLimits = LIMITS, *, emit: Listener = ignore_event
) -> DetectedForm:
    """What stands at `path`, read as `form` whatever else it looks like. Raises `UsageFault` where it is no such thing,
    and what `detect_form` raises."""
    detected = _detect_as(path, form, limits, emit)
    if detected is None:
        raise UsageFault(what="not-this-kind", where=str(path), do=FILES if form == PLAIN else form)
    return detected


def _detect_as(path: Path, name: FormName, limits: UnpackLimits, emit: Listener) -> DetectedForm | None:
    packed = form_of(path) if path.is_file() else None
    if name == PLAIN:
        return DetectedForm(name, packed, path)
    form = known_forms().form(name)
    if packed is not None:
        return DetectedForm(name, packed, path) if _form_of_members(path, limits, emit, (form,)) == name else None
    if path.is_dir() and form.in_folder:
        inner = [entry for entry in sorted(path.iterdir()) if entry.is_dir() and not entry.is_symlink()]
        roots = [
            root for root in (path, *(inner if len(inner) == 1 else ())) if _form_by_markers(root, (form,)) is not None
        ]
        if roots:
            return DetectedForm(name, None, roots[0])
    detected = detect_form(path, limits, emit=emit)
    return detected if detected.form == name else None


def is_extract(folder: Path) -> bool:
    """True if a folder is the top of a Noark 5 extract."""
    return _form_by_markers(folder, (known_forms().form("noark5"),)) is not None


def match_form(evidence: FormEvidence, forms: Iterable[PackageForm]) -> PackageForm | None:
    """The first of these forms that a place has."""
    return next((form for form in forms if form.looks_like(evidence)), None)


def _evidence() -> FormEvidence:
    return FormEvidence(known_forms().marker_files, known_forms().parts)


def _forms_of_folders() -> tuple[PackageForm, ...]:
    return tuple(form for form in known_forms().by_rank if form.in_folder)


def _detect_in_folder(folder: Path) -> DetectedForm:
    form = _form_by_markers(folder, _forms_of_folders())
    if form is not None:
        return DetectedForm(form.name, None, folder)
    entries = sorted(folder.iterdir())
    inner = [entry for entry in entries if entry.is_dir() and not entry.is_symlink()]
    if len(inner) == 1:
        form = _form_by_markers(inner[0], _forms_of_folders())
        if form is not None and (form.beside_others or len(entries) == 1):
            return DetectedForm(form.name, None, inner[0])
    return DetectedForm(_form_standing_at(folder), None, folder)


def _form_standing_at(path: Path) -> FormName:
    """The form of a place that has no marks and is known all the same."""
    return next((form.name for form in known_forms().by_rank if form.stands_at(path)), PLAIN)


def _form_by_markers(folder: Path, forms: Iterable[PackageForm]) -> PackageForm | None:
    markers = [mark for mark in known_forms().marker_files if has_file(folder, mark)]
    if not markers:
        return None
    evidence = _evidence()
    for mark in markers:
        evidence.note(mark, partial(head_of, folder / mark))
    with suppress(OSError):  # as far as we may look
        for entry in folder.iterdir():
            evidence.note(entry.name)
    return match_form(evidence, forms)


def _form_of_members(path: Path, limits: UnpackLimits, emit: Listener, forms: tuple[PackageForm, ...]) -> FormName:
    """The form of an archive file, one of `forms`. In some of them names may stand that only some system takes for
    one."""
    try:
        return _form_of_archive(path, limits, emit, forms, twins=False)
    except UnsafeMember as fault:
        with_twins = {form.name for form in forms if form.holds_twins}
        if fault.data.get("why") != "twin" or not with_twins:
            raise
        name = _form_of_archive(path, limits, emit, forms, twins=True)
        if name not in with_twins:
            raise
        return name


def _form_of_archive(
    path: Path, limits: UnpackLimits, emit: Listener, forms: tuple[PackageForm, ...], *, twins: bool
) -> FormName:
    """The form of an archive file, one of `forms`: marks stand at its root, or in a folder there."""
    surely = tuple(form for form in forms if form.sure)
    below_top = tuple(form for form in forms if form.in_folder)
    marker_files, deepest = known_forms().marker_files, known_forms().deepest
    root, below = _evidence(), dict[str, FormEvidence]()
    last: tuple[str, ...] = ()
    tops: set[str] = set()
    for member, content in stream_members(path, limits=limits, twins=twins, emit=emit):
        parts = member.parts
        if len(tops) < _SEVERAL:
            tops.add(parts[0])
        top = below.get(parts[0])
        if top is None and len(parts) > 1 and len(below) < _MOST_TOP_FOLDERS:
            top = below[parts[0]] = _evidence()
        near = parts[:deepest]
        if near == last and near != parts:
            continue  # one more in a folder far from the top
        last = near
        head = partial(content.read, HEAD_BYTES) if near == parts else None
        root.note("/".join(near), head)
        if top is not None:
            top.note("/".join(near[1:]), head if "/".join(near) not in marker_files else None)
        sure = match_form(root, surely) or (match_form(top, surely) if top is not None else None)
        if sure is not None:
            return sure.name
    if len(tops) == 1 and form_of(path) == "zip":
        # a SIARD archive that was unpacked and zipped again has one folder around it, and nothing else
        below_top = forms
    candidates = [match_form(root, forms), *(match_form(evidence, below_top) for evidence in below.values())]
    return next((form.name for form in forms if form in candidates), PLAIN)
