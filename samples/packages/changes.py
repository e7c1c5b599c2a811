"""Single changes of a package: what `bad` is made of. Each says of itself that it changed something."""

from __future__ import annotations

import hashlib
import io
import re
import zipfile
from collections.abc import Callable

from noarkit.forms.noark5 import spec
from samples.packages.good import Draft, unit_id

STRUCTURE, CHANGES = "arkivstruktur.xml", "endringslogg.xml"
RUNNING, PUBLIC, DESCRIPTION = "loependeJournal.xml", "offentligJournal.xml", "arkivuttrekk.xml"
Change = Callable[[Draft], None]
NOWHERE = unit_id("nowhere")
_ENTRY = "<journalregistrering>.*?</journalregistrering>\n"
_OBJECT = "<dokumentobjekt>.*?</dokumentobjekt>\n"


def edit(file: str, old: str, new: str, count: int = 1) -> Change:
    """Changes a text once."""
    return lambda draft: draft.edit(file, old, new, count)


def all_of(*changes: Change) -> Change:
    """Several changes that make one."""

    def change(draft: Draft) -> None:
        for each in changes:
            each(draft)

    return change


def gone(*files: str) -> Change:
    """Takes files away."""

    def change(draft: Draft) -> None:
        for file in files:
            del draft.files[file]

    return change


def added(file: str, content: bytes) -> Change:
    """Puts a file where none was."""
    return lambda draft: draft.files.update({file: content})


def said(name: str, value: str) -> Change:
    """Lets the package say something else of itself."""
    return lambda draft: draft.said.update({name: value})


def replaced(file: str, pattern: str, new: str, count: int = 1) -> Change:
    """Changes what a pattern finds."""

    def change(draft: Draft) -> None:
        text = draft.files[file].decode()
        found, number = re.subn(pattern, new, text, count=count, flags=re.DOTALL)
        if not number:
            raise ValueError(f"{file} holds no {pattern}")
        draft.files[file] = found.encode()

    return change


def first_document(change: Callable[[bytes], bytes | None]) -> Change:
    """Changes the first document file, or takes it away."""

    def act(draft: Draft) -> None:
        name = min(name for name in draft.files if name.startswith(f"{spec.DOCUMENT_FOLDER}/"))
        content = change(draft.files[name])
        if content is None:
            del draft.files[name]
        else:
            draft.files[name] = content

    return act


def moved(element: str, name: str) -> Change:
    """A unit moves to the end of the class that holds a class."""

    def change(draft: Draft) -> None:
        text = draft.files[STRUCTURE].decode()
        at = text.index(f"<systemID>{unit_id(name)}</systemID>")
        begin, end = text.rindex(f"<{element}", 0, at), text.index(f"</{element}>\n", at) + len(f"</{element}>\n")
        moved = text[begin:end]
        rest = text[:begin] + text[end:]
        draft.files[STRUCTURE] = rest.encode()
        draft.edit(STRUCTURE, "</klasse>\n</klasse>\n", f"</klasse>\n{moved}</klasse>\n")

    return change


def moved_record(draft: Draft) -> None:
    """A letter moves from its case file into a meeting folder."""
    text = draft.files[STRUCTURE].decode()
    at = text.index(f"<systemID>{unit_id('journalpost 3')}</systemID>")
    begin, end = text.rindex("<registrering", 0, at), text.index("</registrering>\n", at) + len("</registrering>\n")
    letter, rest = text[begin:end], text[:begin] + text[end:]
    place = rest.index("<registrering", rest.index(unit_id("moetemappe 1")))
    draft.files[STRUCTURE] = (rest[:place] + letter + rest[place:]).encode()


def outside_cases(draft: Draft) -> None:
    """A letter moves from its case file into a plain folder, and the journals cannot hold it."""
    text = draft.files[STRUCTURE].decode()
    at = text.index(f"<systemID>{unit_id('journalpost 3')}</systemID>")
    begin, end = text.rindex("<registrering", 0, at), text.index("</registrering>\n", at) + len("</registrering>\n")
    letter, rest = text[begin:end], text[:begin] + text[end:]
    place = rest.rindex("<registrering", 0, rest.index(unit_id("registrering i mappe 9")))
    draft.files[STRUCTURE] = (rest[:place] + letter + rest[place:]).encode()
    for journal in (RUNNING, PUBLIC):
        fewer_entries(journal)(draft)
        head(journal, "journalSluttDato", "2019-03-02")(draft)


def element(name: str, value: str) -> Change:
    """The first element of that name in arkivstruktur holds something else."""
    return element_in(STRUCTURE, name, value)


def element_in(file: str, name: str, value: str) -> Change:
    """The first element of that name in a file holds something else."""
    return replaced(file, f"<{name}>[^<]*</{name}>", f"<{name}>{value}</{name}>")


def miscounted(name: str) -> Change:
    """The description tells another number."""
    pattern = rf'(<value>//{name}</value>\n</property>\n<property name="value" dataType="integer">\n<value>)\d+'
    return replaced(DESCRIPTION, pattern, r"\g<1>99")


def other_schema(draft: Draft) -> None:
    """The change log names another schema than the catalogue."""
    text = draft.files[DESCRIPTION].decode()
    before, after = text.split('<dataObject name="endringslogg">')
    part, rest = after.split("</dataObject>", 1)
    for name, other in (("metadatakatalog.xsd", "addml.xsd"),):
        one, two = (hashlib.sha256(draft.files[each]).hexdigest() for each in (name, other))
        part = part.replace(name, other).replace(one, two)
    draft.files[DESCRIPTION] = f'{before}<dataObject name="endringslogg">{part}</dataObject>{rest}'.encode()


def other_line_ends(draft: Draft) -> None:
    """A schema travels with other line ends than its checksum was made of."""
    text = draft.files["endringslogg.xsd"]
    draft.files["endringslogg.xsd"] = text.replace(b"\r\n", b"\n") if b"\r\n" in text else text.replace(b"\n", b"\r\n")


def without_vsm(draft: Draft) -> None:
    """Takes away all metadata of the archive's own making."""
    pattern = "<virksomhetsspesifikkeMetadata>.*?</virksomhetsspesifikkeMetadata>\n"
    replaced(STRUCTURE, pattern, "", 0)(draft)
    for name in draft.schemas:
        del draft.files[name]
    draft.schemas.clear()
    draft.said["inneholderVirksomhetsspesifikkeMetadata"] = "false"


def conversions(*formats: tuple[str, str], comment: str = "", years: tuple[int, ...] = (2019, 2019)) -> Change:
    """The first dokumentobjekt with these conversions, each from one format to another, and no others."""

    def change(draft: Draft) -> None:
        text = draft.files[STRUCTURE].decode()
        own = re.search("<dokumentobjekt>.*?</dokumentobjekt>", text, re.DOTALL)
        if own is None:
            raise ValueError("there is no dokumentobjekt")
        told = "".join(
            f"<konvertering><konvertertDato>{year}-06-01T10:00:00</konvertertDato><konvertertAv>Kari</konvertertAv>"
            f"<konvertertFraFormat>{source}</konvertertFraFormat><konvertertTilFormat>{result}</konvertertTilFormat>"
            f"<konverteringsverktoey>Writer</konverteringsverktoey>"
            f"<konverteringskommentar>{comment or 'ingen'}</konverteringskommentar></konvertering>"
            for (source, result), year in zip(formats, years, strict=False)
        )
        bare = re.sub("<konvertering>.*?</konvertering>\n?", "", own[0], flags=re.DOTALL)
        new = bare.replace("</dokumentobjekt>", f"{told}</dokumentobjekt>")
        draft.files[STRUCTURE] = (text[: own.start()] + new + text[own.end() :]).encode()

    return change


def office_text() -> bytes:
    """The container of a text document of Word."""
    kind = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as packed:
        packed.writestr(
            "[Content_Types].xml",
            '<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
            f'<Override PartName="/word/document.xml" ContentType="{kind}"/></Types>',
        )
        packed.writestr("word/document.xml", "<w:document/>")
    return out.getvalue()


def rewritten(content: bytes, algorithm: str = "sha256", name: str = "SHA-256", ending: str = "pdf") -> Change:
    """The first document gets other content, and its dokumentobjekt says so."""

    def change(draft: Draft) -> None:
        text = draft.files[STRUCTURE].decode()
        own = re.findall(_OBJECT, text, re.DOTALL)[0]
        old = _held(own, "referanseDokumentfil")
        new = f"{old.rpartition('.')[0]}.{ending}"
        draft.files.pop(old)
        draft.files[new] = content
        values = {
            "referanseDokumentfil": new,
            "sjekksum": hashlib.new(algorithm, content).hexdigest(),
            "sjekksumAlgoritme": name,
            "filstoerrelse": str(len(content)),
            "format": ending,
        }
        part = own
        for each, value in values.items():
            part = re.sub(f"<{each}>[^<]*<", f"<{each}>{value}<", part, count=1)
        draft.files[STRUCTURE] = text.replace(own, part, 1).encode()

    return change


def astray(draft: Draft) -> None:
    """A document is said to lie outside the package, and does not lie in it."""
    own = re.findall(_OBJECT, draft.files[STRUCTURE].decode(), re.DOTALL)[0]
    path = _held(own, "referanseDokumentfil")
    del draft.files[path]
    draft.edit(STRUCTURE, path, f"../{path}")


def no_documents(draft: Draft) -> None:
    """Takes every document file away."""
    for name in [name for name in draft.files if name.startswith(f"{spec.DOCUMENT_FOLDER}/")]:
        del draft.files[name]


def head(file: str, name: str, value: str) -> Change:
    """The head of a journal says something else."""
    return replaced(file, f"<{name}>[^<]*<", f"<{name}>{value}<")


def more_entries(file: str, id_: str = "") -> Change:
    """A journal holds its last entry once more, under another id where one is given, and its head counts it."""

    def change(draft: Draft) -> None:
        last = re.findall(_ENTRY, draft.files[file].decode(), re.DOTALL)[-1]
        other = re.sub("<systemID>[^<]*<", f"<systemID>{id_}<", last) if id_ else last
        draft.edit(file, last, last + other)
        head(file, "antallJournalposter", str(draft.count(file, "journalregistrering")))(draft)

    return change


def fewer_entries(file: str) -> Change:
    """A journal loses its last entry, and its head does not count it."""

    def change(draft: Draft) -> None:
        last = re.findall(_ENTRY, draft.files[file].decode(), re.DOTALL)[-1]
        draft.edit(file, last, "")
        head(file, "antallJournalposter", str(draft.count(file, "journalregistrering")))(draft)

    return change


def same_number(draft: Draft) -> None:
    """The second letter has the number of the first, wherever it is told."""
    for file in (STRUCTURE, RUNNING, PUBLIC):
        draft.edit(file, "<journalsekvensnummer>2<", "<journalsekvensnummer>1<", 100)


def same_case_number(draft: Draft) -> None:
    """The second case file has the number of the first, wherever it is told."""
    for file in (STRUCTURE, RUNNING, PUBLIC):
        draft.edit(file, "<sakssekvensnummer>2<", "<sakssekvensnummer>1<", 100)


def screening(name: str, what: str) -> Change:
    """Something else is withheld of a unit."""
    return replaced(STRUCTURE, f"(<systemID>{unit_id(name)}<.*?<skjermingMetadata>)[^<]*", rf"\g<1>{what}")


def nothing_to_show(draft: Draft) -> None:
    """No document has a file, and no file is there."""
    no_documents(draft)
    replaced(STRUCTURE, _OBJECT, "", 0)(draft)


def outside_documents(draft: Draft) -> None:
    """A document lies in another folder than that for documents."""
    own = re.findall(_OBJECT, draft.files[STRUCTURE].decode(), re.DOTALL)[0]
    path = _held(own, "referanseDokumentfil")
    elsewhere = path.replace(f"{spec.DOCUMENT_FOLDER}/", "vedlegg/", 1)
    draft.files[elsewhere] = draft.files.pop(path)
    draft.edit(STRUCTURE, path, elsewhere)


def swapped_entries(draft: Draft) -> None:
    """The first two entries of the running journal change places."""
    one, two, *_ = re.findall(_ENTRY, draft.files[RUNNING].decode(), re.DOTALL)
    draft.edit(RUNNING, one + two, two + one)


def _held(text: str, name: str) -> str:
    return str(re.findall(f"<{name}>([^<]*)<", text)[0])
