"""One way to break each rule for DIAS packages: a single change of a good one."""

from __future__ import annotations

import hashlib
import re
import tarfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from samples.packages.copies import BAD_COPIES, COPY, CopiedLetter
from samples.packages.copies import DIAS as DIAS_PREMIS
from samples.packages.describe import seal as described
from samples.packages.dias import METS, OTHER, PREMIS, UUID, DiasDraft, Edit, good_dias, premis, premis_object
from samples.packages.good import PDF, good_draft

Change = Callable[[DiasDraft], object]
LETTER = "content/a/letter.pdf"
_OPERATIONS = "administrative_metadata/repository_operations"


@dataclass(frozen=True, slots=True)
class BadDias:
    """A broken package. `extract` = it holds a Noark 5 extract; `also` are rules that cannot but break with it."""

    code: str
    what: str
    change: Change
    type: str = "SIP"
    extract: bool = False
    also: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The name of its folder."""
        return f"{self.code}-{self.what}"

    def draft(self) -> DiasDraft:
        """The package."""
        draft = good_dias(self.type, extract() if self.extract else None)
        made = self.change(draft)
        return made if isinstance(made, DiasDraft) else draft


def extract() -> dict[str, bytes]:
    """The files of a good Noark 5 extract."""
    draft = good_draft("5.0")
    described(draft)
    return dict(draft.files)


def with_(**changes: object) -> Change:
    """Other settings of the draft."""
    return lambda draft: replace(draft, **changes)  # type: ignore[arg-type]  # fields by name


def without(*names: str) -> Change:
    """Files that are neither there nor listed."""

    def change(draft: DiasDraft) -> None:
        for name in names:
            del draft.files[name]

    return change


def holding(name: str, content: str | bytes) -> Change:
    """A file more, or another content of one."""

    def change(draft: DiasDraft) -> None:
        draft.files[name] = content.encode() if isinstance(content, str) else content

    return change


def late(name: str, content: bytes | None) -> Change:
    """A file that is not as it was listed."""
    return lambda draft: draft.late.update({name: content})


def mets(*edits: tuple[str, str]) -> Change:
    """Another text of dias-mets.xml."""
    return lambda draft: replace(draft, mets=edited(*edits))


def seal(*edits: tuple[str, str]) -> Change:
    """Another text of the submission description."""
    return lambda draft: replace(draft, seal=edited(*edits))


def edited(*edits: tuple[str, str]) -> Edit:
    """Replaces patterns, each of which must be there."""

    def edit(text: str) -> str:
        for pattern, new in edits:
            text, count = re.subn(pattern, new, text, count=1, flags=re.DOTALL)
            if count == 0:
                raise ValueError(f"there is no {pattern!r}")
        return text

    return edit


def _fixity(size: int, digest: str) -> str:
    return (
        "<fixity><messageDigestAlgorithm>SHA-256</messageDigestAlgorithm>"
        f"<messageDigest>{digest}</messageDigest></fixity><size>{size}</size>"
    )


def _stray() -> tarfile.TarInfo:
    return tarfile.TarInfo("stray.txt")


def _weak(text: str) -> str:
    digest = hashlib.md5(PDF, usedforsecurity=False).hexdigest()
    old = f'CHECKSUM="{hashlib.sha256(PDF).hexdigest()}" CHECKSUMTYPE="SHA-256"'
    return text.replace(old, f'CHECKSUM="{digest}" CHECKSUMTYPE="MD5"', 1)


_GROUP = '<fileGrp USE="ArchiveExtraction"></fileGrp></fileGrp>'
_AGENT = '<agent ROLE="IPOWNER" TYPE="ORGANIZATION"><name>Vik kommune</name></agent>\n'
_REPORT = (
    '<file ID="more" MIMETYPE="text/plain" SIZE="1" CREATED="2020-01-02T03:04:05" CHECKSUM="00" CHECKSUMTYPE="SHA-256">'
    '<FLocat LOCTYPE="URL" xlink:type="simple" xlink:href="file:{}"/></file></fileGrp>'
)


def copied(changes: Mapping[str, object], *, gone: bool = False) -> Change:
    """A letter with its archival copy in the content; `gone` leaves out the letter, of which PREMIS still tells."""

    def change(draft: DiasDraft) -> None:
        letter = replace(CopiedLetter("content", DIAS_PREMIS), **changes)  # type: ignore[arg-type]  # fields by name
        files = letter.files()
        if gone:
            files.pop(f"content/{letter.names[0]}")
        draft.files.update(files)
        draft.files[PREMIS] = premis(UUID, letter.entities()).encode()

    return change


BAD_DIAS: tuple[BadDias, ...] = (
    BadDias("DIAS-COPY-SOURCE", "gone", copied({}, gone=True), also=("D404",)),
    BadDias("DIAS-COPY-CHECKSUM", "swapped", copied({"swapped": COPY + b" "}), also=("D405",)),
    *(
        BadDias(f"DIAS-COPY-{rule}", what, copied(changes))
        for rule, ways in BAD_COPIES.items()
        for what, changes in ways
    ),
    BadDias("D101", "gzip", with_(packed=True)),
    BadDias("D102", "no-top-folder", with_(top="")),
    BadDias("D103", "other-top-folder", with_(top="delivery")),
    BadDias("D104", "no-mets", late(METS, None)),
    BadDias("D105", "no-premis", without(PREMIS)),
    BadDias("D106", "no-log", without("log.xml")),
    BadDias("D107", "no-schema", without("dias-mets.xsd")),
    BadDias("D107", "no-schema-of-ead", without("descriptive_metadata/ead.xsd"), "AIP"),
    BadDias("D108", "no-ead", without("descriptive_metadata/ead.xml"), "AIP"),
    BadDias("D108", "no-eac", without("descriptive_metadata/eac-cpf.xml"), "AIP"),
    BadDias("D109", "no-copy-of-the-description", without("administrative_metadata/arkivuttrekk.xml"), "AIP", True),
    BadDias("D111", "no-content", without(LETTER, "content/b.txt")),
    BadDias("D113", "backslashes", with_(spelt=lambda name: name.replace("/", "\\"))),
    BadDias("D113", "latin-1", lambda draft: _latin(draft)),
    BadDias("D115", "beside", with_(beside=(_stray(),))),
    BadDias("D201", "malformed", mets(("</mets>", ""))),
    BadDias("D201", "doctype", mets(("<mets ", "<!DOCTYPE mets><mets "))),
    BadDias("D202", "no-document-id", mets(("<metsDocumentID>.*</metsDocumentID>\n", ""))),
    BadDias("D202", "mime", mets(("text/plain", "application/pdf"))),
    BadDias("D203", "old-namespace", mets(("http://arkivverket.no/standarder/METS", "http://www.loc.gov/METS/"))),
    BadDias("D204", "group-beside-files", mets(("</fileGrp>", _GROUP))),
    BadDias("D205", "no-uuid", lambda draft: _nameless(draft)),
    BadDias("D206", "no-owner", mets((_AGENT, ""))),
    BadDias(
        "D207", "no-agreement", lambda draft: _both(draft, ('<altRecordID TYPE="SUBMISSION.*?</altRecordID>\n', ""))
    ),
    BadDias("D208", "other-profile", mets(("RA_METS_eARD", "other"))),
    BadDias("D209", "not-a-day", lambda draft: _both(draft, (">2017-01-01<", ">the beginning<"))),
    BadDias("D301", "missing", late(LETTER, None)),
    BadDias("D302", "left-out", mets(("</fileGrp>", _REPORT.format(f"{_OPERATIONS}/report.html")))),
    BadDias("D303", "unlisted", late("content/more.txt", b"more")),
    BadDias(
        "D304",
        "twice",
        mets((r'<file ID="fileId_4"(.*?)</file>\n', r'<file ID="fileId_4"\1</file>\n<file ID="x"\1</file>')),
    ),
    BadDias("D305", "size", mets((f'SIZE="{len(PDF)}"', 'SIZE="7"'))),
    BadDias("D306", "checksum", late(LETTER, PDF.replace(b"1", b"2", 1))),
    BadDias("D307", "leads-out", mets(("</fileGrp>", _REPORT.format("../../etc/passwd")))),
    BadDias("D308", "no-checksum", lambda draft: _unproven(draft), also=("D203",)),
    BadDias("D309", "weak", with_(mets=_weak)),
    BadDias("D401", "malformed", holding(PREMIS, "<premis>")),
    BadDias("D402", "no-version", holding(PREMIS, premis(UUID).replace(' version="2.0"', ""))),
    BadDias("D403", "of-another", holding(PREMIS, premis(OTHER))),
    BadDias(
        "D404", "unknown-file", holding(PREMIS, premis(UUID, premis_object(f"{UUID}/1", "", "content/nothing.pdf")))
    ),
    BadDias("D405", "another-size", holding(PREMIS, premis(UUID, premis_object("x", _fixity(7, "00"), LETTER)))),
    BadDias("D501", "no-description", with_(sealed=False)),
    BadDias("D503", "malformed", seal(("</mets>", ""))),
    BadDias("D504", "schema", seal(('RECORDSTATUS="NEW"', 'RECORDSTATUS="OLD"'))),
    BadDias("D505", "of-another", seal((f"UUID:{UUID}", f"UUID:{OTHER}"))),
    BadDias("D506", "no-mets", seal((r'<file ID="fileId_1".*?</file>\n', ""))),
    BadDias("D507", "size", seal(('SIZE="[0-9]+"', 'SIZE="7"'))),
    BadDias("D508", "checksum", seal(('CHECKSUM="[0-9a-f]+"', f'CHECKSUM="{"0" * 64}"'))),
    BadDias("D509", "other-name", with_(description_name="info")),
    BadDias("D510", "other-agreement", seal(("2020/17", "2020/18"))),
    BadDias("D601", "no-ead", holding("descriptive_metadata/ead.xml", "<other/>"), "AIP"),
)


def _both(draft: DiasDraft, *edits: tuple[str, str]) -> DiasDraft:
    return replace(draft, mets=edited(*edits), seal=edited(*edits))


def _nameless(draft: DiasDraft) -> DiasDraft:
    return _both(draft, (f"UUID:{UUID}", "UUID:vik-2020"))


def _unproven(draft: DiasDraft) -> DiasDraft:
    """In the old namespace alone a file may have no checksum."""
    old = ("http://arkivverket.no/standarder/METS", "http://www.loc.gov/METS/")
    return replace(draft, mets=edited(old, (r' CHECKSUM="[0-9a-f]+" CHECKSUMTYPE="SHA-256"', "")))


def _latin(draft: DiasDraft) -> DiasDraft:
    """A name in Latin-1, as the writers of older systems have it."""
    draft.files["content/blå.txt"] = b"blue"
    return replace(draft, spelt=lambda name: name.replace("å", "\udce5"))
