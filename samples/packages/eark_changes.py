"""One change of a good E-ARK package, and the broken package that it makes, with its good twin."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from samples.packages.eark import REP, Draft, file, package_mets, payload, seal

Change = Callable[[Draft], None]
METS = "METS.xml"
REP_METS = f"{REP}/METS.xml"
PREMIS = "metadata/preservation/premis.xml"
EAD, RIGHTS = "metadata/descriptive/ead.xml", "metadata/other/rights.xml"


@dataclass(frozen=True, slots=True)
class BadPackage:
    """A broken package. `before` changes what is described, `after` the description; `packed` = how it is packed.

    `also` are rules that cannot but be broken with it. `shape` makes another good package of it first, which is its
    good twin then; `shape_breaks` are the recommendations that this one goes without.
    """

    code: str
    what: str
    after: Change | None = None
    before: Change | None = None
    kind: str = "SIP"
    version: str = "2.2.0"
    packed: str = "folder"
    also: tuple[str, ...] = ()
    shape: Change | None = None
    shape_breaks: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """What it is called."""
        return f"{self.code}-{self.what}"

    def draft(self) -> Draft:
        """The package, broken and described."""
        return self._draft(self.before, self.after)

    def twin(self) -> Draft:
        """The same package without that change, which breaks nothing but `shape_breaks`."""
        return self._draft(None, None)

    @property
    def twin_packed(self) -> str:
        """How the twin is packed: alike, in a form that is recommended."""
        return next((form for form in ("zip", "tar") if form in self.packed), "folder")

    def _draft(self, before: Change | None, after: Change | None) -> Draft:
        draft = Draft(self.kind, self.version, payload(self.version))
        if before is not None:
            before(draft)
        seal(draft)
        for change in (self.shape, after):
            if change is not None:
                change(draft)
        return draft


def swap(old: str, new: str, name: str = METS, count: int = 1) -> Change:
    """Replaces a text."""
    return lambda draft: draft.edit(name, old, new, count)


def cut(pattern: str, new: str = "", name: str = METS) -> Change:
    """Replaces whatever a pattern finds first."""

    def change(draft: Draft) -> None:
        text, count = re.subn(pattern, new, draft.files[name].decode(), count=1, flags=re.DOTALL)
        if not count:
            raise ValueError(f"{pattern} is not in {name}")
        draft.files[name] = text.encode()

    return change


def cut_all(pattern: str, new: str = "", name: str = METS) -> Change:
    """Replaces whatever a pattern finds, wherever it does."""

    def change(draft: Draft) -> None:
        draft.files[name] = re.sub(pattern, new, draft.files[name].decode()).encode()

    return change


def within(begin: str, pattern: str, new: str = "", name: str = METS) -> Change:
    """The same behind the first place where a text stands."""
    return cut(f"({re.escape(begin)}.*?){pattern}", rf"\g<1>{new}", name)


def both(*changes: Change) -> Change:
    """Several changes that are one."""

    def change(draft: Draft) -> None:
        for one in changes:
            one(draft)

    return change


def put(name: str, content: bytes) -> Change:
    """A file more, or another."""

    def change(draft: Draft) -> None:
        draft.files[name] = content

    return change


def gone(*names: str) -> Change:
    """Files less."""

    def change(draft: Draft) -> None:
        for name in names:
            del draft.files[name]

    return change


def renamed(old: str, new: str) -> Change:
    """A file under another name."""

    def change(draft: Draft) -> None:
        draft.files[new] = draft.files.pop(old)

    return change


def called(top: str) -> Change:
    """Another name of the folder."""

    def change(draft: Draft) -> None:
        draft.top = top

    return change


def everywhere(old: str, new: str, name: str = METS) -> Change:
    """Replaces a text wherever it stands."""
    return swap(old, new, name, -1)


def in_representation(*changes: Change) -> Change:
    """Changes of the METS document of the representation, before that of the package lists it."""

    def change(draft: Draft) -> None:
        both(*changes)(draft)
        draft.files[METS] = package_mets(draft).encode()

    return change


def _whole(draft: Draft) -> None:
    """Makes the package one without a METS document of its representation."""
    del draft.files[REP_METS]
    del draft.files[f"{REP}/{PREMIS}"]
    name = f"{REP}/data/sub/b.txt"
    del draft.files[name]
    text = draft.files[METS].decode()
    begin, _, rest = text.partition('<file ID="file-rep"')
    _, _, end = rest.partition("</file>\n")
    content = draft.files[f"{REP}/data/a.txt"]
    text = begin + file("file-a", f"{REP}/data/a.txt", content, formats=True) + end
    div = '<div ID="div-rep" LABEL="Representations">\n<fptr FILEID="grp-rep"/>\n</div>\n'
    draft.files[METS] = re.sub(r'<div ID="div-rep".*?</div>\n', div, text, flags=re.DOTALL).encode()


_WHOLE = ("CSIPSTR12", "CSIPSTR13")


def content_case(code: str, what: str, after: Change, also: tuple[str, ...] = ()) -> BadPackage:
    """A package that has its content without a METS document of its representation."""
    return BadPackage(code, what, after, also=also, shape=_whole, shape_breaks=_WHOLE)
