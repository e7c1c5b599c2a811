"""Which form a place has, found by looking: at first bytes and at what lies inside, never at how it is called.

detect_form(Path("delivery.bin"))     DetectedForm(form="eark", packed="zip", root=Path("delivery.bin"))
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

from noarkit.errors import PackageFault, UnsafeMember, UsageFault
from noarkit.events import Listener, ignore_event
from noarkit.forms.form_markers import HEAD_BYTES, FormEvidence, head_of
from noarkit.forms.package_form import PLAIN, DetectedForm, FormName, PackageForm
from noarkit.forms.registry import FILES, known_forms
from noarkit.safe.paths import has_file
from noarkit.safe.unpack import LIMITS, UnpackLimits, form_of, members, stream_members
from noarkit.words.texts import texts

_SEVERAL = 2
_MOST_NOTED, _DEEPEST = 5_000, 2
"""So much of a folder is looked at for the remnants of a package: names, and steps down."""
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
        return _detect_without_marks(path)
    return _look_into_archive(path, limits, emit, known_forms().by_rank)


def detect_place(path: Path, limits: UnpackLimits = LIMITS, *, emit: Listener = ignore_event) -> DetectedForm | None:
    """The same; None for what cannot be looked at, which whoever reads it tells, and for one packed file that is no
    archive file. Raises what `detect_form` raises of an archive file of files."""
    try:
        return detect_form(path, limits, emit=emit)
    except OSError:
        return None
    except PackageFault:
        if _holds_files(path):
            raise  # it would be one file, and nobody would be told of those it holds
        return None


def _holds_files(path: Path) -> bool:
    """True for an archive file of files, be it broken or locked; false for one packed file that only looks like it."""
    if form_of(path) in ("zip", "tar"):
        return True
    try:
        return next(members(path), None) is not None
    except PackageFault:
        return False


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
        return (
            DetectedForm(name, packed, path) if _look_into_archive(path, limits, emit, (form,)).form == name else None
        )
    if path.is_dir() and form.in_folder:
        inner = [entry for entry in sorted(path.iterdir()) if entry.is_dir() and not entry.is_symlink()]
        roots = [
            root for root in (path, *(inner if len(inner) == 1 else ())) if _form_by_markers(root, (form,)) is not None
        ]
        if roots:
            return DetectedForm(name, None, roots[0])
    detected = detect_form(path, limits, emit=emit)
    return detected if detected.form == name else None


def remnant_fault(where: str, detected: DetectedForm) -> PackageFault:
    """The fault that says what a place was meant to be, and what it lacks."""
    why = f"meant-{detected.meant}"
    return PackageFault(
        where=where,
        why=why if texts("en").has("reasons", why) else "meant-package",
        detail=detected.lacks,
        validate=shlex.join(("noarkit", "validate", where)),
        kind=FILES,
    )


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
        return _with_lacks(DetectedForm(form.name, None, folder), form, _deep_evidence(folder))
    entries = sorted(folder.iterdir())
    inner = [entry for entry in entries if entry.is_dir() and not entry.is_symlink()]
    if len(inner) == 1:
        form = _form_by_markers(inner[0], _forms_of_folders())
        if form is not None and (form.beside_others or len(entries) == 1):
            return _with_lacks(DetectedForm(form.name, None, inner[0]), form, _deep_evidence(inner[0]))
    detected = _detect_without_marks(folder)
    if detected.form != PLAIN or detected.meant:
        return detected
    for root in (folder, *(inner if len(inner) == 1 else ())):
        evidence = _deep_evidence(root)
        if (remnant := _remnant(DetectedForm(PLAIN, None, root), evidence)) is not None:
            return remnant
    return detected


def _detect_without_marks(path: Path) -> DetectedForm:
    """A place that has no marks and is known all the same, or that can only be meant as one."""
    forms = known_forms().by_rank
    form = next((form.name for form in forms if form.stands_at(path)), PLAIN)
    meant_form, lacks = next(((form.name, lacks) for form in forms if (lacks := _lacks_at(form, path))), ("", ""))
    return DetectedForm(form, None, path, meant_form, lacks) if form == PLAIN else DetectedForm(form, None, path)


def _lacks_at(form: PackageForm, path: Path) -> str:
    try:
        return form.lacks_at(path)
    except OSError:
        return ""  # as far as we may look


def _with_lacks(detected: DetectedForm, form: PackageForm, evidence: FormEvidence) -> DetectedForm:
    """What has the marks of a form, with what it lacks all the same."""
    lacks = form.lacks(evidence)
    return replace(detected, meant=form.name, lacks=lacks) if lacks else detected


def _remnant(detected: DetectedForm, *seen: FormEvidence) -> DetectedForm | None:
    """What has no form and can only be meant as one, by what was seen of it; None for anything else."""
    for form in known_forms().by_rank:
        for evidence in seen:
            if lacks := form.lacks(evidence):
                return replace(detected, meant=form.name, lacks=lacks)
    return None


def _deep_evidence(folder: Path) -> FormEvidence:
    """What is seen of a folder and, in folders that some form looks for, of what is in them."""
    evidence = _evidence()
    for mark in known_forms().marker_files:
        if has_file(folder, mark):
            evidence.note(mark, partial(head_of, folder / mark))
    budget = iter(range(_MOST_NOTED))
    waiting = [(folder, "")]
    for place, above in waiting:  # it grows while it is gone through
        with suppress(OSError), os.scandir(place) as entries:  # as far as we may look
            for _, entry in zip(budget, entries, strict=False):
                name = above + entry.name
                evidence.note(name)
                if name.count("/") < _DEEPEST and entry.is_dir(follow_symlinks=False) and _is_sought(name, evidence):
                    waiting.append((place / entry.name, f"{name}/"))
    return evidence


def _is_sought(folder: str, evidence: FormEvidence) -> bool:
    """True for a folder in which some form looks for parts of its own."""
    return any(pattern.fullmatch(f"{folder}/-") for pattern in evidence.patterns)


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


def _look_into_archive(
    path: Path, limits: UnpackLimits, emit: Listener, forms: tuple[PackageForm, ...]
) -> DetectedForm:
    """The form of an archive file, one of `forms`. In some of them names may stand that only some system takes for
    one."""
    try:
        return _detect_in_archive(path, limits, emit, forms, twins=False)
    except UnsafeMember as fault:
        with_twins = {form.name for form in forms if form.holds_twins}
        if fault.data.get("why") != "twin" or not with_twins:
            raise
        detected = _detect_in_archive(path, limits, emit, forms, twins=True)
        if detected.form not in with_twins:
            raise
        return detected


def _detect_in_archive(
    path: Path, limits: UnpackLimits, emit: Listener, forms: tuple[PackageForm, ...], *, twins: bool
) -> DetectedForm:
    """The form of an archive file, one of `forms`: marks stand at its root, or in a folder there."""
    packed = form_of(path)
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
            return DetectedForm(sure.name, packed, path)
    if len(tops) == 1 and packed == "zip":
        # a SIARD archive that was unpacked and zipped again has one folder around it, and nothing else
        below_top = forms
    candidates = [match_form(root, forms), *(match_form(evidence, below_top) for evidence in below.values())]
    found_form = next((form for form in forms if form in candidates), None)
    if found_form is None:
        plain = DetectedForm(PLAIN, packed, path)
        return _remnant(plain, root, *(below.values() if len(tops) == 1 else ())) or plain
    owner = root if candidates[0] is found_form else list(below.values())[candidates.index(found_form) - 1]
    return _with_lacks(DetectedForm(found_form.name, packed, path), found_form, owner)
