"""Checks a package's description against its content: files, checksums, properties, counts, flags."""

from __future__ import annotations

import re
from collections.abc import Iterator

from noarkit.forms.findings import Hit
from noarkit.forms.noark5 import spec
from noarkit.forms.noark5.rules.case import DESCRIPTION_FILE, Case
from noarkit.forms.noark5.rules.description import CONTEXT, DIVIDES, FLAGS, DescribedFile, DescribedXml, Description
from noarkit.forms.noark5.rules.journals import JOURNALS

_DATE = re.compile(r"\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])")
_SHA256 = frozenset({"SHA-256", "SHA256"})
_DIVIDED = frozenset({"mykt", "skarpt"})
_UNLISTED = frozenset({DESCRIPTION_FILE, f"{spec.ADDML}.xsd"})
_FLAG_RULES = (
    ("inneholderSkjermetInformasjon", "N212", ("N932",)),
    ("inneholderDokumenterSomSkalKasseres", "N213", ("N934",)),
    ("omfatterDokumenterSomErKassert", "N214", ("N935",)),
    ("inneholderVirksomhetsspesifikkeMetadata", "N107", ("N944",)),
)


def judge_inventory(case: Case) -> None:
    """Checks everything that the description says."""
    _judge_presence(case)
    _judge_strays(case)
    if case.description is None:
        return
    _judge_properties(case, case.description)
    _judge_checksums(case, case.description)
    _judge_counts(case, case.description)
    if case.has(spec.STRUCTURE):
        _judge_flags(case)


def _judge_presence(case: Case) -> None:
    listed_names = {file.name for file in case.description.files()} if case.description is not None else set()
    if case.description is not None:
        checked_names: set[str] = set()
        for file in case.description.files():
            if file.name and file.name not in checked_names and not _exists(case, file.name):
                case.add_description_finding("N002", file.line, value=file.name)
            checked_names.add(file.name)
    for name in _required_documents(case):
        if name not in case.files and name not in listed_names:
            case.tally.add("N003", name)
    if f"{spec.CHANGE_LOG}.xml" not in case.files | listed_names:
        case.tally.add("N011", f"{spec.CHANGE_LOG}.xml")
    documents = [document for document in spec.XML_DOCUMENTS if f"{document}.xml" in case.files]
    schemas = {name for document in documents for name in spec.schemas_of(document)}
    for name in sorted(schemas | {f"{spec.ADDML}.xsd"}):
        if name not in case.files and name not in listed_names:
            case.tally.add("N101", name)


def _required_documents(case: Case) -> Iterator[str]:
    yield f"{spec.STRUCTURE}.xml"
    if case.store.number("SELECT COUNT(*) FROM posts"):
        yield from (f"{journal}.xml" for journal in JOURNALS)


def _exists(case: Case, name: str) -> bool:
    return case.sha256_of(name) is not None


def _judge_strays(case: Case) -> None:
    """Files that nothing names, and things that are no plain files."""
    listed_names = {file.name for file in case.description.files()} if case.description is not None else set()
    expected_names = listed_names | _UNLISTED
    if case.description is None:
        expected_names |= {f"{name}.xml" for name in spec.XML_DOCUMENTS} | set(spec.schema_files(case.version))
    first, end = f"{case.folder}/".encode(), f"{case.folder}0".encode()
    rows = case.store.ask(
        "SELECT name, kind FROM files WHERE kind != 'file' OR NOT (name >= ? AND name < ?) ORDER BY name",
        (first, end),
    )
    for name, kind in rows:
        text = name.decode("utf-8", "replace") if isinstance(name, bytes) else ""
        if kind != "file":
            case.tally.add("N005", text, why=kind)
        elif text not in expected_names and not case.store.number(
            "SELECT COUNT(*) FROM objects WHERE path = ?", (name,)
        ):
            # a schema too many is no loss; anything else may be a document that nobody described
            case.tally.add("N012" if text.endswith(".xsd") and "/" not in text else "N004", text)


def _judge_properties(case: Case, description: Description) -> None:
    values = description.values
    for name in ("type", "version", *CONTEXT, "startDate", "endDate", *DIVIDES, *FLAGS, "antallDokumentfiler"):
        if name not in values:
            case.add_description_finding("N201", value=name)
    if not description.creators:
        case.add_description_finding("N201", value="recordCreator")
    for name, good in _readings(case, description):
        if not good:
            case.add_description_finding("N202", values[name].line, element=name, value=values[name].value)
    start, end = values.get("startDate"), values.get("endDate")
    if start and end and end.value < start.value:
        case.add_description_finding("N202", end.line, element="endDate", value=end.value)
    first = description.xmls[0].name if description.xmls else spec.STRUCTURE
    if description.order[:2] != ("type", "additionalInfo") and {"type", "additionalInfo"} <= set(description.order):
        case.add_description_finding("N215", value=", ".join(description.order))
    elif first != spec.STRUCTURE and description.xml(spec.STRUCTURE) is not None:
        case.add_description_finding("N215", description.xmls[0].line, value=first)


def _readings(case: Case, description: Description) -> Iterator[tuple[str, bool]]:
    """Each property that is there, and whether it can be understood."""
    values = description.values
    for name in values:
        value = values[name].value
        if name == "type":
            yield name, value == spec.TYPE_NAME
        elif name == "version":
            yield name, spec.parse_version(value) is not None
        elif name in ("startDate", "endDate"):
            yield name, _DATE.fullmatch(value) is not None
        elif name in DIVIDES:
            yield name, value in _DIVIDED
        elif name in FLAGS:
            yield name, value in ("true", "false")
        elif name == "antallDokumentfiler":
            yield name, value.isdecimal()


def _judge_checksums(case: Case, description: Description) -> None:
    with_checksum = {file.name for file in description.files() if file.has_checksum}
    for xml in description.xmls:
        if xml.file is None:
            case.add_description_finding("N201", xml.line, value=f"{xml.name}: file")
        for file in ([xml.file] if xml.file is not None else []) + list(xml.schemas):
            if file.has_checksum:
                _judge_checksum(case, file)
            elif file.name not in with_checksum:
                case.add_description_finding("N203", file.line, value=file.name)
        _judge_listed(case, xml)


def _judge_checksum(case: Case, file: DescribedFile) -> None:
    is_sha256 = file.algorithm is None or file.algorithm.upper() in _SHA256
    if not is_sha256:
        case.add_description_finding("N204", file.line, value=file.algorithm, file=file.name)
    if file.algorithm is None or file.checksum is None:
        case.add_description_finding("N203", file.line, value=file.name)
        return
    if not is_sha256:
        return
    actual = case.sha256_of(file.name)
    if actual is not None and actual != file.checksum.lower():
        code = "N217" if _same_schema(actual, file.checksum) else "N205"
        case.add_description_finding(code, file.line, file=file.name, value=file.checksum, found=actual)


def _same_schema(actual_sha256: str, declared_sha256: str) -> bool:
    """Official schemas travel with one line ending or the other; their text is the same."""
    official, declared_official = spec.identify(actual_sha256), spec.identify(declared_sha256)
    if official is None or declared_official is None:
        return False
    return (official.file, official.version, official.edition) == (
        declared_official.file,
        declared_official.version,
        declared_official.edition,
    )


def _judge_listed(case: Case, xml: DescribedXml) -> None:
    """Each document names the schemas it is written after."""
    document = xml.file.name.removesuffix(".xml") if xml.file is not None else xml.name
    if document not in spec.XML_DOCUMENTS:
        return
    listed_names = {schema.name for schema in xml.schemas}
    for name in spec.schemas_of(document):
        if name not in listed_names:
            case.add_description_finding("N104", xml.line, value=name, file=f"{document}.xml")


def _judge_counts(case: Case, description: Description) -> None:
    expected_counts = {
        (spec.STRUCTURE, "mappe"): ("N207", case.counts.total("N907")),
        (spec.STRUCTURE, "registrering"): ("N208", case.counts.total("N912")),
        (spec.CHANGE_LOG, "endring"): ("N209", case.counts.total("N938")),
    }
    for number, journal in enumerate(JOURNALS):
        entries = case.heads[number].entries if number in case.heads else 0
        expected_counts[journal, "journalregistrering"] = ("N210", entries)
    for (document, element), (code, number) in expected_counts.items():
        xml = description.xml(document)
        if xml is None or not case.has(document):
            continue
        entry = xml.counts.get(element)
        if entry is None:
            case.add_description_finding(
                "N206" if document == spec.STRUCTURE else "N216", xml.line, element=element, file=document
            )
        elif entry.value != str(number):
            case.add_description_finding(
                code, entry.line, element=element, value=entry.value, found=number, file=document
            )
    _judge_files(case, description)


def _judge_files(case: Case, description: Description) -> None:
    folder = (f"{case.folder}/".encode(), f"{case.folder}0".encode())
    files = case.store.number("SELECT COUNT(*) FROM files WHERE kind = 'file' AND name >= ? AND name < ?", folder)
    entry = description.values.get("antallDokumentfiler")
    expected = int(entry.value) if entry is not None and entry.value.isdecimal() else None
    if files == 0 and (expected or case.store.number("SELECT COUNT(*) FROM objects")):
        case.tally.add_hit(Hit("N414", case.folder))
    elif files == 0 and expected == 0:
        case.tally.add_hit(Hit("N417", case.folder))
    elif expected is not None and entry is not None and expected != files:
        case.add_description_finding("N211", entry.line, value=entry.value, found=files)


def _judge_flags(case: Case) -> None:
    for name, code, rule_codes in _FLAG_RULES:
        flag = case.value_of(name)
        number = sum(case.counts.total(rule_code) for rule_code in rule_codes)
        if flag in ("true", "false") and (flag == "true") != (number > 0):
            line = case.description.values[name].line if case.description is not None else 0
            case.add_description_finding(code, line, element=name, value=flag, found=number)
