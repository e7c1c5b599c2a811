"""Our own schemas of METS, its E-ARK extensions, xlink and PREMIS, made from tables: what packages bear in `schemas/`.

They are not the published ones, and bear none of their names.

METS is told as version 1.12 has it, but for what no profile of E-ARK uses (links and behaviour are taken as they come).
PREMIS is told as far as packages are written. One line of a table is an element: its name, its attributes (`!` where it
must be there, `*` for those of other namespaces, `@` before a list, `&` before a group), and what stands in it. A line
that begins with blanks goes on with the one above.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

from noarkit.forms.eark import spec
from noarkit.forms.metadata.mets_model import FORMAT_KEYS, FORMAT_NAME, FORMAT_REGISTRIES, FORMAT_VERSION
from noarkit.safe.xml_text import escape_attribute

METS_XSD, XLINK_XSD, PREMIS_XSD = "noarkit-mets.xsd", "noarkit-xlink.xsd", "noarkit-premis.xsd"
CSIP_XSD, SIP_XSD = "noarkit-csip.xsd", "noarkit-sip.xsd"
_HEAD = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<!-- noarkit\'s own schema of {what}; it is not the published one -->\n'
)
_XS = "http://www.w3.org/2001/XMLSchema"

_METS_TABLE = """
mets        | ID:ID OBJID LABEL TYPE PROFILE * | metsHdr? dmdSec* amdSec* fileSec? structMap+ structLink? behaviorSec*
metsHdr     | ID:ID ADMID:IDREFS CREATEDATE:dateTime LASTMODDATE:dateTime RECORDSTATUS *
    | agent* altRecordID* metsDocumentID?
agent       | ID:ID ROLE!@ROLE OTHERROLE TYPE@AGENT OTHERTYPE *    | name note*
name        |                                                      | #string
note        | *                                                    | #string
altRecordID | ID:ID TYPE *                                         | #string
metsDocumentID | ID:ID TYPE *                                      | #string
dmdSec      | &section                                             | mdRef? mdWrap?
amdSec      | ID:ID *                                              | techMD* rightsMD* sourceMD* digiprovMD*
techMD      | &section                                             | mdRef? mdWrap?
rightsMD    | &section                                             | mdRef? mdWrap?
sourceMD    | &section                                             | mdRef? mdWrap?
digiprovMD  | &section                                             | mdRef? mdWrap?
mdRef       | ID:ID LABEL XPTR &location &link &metadata &core *   |
mdWrap      | ID:ID LABEL &metadata &core *                        | binData|xmlData
binData     |                                                      | #base64Binary
xmlData     |                                                      | #any
fileSec     | ID:ID *                                              | fileGrp+
fileGrp     | ID:ID VERSDATE:dateTime ADMID:IDREFS USE *           | fileGrp*|file*
file        | ID!:ID SEQ:int OWNERID ADMID:IDREFS DMDID:IDREFS GROUPID USE BEGIN END BETYPE &core *
    | FLocat* FContent? stream* transformFile* file*
FLocat      | ID:ID USE &location &link *                          |
FContent    | ID:ID USE *                                          | binData|xmlData
stream      | ID:ID streamType OWNERID ADMID:IDREFS DMDID:IDREFS BEGIN END BETYPE * |
transformFile | ID:ID TRANSFORMTYPE!@TRANSFORM TRANSFORMALGORITHM!
    TRANSFORMKEY TRANSFORMBEHAVIOR:IDREF TRANSFORMORDER!:positiveInteger *
    |
structMap   | ID:ID TYPE LABEL *                                   | div
div         | ID:ID ORDER:integer ORDERLABEL LABEL DMDID:IDREFS ADMID:IDREFS TYPE CONTENTIDS &label *
    | mptr* fptr* div*
mptr        | ID:ID CONTENTIDS &location &link *                   |
fptr        | ID:ID FILEID:IDREF CONTENTIDS *                      | par?|seq?|area?
par         | ID:ID ORDER:integer ORDERLABEL LABEL *               | area+|seq+
seq         | ID:ID ORDER:integer ORDERLABEL LABEL *               | area+|par+
area        | ID:ID FILEID!:IDREF SHAPE COORDS BEGIN END BETYPE
    EXTENT EXTTYPE ADMID:IDREFS CONTENTIDS ORDER:integer ORDERLABEL LABEL *
    |
structLink  | ID:ID *                                              | #any
behaviorSec | ID:ID CREATED:dateTime LABEL *                       | #any
"""
_GROUPS = {
    "section": "ID!:ID GROUPID ADMID:IDREFS CREATED:dateTime STATUS *",
    "location": "LOCTYPE!@LOC OTHERLOCTYPE",
    "metadata": "MDTYPE!@MD OTHERMDTYPE MDTYPEVERSION",
    "core": "MIMETYPE SIZE:long CREATED:dateTime CHECKSUM CHECKSUMTYPE@CHECKSUM",
    "link": "xlink:type xlink:href xlink:role xlink:arcrole xlink:title xlink:show xlink:actuate",
    "label": "xlink:label",
}
_LISTS: Mapping[str, Sequence[str]] = {
    "ROLE": spec.AGENT_ROLES,
    "AGENT": spec.AGENT_TYPES,
    "LOC": spec.LOC_TYPES,
    "MD": spec.MD_TYPES,
    "CHECKSUM": spec.CHECKSUM_TYPES,
    "TRANSFORM": ("decompression", "decryption"),
}

_PREMIS_TABLE = """
premis | version! | object* event* agent*
file | | objectIdentifier+ preservationLevel* objectCharacteristics+ originalName? storage* relationship*
    linkingEventIdentifier*
representation | | objectIdentifier+ preservationLevel* originalName? storage* relationship* linkingEventIdentifier*
intellectualEntity | | objectIdentifier+ preservationLevel* originalName? relationship* linkingEventIdentifier*
objectIdentifier | | objectIdentifierType objectIdentifierValue
preservationLevel | | preservationLevelType? preservationLevelValue
objectCharacteristics | | compositionLevel? fixity* size? format+
fixity | | messageDigestAlgorithm messageDigest messageDigestOriginator?
format | | formatDesignation formatRegistry? formatNote*|formatRegistry formatNote*
formatDesignation | | formatName formatVersion?
formatRegistry | | formatRegistryName formatRegistryKey formatRegistryRole?
storage | | contentLocation storageMedium?|storageMedium
contentLocation | | contentLocationType contentLocationValue
relationship | | relationshipType relationshipSubType relatedObjectIdentifier+ relatedEventIdentifier*
relatedObjectIdentifier | | relatedObjectIdentifierType relatedObjectIdentifierValue
relatedEventIdentifier | | relatedEventIdentifierType relatedEventIdentifierValue
linkingEventIdentifier | | linkingEventIdentifierType linkingEventIdentifierValue
event |
    | eventIdentifier eventType eventDateTime
    eventDetailInformation* eventOutcomeInformation* linkingAgentIdentifier* linkingObjectIdentifier*
eventIdentifier | | eventIdentifierType eventIdentifierValue
eventDetailInformation | | eventDetail?
eventOutcomeInformation | | eventOutcome eventOutcomeDetail*|eventOutcomeDetail+
eventOutcomeDetail | | eventOutcomeDetailNote
linkingAgentIdentifier | | linkingAgentIdentifierType linkingAgentIdentifierValue linkingAgentRole*
linkingObjectIdentifier | | linkingObjectIdentifierType linkingObjectIdentifierValue linkingObjectRole*
agent | | agentIdentifier+ agentName* agentType? agentVersion? agentNote*
agentIdentifier | | agentIdentifierType agentIdentifierValue
"""
_OBJECT_KINDS = ("file", "representation", "intellectualEntity")


@cache
def schemas() -> Mapping[str, bytes]:
    """Every schema by its file name."""
    text_by_name = {
        METS_XSD: _mets(),
        XLINK_XSD: _xlink(),
        CSIP_XSD: _extension(spec.CSIP, _CSIP_ATTRIBUTES, "CSIP in METS"),
        SIP_XSD: _extension(spec.SIP, _SIP_ATTRIBUTES, "SIP in METS"),
        PREMIS_XSD: _premis(),
    }
    return {name: text.encode() for name, text in text_by_name.items()}


_CSIP_ATTRIBUTES: Mapping[str, Sequence[str]] = {
    "CONTENTINFORMATIONTYPE": (*dict.fromkeys((*spec.CONTENT_TYPES, *spec.CONTENT_TYPES_OF_SCHEMA)),),
    "OTHERCONTENTINFORMATIONTYPE": (),
    "OAISPACKAGETYPE": spec.PACKAGE_TYPES,
    "NOTETYPE": spec.NOTE_TYPES,
    "OTHERTYPE": (),
}
_SIP_ATTRIBUTES: Mapping[str, Sequence[str]] = {
    name: () for name in (FORMAT_NAME, FORMAT_VERSION, FORMAT_REGISTRIES[0], FORMAT_KEYS[0])
}
_XLINK_ATTRIBUTES: Mapping[str, Sequence[str]] = {
    "type": ("simple", "extended", "locator", "arc", "resource", "title"),
    "href": (),
    "role": (),
    "arcrole": (),
    "title": (),
    "label": (),
    "show": ("new", "replace", "embed", "other", "none"),
    "actuate": ("onLoad", "onRequest", "other", "none"),
}


@dataclass(frozen=True, slots=True)
class _Element:
    """One line of a table."""

    name: str
    attributes: tuple[str, ...]
    content: str
    choice: bool = field(default=False)


def _elements(table: str) -> Iterator[_Element]:
    for line in table.strip().replace("\n    ", " ").splitlines():
        name, attributes, content = (cell.strip() for cell in line.split("|", 2))
        spread = " ".join(_GROUPS[word[1:]] if word.startswith("&") else word for word in attributes.split())
        yield _Element(name, tuple(dict.fromkeys(spread.split())), content.strip(), "|" in content)


def _mets() -> str:
    imports = f'<xs:import namespace="{spec.XLINK}" schemaLocation="{XLINK_XSD}"/>\n' + "".join(
        f'<xs:import namespace="{space}" schemaLocation="{file}"/>\n'
        for space, file in ((spec.CSIP, CSIP_XSD), (spec.SIP, SIP_XSD))
    )
    types = "".join(_type(element) for element in _elements(_METS_TABLE))
    lists = "".join(_list(name, values) for name, values in _LISTS.items())
    spaces = f' xmlns:xlink="{spec.XLINK}"'
    return _schema(spec.METS, f'{imports}<xs:element name="mets" type="mets"/>\n{types}{lists}', "METS 1.12", spaces)


def _schema(space: str, inside: str, what: str, spaces: str = "") -> str:
    declarations = f'xmlns:xs="{_XS}" xmlns="{space}"{spaces} targetNamespace="{space}" elementFormDefault="qualified"'
    return f"{_HEAD.format(what=what)}<xs:schema {declarations}>\n{inside}</xs:schema>\n"


def _type(element: _Element, base: str = "") -> str:
    attributes = "".join(map(_attribute, element.attributes))
    if element.content == "#string" or element.content == "#base64Binary":
        extension = f'<xs:extension base="xs:{element.content[1:]}">{attributes}</xs:extension>'
        plain = f"<xs:simpleContent>{extension}</xs:simpleContent>"
        return f'<xs:complexType name="{element.name}">{plain}</xs:complexType>\n'
    if element.content == "#any":
        inside = '<xs:sequence><xs:any minOccurs="0" maxOccurs="unbounded" processContents="skip"/></xs:sequence>'
    elif element.choice:
        branches = (_choice_branch(words.split(), base) for words in element.content.split("|"))
        inside = f"<xs:choice>{''.join(branches)}</xs:choice>"
    else:
        inside = _sequence(element.content.split(), base)
    if element.name in _OBJECT_KINDS and base:
        inside = f'<xs:complexContent><xs:extension base="object">{inside}</xs:extension></xs:complexContent>'
    return f'<xs:complexType name="{element.name}">{inside}{attributes}</xs:complexType>\n'


def _choice_branch(words: Sequence[str], texts: str) -> str:
    return _child(words[0], texts) if len(words) == 1 else _sequence(words, texts)


def _sequence(words: Sequence[str], texts: str) -> str:
    children = "".join(_child(word, texts) for word in words)
    return f"<xs:sequence>{children}</xs:sequence>" if children else ""


def _child(word: str, texts: str = "") -> str:
    """An element in another. Where `texts` names the elements that have types, the others are plain text."""
    name = word.strip().rstrip("?*+")
    often = {"?": ' minOccurs="0"', "*": ' minOccurs="0" maxOccurs="unbounded"', "+": ' maxOccurs="unbounded"'}
    kind = name if not texts or f" {name} " in texts else "xs:string"
    return f'<xs:element name="{name}" type="{kind}"{often.get(word.strip()[-1], "")}/>'


def _attribute(word: str) -> str:
    if word == "*":
        return '<xs:anyAttribute namespace="##other" processContents="lax"/>'
    if word.startswith("xlink:"):
        return f'<xs:attribute ref="{word}"/>'
    use = ' use="required"' if "!" in word else ""
    plain = word.replace("!", "")
    name, _, values = plain.partition("@")
    name, _, kind = name.partition(":")
    of_type = f"list-{values}" if values else f"xs:{kind or 'string'}"
    return f'<xs:attribute name="{name}" type="{of_type}"{use}/>'


def _list(name: str, values: Sequence[str]) -> str:
    return f'<xs:simpleType name="list-{name}">{_restriction(values)}</xs:simpleType>\n'


def _restriction(values: Sequence[str]) -> str:
    enumeration = "".join(f'<xs:enumeration value="{escape_attribute(value)}"/>' for value in values)
    return f'<xs:restriction base="xs:string">{enumeration}</xs:restriction>'


def _global(name: str, values: Sequence[str], kind: str = "string") -> str:
    if not values:
        return f'<xs:attribute name="{name}" type="xs:{kind}"/>\n'
    return f'<xs:attribute name="{name}"><xs:simpleType>{_restriction(values)}</xs:simpleType></xs:attribute>\n'


def _extension(space: str, attributes: Mapping[str, Sequence[str]], what: str) -> str:
    return _schema(space, "".join(_global(name, values) for name, values in attributes.items()), what)


def _xlink() -> str:
    references = ("href", "role", "arcrole")
    inside = "".join(
        _global(name, values, "anyURI" if name in references else "string")
        for name, values in _XLINK_ATTRIBUTES.items()
    )
    return _schema(spec.XLINK, inside, "xlink")


def _premis() -> str:
    elements = list(_elements(_PREMIS_TABLE))
    typed_names = f" object {' '.join(element.name for element in elements)} "
    types = '<xs:complexType name="object" abstract="true"/>\n' + "".join(
        _type(element, typed_names) for element in elements
    )
    return _schema(spec.PREMIS, f'<xs:element name="premis" type="premis"/>\n{types}', "PREMIS 3.0")
