"""Which files of a payload go where in a new package, under which names, and which are left out of it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, islice
from pathlib import Path
from types import MappingProxyType

from noarkit.errors import ItemNotAFile, ItemUnreadable, PackageFault, SourceFault, UnsafePath
from noarkit.extraction.naming import Naming
from noarkit.extraction.payload import EMPTY_FOLDER, FOLDER, NOT_CARRIED, SECRETS, Part, Payload
from noarkit.extraction.statements import describes
from noarkit.forms.container.building import File
from noarkit.forms.container.sinks import form_of_target
from noarkit.forms.registry import known_forms
from noarkit.safe.csv_files import write_csv
from noarkit.safe.keys import key_of
from noarkit.safe.portable import portable_part, portable_path, repaired_path

NOARK = "noark5"
TOO_LONG = "path-too-long"
_SHOWN = 20
_FOLDERS: Mapping[str, str] = MappingProxyType({"originals": "original/", "copies": "archive/", "access": "access/"})
_CODES: Mapping[str, str] = MappingProxyType(
    {NOT_CARRIED: "", SECRETS: "", FOLDER: ItemUnreadable.code, TOO_LONG: UnsafePath.code}
)


@dataclass(frozen=True, slots=True)
class PartPlacement:
    """A part on its way: the folder that stands before its names, and where those begin in the package."""

    part: Part
    folder: str
    base: str

    @property
    def above(self) -> str:
        """All that stands before the name of a file in the package."""
        return self.base + self.folder

    def files(self) -> Iterator[File]:
        """Every file under its name there."""
        for file, _ in self.part.named_files():
            yield self.folder + file[0], *file[1:]


def place_parts(payload: Payload, form: str) -> tuple[PartPlacement, ...]:
    """What of a payload goes into a package of a form."""
    product, several = known_forms().product(form), len(payload.parts) > 1
    form_of_source = known_forms().find(payload.form)
    paired = any(part.role for part in payload.parts)
    if product.whole and not paired and (form_of_source is None or form_of_source.layout != "file"):
        bare = form_of_source is None or form_of_source.layout == "extract" or form_of_source.takes_whole
        above = "" if bare else f"{portable_part(payload.title)}/"
        return (PartPlacement(payload.whole_part, above, product.content),)
    if product.kind == "extract":
        return tuple(PartPlacement(part, "", "") for part in payload.parts if part.content == "noark5")
    if "{part}" in product.content:
        return tuple(PartPlacement(part, "", product.content.format(part=part.folder)) for part in payload.parts)
    return tuple(_below(product.content, part, several) for part in payload.parts)


def _below(base: str, part: Part, several: bool) -> PartPlacement:
    if part.role:
        # readers look for an extract at the top
        return PartPlacement(part, "" if part.content == "noark5" else _FOLDERS[part.role], base)
    return PartPlacement(part, f"{part.folder}/" if several else "", base)


def rename_payload(payload: Payload, form: str, target: Path, stack: ExitStack) -> Payload:
    """The same payload, whose files have the names that a package can bear. Names go with `stack`."""
    renamed_parts = {
        id(placement.part): _rename_part(placement.part, form, target, stack)
        for placement in place_parts(payload, form)
    }
    parts = tuple(renamed_parts.get(id(part), part) for part in payload.parts)
    whole_part = renamed_parts.get(id(payload.whole_part), payload.whole_part)
    set_aside = {**payload.set_aside}
    for part in renamed_parts.values():
        set_aside |= dict.fromkeys(part.naming.too_long() if part.naming is not None else (), TOO_LONG)
    return replace(payload, parts=parts, whole_part=whole_part, set_aside=set_aside)


def _rename_part(part: Part, form: str, target: Path, stack: ExitStack) -> Part:
    # an extract names its own documents, and is looked up by what it says
    rule = repaired_path if part.content == "noark5" else portable_path
    apart = form != NOARK or form_of_target(target) != "folder"
    naming = stack.enter_context(Naming(lambda: (file[0] for file in part.files()), rule, apart=apart))
    if next(naming.too_long(), None) is None:
        return replace(part, naming=naming)
    return replace(part, naming=naming, files=partial(_fitting_files, part, naming))


def _fitting_files(part: Part, naming: Naming) -> Iterator[File]:
    return (file for file in part.files() if naming.fits(naming.of(file[0])))


def renamed_files(payload: Payload, form: str) -> Iterator[tuple[str, str]]:
    """Every file that is called otherwise in the package: its path there, and the key of its original name."""
    for placement in place_parts(payload, form):
        if placement.part.naming is not None:
            for new_name, key in placement.part.naming.list_renamed():
                yield placement.above + new_name, key


@dataclass(slots=True)
class LeftOut:
    """What the new package does not hold: by key, with the code of why and its kind."""

    payload: Payload
    form: str
    rows: dict[str, tuple[str, str]] = field(default_factory=dict)
    files: int = 0
    bytes: int = 0

    def __post_init__(self) -> None:
        for name, kind in self.payload.set_aside.items():
            if kind != NOT_CARRIED or not self._goes_along(name):
                self.rows[key_of(os.fsencode(name)) if kind != TOO_LONG else name] = (_code(kind), kind)

    @property
    def empty(self) -> tuple[str, ...]:
        """Folders without anything, which no form holds."""
        return () if self.form == NOARK else self.payload.empty

    def _goes_along(self, name: str) -> bool:
        """True for what goes into the package beside the content: a bag takes another package whole, and the others
        have places for what describes it."""
        form_of_source = known_forms().find(self.payload.form)
        loose = form_of_source is None or form_of_source.layout == "file"
        if known_forms().product(self.form).whole and not loose:
            return True
        return self.form != NOARK and describes(self.payload.form, name)

    def __call__(self, name: str, size_bytes: int, fault: SourceFault) -> None:
        """A file that cannot be read, by its name in the package."""
        self.files += 1
        self.bytes += size_bytes
        self.rows[self._key(name)] = (fault.code, str(fault.data.get("why", "")))

    def _key(self, name: str) -> str:
        for placement in place_parts(self.payload, self.form):
            if name.startswith(placement.above):
                new_name = name.removeprefix(placement.above)
                original = placement.part.naming.original(new_name) if placement.part.naming is not None else ""
                return placement.folder + (original or key_of(new_name.encode()))
        return name

    def write(self, target: Path) -> int:
        """Writes the list beside the package, where there is anything to tell; says how many are set aside."""
        empty = {key_of(os.fsencode(name)): ("", EMPTY_FOLDER) for name in self.empty}
        if entries := {**empty, **self.rows}:
            rows = ((key, code, kind) for key, (code, kind) in sorted(entries.items()))
            write_csv(set_aside_path(target), ("key", "code", "kind"), rows)
        return len(self.rows)


def _code(kind: str) -> str:
    return _CODES.get(kind, ItemNotAFile.code)


def write_names(target: Path, payload: Payload, form: str) -> int:
    """Writes beside the package what is called otherwise in it, where anything is; says how many."""
    count = sum(
        placement.part.naming.count for placement in place_parts(payload, form) if placement.part.naming is not None
    )
    if count:
        write_csv(names_path(target), ("name", "original"), renamed_files(payload, form))
    return count


def require_unchanged(source: Path, target: Path, payload: Payload, left_out: LeftOut) -> None:
    """Raises `PackageFault` where anything is called otherwise or left out, with all of it in the lists."""
    changed, aside = write_names(target, payload, left_out.form), left_out.write(target)
    if not changed and not aside:
        return
    first = list(islice(chain((key for _, key in renamed_files(payload, left_out.form)), left_out.rows), _SHOWN))
    lists = [str(path) for path, count in ((names_path(target), changed), (set_aside_path(target), aside)) if count]
    summary = ", ".join(first) + (" …" if changed + aside > _SHOWN else "")
    raise PackageFault(where=str(source), why="strict-names", detail=f"{summary}; {', '.join(lists)}")


def set_aside_path(target: Path) -> Path:
    """Where the list of what was set aside stands."""
    return target.parent / f"{target.name}.set-aside.csv"


def names_path(target: Path) -> Path:
    """Where the list of what is called otherwise stands."""
    return target.parent / f"{target.name}.names.csv"
