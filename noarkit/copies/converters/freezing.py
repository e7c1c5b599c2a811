"""Makes a temporary copy of a document in which fields show what they showed when it was stored.

LibreOffice computes fields and formulas anew: a letter of 2009 would bear today's date, and be a valid PDF/A all the
same. OOXML and OpenDocument are rewritten, all but their fields byte for byte; of older formats fields are reported.
"""

from __future__ import annotations

import mmap
import re
import shutil
import tempfile
import zipfile
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from noarkit.copies.converters.freezing_codes import field_codes
from noarkit.copies.converters.freezing_edits import Content, PartEditor, UnfitPart
from noarkit.copies.converters.freezing_odf import OdfEditor
from noarkit.copies.converters.freezing_sheets import SheetEditor
from noarkit.copies.converters.freezing_slides import SlideEditor
from noarkit.copies.converters.freezing_word import WordEditor
from noarkit.copies.port import Finding
from noarkit.documents.parts import OfficeFormat, PartKind, office_parts
from noarkit.documents.refusal import DocumentRefused
from noarkit.documents.zipped import Package

FREEZING_REVISION = 1
"""Counts when what is frozen, or how, changes: it is part of what a copy is kept under."""

_MOST_BYTES = 1024**3
_IN_MEMORY_BYTES = 16 * 1024 * 1024
_SKIPPED = "xl/calcChain.xml"


@dataclass(frozen=True, slots=True)
class FreezeReport:
    """What was done. `unfrozen` names fields whose stored value could not be kept."""

    frozen: int = 0
    unfrozen: tuple[str, ...] = ()
    prints_name: bool = False

    @property
    def findings(self) -> tuple[Finding, ...]:
        """A finding where the copy may show something else than the document did."""
        return (Finding("fields", {"unfrozen": list(self.unfrozen)}),) if self.unfrozen else ()


@dataclass(frozen=True, slots=True)
class _PartKind:
    """Which parts of a package an editor is for, and the bytes without which it has nothing to do there."""

    format: OfficeFormat | None
    kinds: tuple[PartKind, ...]
    editor: Callable[..., PartEditor]
    signs: re.Pattern[bytes]


_KINDS = (
    _PartKind(
        "docx",
        ("header", "footer", "footnotes", "endnotes", "settings"),
        WordEditor,
        re.compile(rb"fldChar|fldSimple|dataBinding|updateFields"),
    ),
    _PartKind(
        "xlsx",
        ("worksheet",),
        SheetEditor,
        re.compile(rb"<(?:\w+:)?f[\s>/]|(?:Header|Footer)>|formula>"),
    ),
    _PartKind(
        "pptx",
        ("slide", "slideLayout", "slideMaster", "notesSlide", "notesMaster", "handoutMaster"),
        SlideEditor,
        re.compile(rb"datetime"),
    ),
    _PartKind(None, (), OdfEditor, re.compile(rb"<text:|:formula=|current-date")),
)
_OF_OPEN_DOCUMENT = ("content.xml", "styles.xml")


def freeze_fields(source: Path, target: Path, *, only_volatile: bool = False) -> FreezeReport:
    """Writes `source` to `target` with its fields frozen; writes nothing where there is nothing to freeze.

    `only_volatile` leaves alone what depends on neither clock nor place: for copies in which formulas shall live on.
    """
    if not zipfile.is_zipfile(source):
        codes = field_codes(source)
        return FreezeReport(unfrozen=codes, prints_name="FILENAME" in codes)
    with (
        tempfile.TemporaryDirectory(prefix=".freezing-", dir=target.parent) as name,
        zipfile.ZipFile(source) as package,
    ):
        folder = Path(name)
        kinds = _kinds_of_parts(package)
        editors = {
            member.filename: _editor(package, member, kind, folder, only_volatile)
            for member in package.infolist()
            if (kind := kinds.get(member.filename)) is not None
        }
        if any(editor.edits for editor in editors.values()):
            part = folder / "frozen"
            _rewrite(package, part, folder, editors)
            part.replace(target)
    return FreezeReport(
        frozen=sum(editor.frozen for editor in editors.values()),
        unfrozen=tuple(dict.fromkeys(code for editor in editors.values() for code in editor.unfrozen)),
        prints_name=any(editor.prints_name for editor in editors.values()),
    )


def _kinds_of_parts(archive: zipfile.ZipFile) -> Mapping[str, _PartKind]:
    """The parts that have an editor. Raises `zipfile.BadZipFile` for a package that says too much of itself."""
    try:
        parts = office_parts(Package(archive, tuple(archive.namelist())))
    except DocumentRefused as refused:
        raise zipfile.BadZipFile(str(refused.reason)) from refused
    if parts is None:
        return {}
    kind = next((kind for kind in _KINDS if kind.format == parts.format), _KINDS[-1])
    if kind.format is None:
        return dict.fromkeys(_OF_OPEN_DOCUMENT, kind)
    return dict.fromkeys((*((parts.main,) if kind.format == "docx" else ()), *parts.of(*kind.kinds)), kind)


def _editor(
    package: zipfile.ZipFile, member: zipfile.ZipInfo, kind: _PartKind, folder: Path, only_volatile: bool
) -> PartEditor:
    """The editor of a part, after it has read it; one with nothing to do where the part has no fields."""
    with closing(_Part(package, member, folder)) as part:
        editor = kind.editor(part.content, member.filename, only_volatile=only_volatile)
        if kind.signs.search(part.content) is not None or b"\0" in part.content[:64]:
            try:
                editor.read()
            except UnfitPart:
                editor.abandon()
        return editor


def _rewrite(package: zipfile.ZipFile, target: Path, folder: Path, editors: Mapping[str, PartEditor]) -> None:
    """Copies a package member by member, uncompressed: it is read once and thrown away."""
    with zipfile.ZipFile(target, "w") as copy:
        for member in package.infolist():
            editor = editors.get(member.filename)
            if editor is not None and editor.edits:
                with closing(_Part(package, member, folder)) as part, copy.open(_plain(member), "w") as file:
                    for block in editor.edits.apply(part.content):
                        file.write(block)
            elif member.filename != _SKIPPED and not member.is_dir():
                _copy_member(package, member, copy)


def _plain(member: zipfile.ZipInfo) -> zipfile.ZipInfo:
    plain = zipfile.ZipInfo(member.filename, (1980, 1, 1, 0, 0, 0))
    plain.file_size = member.file_size
    return plain


def _copy_member(package: zipfile.ZipFile, member: zipfile.ZipInfo, copy: zipfile.ZipFile) -> None:
    if member.file_size > _MOST_BYTES:
        raise zipfile.BadZipFile("too large")
    with package.open(member) as source, copy.open(_plain(member), "w") as file:
        shutil.copyfileobj(source, file, 1024 * 1024)


class _Part:
    """One part, in memory or, where it is large, in a file that is mapped into it."""

    def __init__(self, package: zipfile.ZipFile, member: zipfile.ZipInfo, folder: Path) -> None:
        if member.file_size > _MOST_BYTES:
            raise zipfile.BadZipFile("too large")
        self.name = member.filename
        self.content: Content
        if member.file_size <= _IN_MEMORY_BYTES:
            self.content = package.read(member)
            return
        path = folder / "part"
        with package.open(member) as source, path.open("wb") as file:
            shutil.copyfileobj(source, file, 1024 * 1024)
        with path.open("rb") as file:
            self.content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)

    def close(self) -> None:
        """Lets the mapping go."""
        if isinstance(self.content, mmap.mmap):
            self.content.close()
