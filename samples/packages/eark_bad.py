"""One way to break each rule for E-ARK packages: a single change of a good one, before or after it is described.

More ways to break the same rules stand in `eark_bad_ways`.
"""

from __future__ import annotations

import re

from samples.packages.eark import OBJID, PROFILES, REP, SOFTWARE, file, payload, premis
from samples.packages.eark_bad_ways import MORE_WAYS
from samples.packages.eark_changes import (
    EAD,
    METS,
    PREMIS,
    REP_METS,
    RIGHTS,
    BadPackage,
    Change,
    both,
    called,
    content_case,
    cut,
    cut_all,
    everywhere,
    gone,
    put,
    renamed,
    swap,
    within,
)


def _agent(role: str, kind: str) -> str:
    return f'<agent ROLE="{role}" TYPE="{kind}">'


def _references(kind: str, first: int, unlisted: tuple[str, ...] = ()) -> list[BadPackage]:
    """Each attribute of the reference of a section, left out or wrong."""
    here = f"<{kind} ID="
    wrong = (
        (' LOCTYPE="URL"', ' LOCTYPE="HANDLE"', ()),
        (' xlink:type="simple"', "", ()),
        (r' xlink:href="[^"]*"', "", ("EARK-UNLISTED", *unlisted)),
        (r' MDTYPE="[^"]*"', ' MDTYPE="NONE"', ("EARK-XSD",)),
        (r' MIMETYPE="[^"]*"', "", ()),
        (r' SIZE="[^"]*"', ' SIZE="3"', ()),
        (r'(?<=\d") CREATED="[^"]*"', ' CREATED="2024-05-06"', ("EARK-XSD",)),
        (r' CHECKSUM="[^"]*"', f' CHECKSUM="{"0" * 64}"', ()),
        (r' CHECKSUMTYPE="[^"]*"', "", ()),
    )
    return [
        BadPackage(f"CSIP{first + number}", "of-reference", within(here, pattern, new), also=also)
        for number, (pattern, new, also) in enumerate(wrong)
    ]


def _agents() -> list[BadPackage]:
    """The agents of a submission; a person who created the package would do as the one who submits it."""
    found = []
    contact = _agent("CREATOR", "INDIVIDUAL")
    no_person = cut(re.escape(contact) + ".*?</agent>\n")
    for first, role, kind, other, types in (
        (9, "ARCHIVIST", "ORGANIZATION", "ARCHIVIST", "OTHER"),
        (15, "CREATOR", "ORGANIZATION", "SUBMITTING", "OTHER"),
        (26, "PRESERVATION", "ORGANIZATION", "PRESERVATION", "INDIVIDUAL"),
    ):
        agent = _agent(role, kind)
        whole = re.escape(agent) + ".*?</agent>\n"
        also = ("SIP21",) if first == 15 else ()
        found += [
            BadPackage(
                f"SIP{first}", "no-agent", both(cut(whole), no_person) if first == 15 else cut(whole), also=also
            ),
            BadPackage(
                f"SIP{first + 1}", "role", swap(agent, f'<agent ROLE="OTHER" OTHERROLE="{other}" TYPE="{kind}">')
            ),
            BadPackage(f"SIP{first + 2}", "type", swap(agent, _agent(role, types))),
            BadPackage(f"SIP{first + 3}", "name", within(agent, "<name>[^<]*", "<name>")),
            BadPackage(f"SIP{first + 4}", "note", within(agent, "<note.*?</note>\n")),
            BadPackage(f"SIP{first + 5}", "note-type", within(agent, ' csip:NOTETYPE="[^"]*"')),
        ]
    other = '<agent ROLE="OTHER" OTHERROLE="CONTACT PERSON" TYPE="INDIVIDUAL">'
    return [
        *found,
        BadPackage("SIP21", "no-agent", no_person),
        BadPackage("SIP22", "role", swap(contact, other)),
        BadPackage("SIP23", "type", swap(contact, other.replace("INDIVIDUAL", "ORGANIZATION")), also=("SIP22",)),
        BadPackage("SIP24", "name", within(contact, "<name>[^<]*", "<name>")),
        BadPackage("SIP25", "note", within(contact, "<note.*?</note>\n")),
    ]


def _divisions() -> list[BadPackage]:
    """The divisions of the structural map."""
    found = []
    for label, div, group, codes in (
        ("Documentation", "div-doc", "grp-doc", ("CSIP93", "CSIP94", "CSIP95", "CSIP96", "CSIP116")),
        ("Schemas", "div-xsd", "grp-xsd", ("CSIP97", "CSIP98", "CSIP99", "CSIP100", "CSIP118")),
    ):
        whole = f'<div ID="{div}" LABEL="{label}">\n<fptr FILEID="{group}"/>\n</div>\n'
        found += [
            BadPackage(codes[0], "none", swap(whole, "")),
            BadPackage(codes[1], "id", swap(f'<div ID="{div}"', "<div")),
            BadPackage(
                codes[2],
                "label",
                swap(f'"{div}" LABEL="{label}"', f'"{div}" LABEL="{label.lower()}"'),
                also=(codes[0],),
            ),
            BadPackage(codes[3], "pointer", swap(f'<fptr FILEID="{group}"/>\n', "")),
            BadPackage(
                codes[4], "pointer-to-nothing", swap(f'FILEID="{group}"', 'FILEID="grp-none"'), also=(codes[3],)
            ),
        ]
    return found


_CONTENT = (
    content_case("CSIP101", "none", cut('<div ID="div-rep".*?</div>\n')),
    content_case("CSIP102", "id", swap('<div ID="div-rep"', "<div")),
    content_case("CSIP103", "label", swap('LABEL="Representations"', 'LABEL="representations"'), also=("CSIP101",)),
    content_case("CSIP104", "pointer", swap('<fptr FILEID="grp-rep"/>\n', "")),
    content_case(
        "CSIP119", "pointer-to-nothing", swap('<fptr FILEID="grp-rep"/>', '<fptr FILEID="x"/>'), also=("CSIP104",)
    ),
)
_ROOT = (
    BadPackage("CSIP1", "no-id", swap(f' OBJID="{OBJID}"', ""), kind="CSIP"),
    BadPackage("CSIP2", "unknown", swap('TYPE="Datasets"', 'TYPE="Things"')),
    BadPackage("CSIP3", "other", swap('TYPE="Datasets"', 'TYPE="OTHER"'), also=("CSIP2",)),
    BadPackage("CSIP4", "none", swap(' csip:CONTENTINFORMATIONTYPE="MIXED"', "")),
    BadPackage(
        "CSIP5", "other", swap(':CONTENTINFORMATIONTYPE="MIXED"', ':CONTENTINFORMATIONTYPE="OTHER"'), also=("CSIP4",)
    ),
    BadPackage("CSIP6", "no-address", cut(' PROFILE="[^"]*"', ' PROFILE="CSIP"'), kind="CSIP"),
    BadPackage("CSIP117", "none", cut("<metsHdr.*?</metsHdr>\n"), kind="CSIP"),
    BadPackage("CSIP7", "date-alone", cut('CREATEDATE="[^"]*"', 'CREATEDATE="2024-05-06"'), also=("EARK-XSD",)),
    BadPackage("CSIP8", "date-alone", cut('LASTMODDATE="[^"]*"', 'LASTMODDATE="2024-05-06"'), also=("EARK-XSD",)),
    BadPackage("CSIP9", "none", cut(' csip:OAISPACKAGETYPE="SIP"'), kind="CSIP"),
    BadPackage("CSIP10", "none", cut("<agent.*</agent>\n"), kind="CSIP"),
    BadPackage("CSIP11", "role", swap(SOFTWARE, SOFTWARE.replace("CREATOR", "EDITOR"))),
    BadPackage("CSIP12", "type", swap(SOFTWARE, SOFTWARE.replace('"OTHER"', '"INDIVIDUAL"')), kind="CSIP"),
    BadPackage("CSIP13", "other-type", swap(SOFTWARE, SOFTWARE.replace('SOFTWARE"', 'PROGRAM"', 1)), kind="CSIP"),
    BadPackage("CSIP14", "name", swap("<name>Maker</name>", "<name/>")),
    BadPackage("CSIP15", "note", cut('<note csip:NOTETYPE="SOFTWARE VERSION">1.0</note>\n')),
    BadPackage("CSIP16", "note-type", swap(' csip:NOTETYPE="SOFTWARE VERSION"', "")),
)
_SECTIONS = (
    BadPackage("CSIP17", "none", cut("<dmdSec.*?</dmdSec>\n"), also=("CSIP92", "EARK-UNLISTED")),
    BadPackage("CSIP18", "id", swap('<dmdSec ID="dmd-1"', "<dmdSec"), also=("CSIP92", "EARK-XSD")),
    BadPackage("CSIP19", "created", cut('(<dmdSec [^>]*) CREATED="[^"]*"', r"\g<1>")),
    BadPackage("CSIP20", "status", within("<dmdSec", ' STATUS="CURRENT"')),
    BadPackage("CSIP21", "none", within("<dmdSec", "<mdRef.*?/>\n"), also=("CSIP17", "EARK-UNLISTED")),
    *_references("dmdSec", 22, ("CSIP17",)),
    BadPackage("CSIP31", "none", cut("<amdSec.*?</amdSec>\n"), also=("CSIP32", "CSIP61", "CSIP91", "EARK-UNLISTED")),
    BadPackage("CSIP32", "none", cut("<digiprovMD.*?</digiprovMD>\n"), also=("CSIP61", "CSIP91", "EARK-UNLISTED")),
    BadPackage("CSIP33", "id", swap('<digiprovMD ID="adm-1"', "<digiprovMD"), also=("CSIP61", "CSIP91", "EARK-XSD")),
    BadPackage("CSIP34", "status", within("<digiprovMD", ' STATUS="CURRENT"')),
    BadPackage("CSIP35", "none", within("<digiprovMD", "<mdRef.*?/>\n"), also=("CSIP32", "EARK-UNLISTED")),
    *_references("digiprovMD", 36, ("CSIP32",)),
    BadPackage("CSIP45", "none", cut("<rightsMD.*?</rightsMD>\n"), also=("CSIP91", "EARK-UNLISTED")),
    BadPackage("CSIP46", "id", swap('<rightsMD ID="adm-2"', "<rightsMD"), also=("CSIP91", "EARK-XSD")),
    BadPackage("CSIP47", "status", within("<rightsMD", ' STATUS="CURRENT"')),
    BadPackage("CSIP48", "none", within("<rightsMD", "<mdRef.*?/>\n"), also=("EARK-UNLISTED",)),
    *_references("rightsMD", 49),
)
_FILE = '<file ID="file-doc"'
_LOCATOR = f"{_FILE}.*?<FLocat"
_FILES = (
    BadPackage(
        "CSIP58",
        "none",
        both(cut("<fileSec.*?</fileSec>\n")),
        also=("CSIP60", "CSIP113", "CSIP114", "CSIP108", "CSIP116", "CSIP118", "EARK-UNLISTED"),
    ),
    BadPackage("CSIP59", "id", swap('<fileSec ID="files"', "<fileSec")),
    BadPackage("CSIP60", "spelling", swap('USE="Documentation"', 'USE="documentation"')),
    BadPackage("CSIP60", "none", swap('USE="Documentation"', 'USE="Papers"'), also=("CSIP64", "CSIP116")),
    BadPackage("CSIP113", "none", swap('USE="Schemas"', 'USE="Forms"'), also=("CSIP64", "CSIP118")),
    BadPackage("CSIP114", "none", swap('USE="Representations/rep1"', 'USE="rep1"'), also=("CSIP64", "CSIP108")),
    BadPackage("CSIP61", "none", cut_all(r'(<fileGrp [^>]*) ADMID="adm-1"', r"\g<1>")),
    BadPackage("CSIP62", "none", swap(' ADMID="adm-1" csip:CONTENTINFORMATIONTYPE="MIXED"', ' ADMID="adm-1"')),
    BadPackage(
        "CSIP63",
        "other",
        swap('ADMID="adm-1" csip:CONTENTINFORMATIONTYPE="MIXED"', 'ADMID="adm-1" csip:CONTENTINFORMATIONTYPE="OTHER"'),
    ),
    BadPackage("CSIP64", "use", swap(' USE="Schemas"', ""), also=("CSIP113", "CSIP118")),
    BadPackage("CSIP65", "id", swap('<fileGrp ID="grp-rep"', "<fileGrp"), also=("CSIP108",)),
    BadPackage("CSIP66", "empty", swap("</fileSec>", '<fileGrp ID="grp-none" USE="Nothing"/>\n</fileSec>')),
    BadPackage("CSIP67", "id", swap(_FILE, "<file"), also=("EARK-XSD",)),
    BadPackage("CSIP68", "none", within(_FILE, ' MIMETYPE="[^"]*"')),
    BadPackage("CSIP69", "other-size", within(_FILE, ' SIZE="[^"]*"', ' SIZE="5"')),
    BadPackage("CSIP69", "none", within(_FILE, ' SIZE="[^"]*"')),
    BadPackage("CSIP70", "date-alone", within(_FILE, ' CREATED="[^"]*"', ' CREATED="2024-05-06"'), also=("EARK-XSD",)),
    BadPackage("CSIP71", "changed", put("documentation/readme.txt", b"Red me.\n"), also=("CSIP69", "EARK-PREMIS-SIZE")),
    BadPackage("CSIP71", "no-checksum", within(_FILE, ' CHECKSUM="[^"]*"', ' CHECKSUM="12"')),
    BadPackage(
        "CSIP72", "unknown", within(_FILE, ' CHECKSUMTYPE="[^"]*"', ' CHECKSUMTYPE="SHA256"'), also=("EARK-XSD",)
    ),
    BadPackage("CSIP73", "none", everywhere(" OWNERID=", " USE=")),
    BadPackage("CSIP74", "none", everywhere(' ADMID="adm-1" DMDID', " DMDID")),
    BadPackage("CSIP75", "none", everywhere(' DMDID="dmd-1" sip', " sip")),
    BadPackage(
        "CSIP76", "two-places", swap("</file>", '<FLocat LOCTYPE="URL" xlink:type="simple" xlink:href="x"/>\n</file>')
    ),
    BadPackage("CSIP77", "type", cut(f'({_LOCATOR}) LOCTYPE="URL"', r'\g<1> LOCTYPE="HANDLE"')),
    BadPackage("CSIP78", "type", cut(f'({_LOCATOR} LOCTYPE="URL") xlink:type="simple"', r"\g<1>")),
    BadPackage("CSIP79", "gone", gone("documentation/readme.txt"), also=("CSIP64", "CSIPSTR16", "EARK-PREMIS-OBJECT")),
    BadPackage(
        "CSIP79", "no-href", cut(f'({_LOCATOR}[^>]*) xlink:href="[^"]*"', r"\g<1>"), also=("CSIP60", "EARK-UNLISTED")
    ),
)
_MAP = (
    BadPackage(
        "CSIP80",
        "none",
        cut("<structMap.*</structMap>\n", '<structMap ID="map" TYPE="logical"><div ID="div"/></structMap>\n'),
    ),
    BadPackage("CSIP81", "type", swap('TYPE="PHYSICAL"', 'TYPE="physical"')),
    BadPackage("CSIP82", "label", swap('LABEL="CSIP"', 'LABEL="CSIP StructMap"'), also=("CSIP80",)),
    BadPackage("CSIP83", "id", swap('<structMap ID="map"', "<structMap")),
    BadPackage("CSIP84", "two", swap("</structMap>", '<div ID="div-2"/>\n</structMap>'), also=("EARK-XSD",)),
    BadPackage("CSIP85", "id", swap('<div ID="div"', "<div")),
    BadPackage("CSIP86", "label", cut('(<div ID="div") LABEL="[^"]*"', r'\g<1> LABEL="other"'), version="2.0.4"),
    BadPackage("CSIP88", "none", cut('<div ID="div-md".*?/>\n'), also=("CSIP90",)),
    BadPackage("CSIP89", "id", swap('<div ID="div-md"', "<div")),
    BadPackage("CSIP90", "label", swap('LABEL="Metadata"', 'LABEL="metadata"'), also=("CSIP88",)),
    BadPackage("CSIP91", "one-less", swap('ADMID="adm-1 adm-2"', 'ADMID="adm-1"')),
    BadPackage("CSIP92", "none", swap(' DMDID="dmd-1"/>', "/>")),
    BadPackage("CSIP105", "none", cut('<div ID="div-rep".*?</div>\n')),
    BadPackage("CSIP106", "id", swap('<div ID="div-rep"', "<div")),
    BadPackage("CSIP107", "label", swap('LABEL="Representations/rep1"', 'LABEL="representations/rep1"')),
    BadPackage("CSIP108", "title", swap('xlink:title="grp-rep"', 'xlink:title="rep1"')),
    BadPackage("CSIP109", "none", cut("<mptr.*?/>\n"), also=("CSIP105",)),
    BadPackage("CSIP110", "elsewhere", cut('(<mptr[^>]* xlink:href=)"[^"]*"', r'\g<1>"representations/rep2/METS.xml"')),
    BadPackage("CSIP111", "type", cut('(<mptr[^>]*) xlink:type="simple"', r"\g<1>")),
    BadPackage("CSIP112", "type", cut('(<mptr) LOCTYPE="URL"', r'\g<1> LOCTYPE="HANDLE"')),
    *_divisions(),
    *_CONTENT,
)
_FOLDERS = (
    BadPackage("CSIPSTR1", "no-folder", called(""), packed="zip"),
    BadPackage("CSIPSTR2", "other-name", called("delivery"), packed="tar"),
    BadPackage("CSIPSTR3", "gzip", packed="tar.gz"),
    BadPackage("CSIPSTR4", "none", gone(METS)),
    BadPackage("CSIPSTR4", "spelling", renamed(METS, "mets.xml")),
    BadPackage("CSIPSTR5", "none", gone(EAD, RIGHTS, PREMIS), also=("CSIP24", "CSIP38", "CSIP51")),
    BadPackage("CSIPSTR6", "none", gone(PREMIS), also=("CSIP38",)),
    BadPackage("CSIPSTR7", "none", gone(EAD), also=("CSIP24",)),
    BadPackage("CSIPSTR8", "none", gone(RIGHTS), also=("CSIP51",)),
    BadPackage(
        "CSIPSTR9",
        "none",
        gone(REP_METS, f"{REP}/{PREMIS}", f"{REP}/data/a.txt", f"{REP}/data/sub/b.txt"),
        also=("CSIP64", "CSIP79", "CSIP110"),
    ),
    BadPackage("CSIPSTR10", "beside", put("representations/a.txt", b"a"), also=("EARK-UNLISTED",)),
    BadPackage(
        "CSIPSTR11", "none", gone(f"{REP}/data/a.txt", f"{REP}/data/sub/b.txt"), also=("CSIP79", "EARK-PREMIS-OBJECT")
    ),
    BadPackage("CSIPSTR12", "none", put("representations/rep2/data/a.txt", b"a"), also=("CSIPSTR13", "EARK-UNLISTED")),
    BadPackage("CSIPSTR13", "none", gone(f"{REP}/{PREMIS}"), also=("CSIP38",)),
    BadPackage("CSIPSTR14", "more", put("extra/a.txt", b"a"), also=("EARK-UNLISTED",)),
    BadPackage("CSIPSTR15", "none", gone("schemas/ead.xsd"), also=("CSIP64", "CSIP79")),
    BadPackage("CSIPSTR16", "none", gone("documentation/readme.txt"), also=("CSIP64", "CSIP79", "EARK-PREMIS-OBJECT")),
)
_SIP = (
    BadPackage("SIP1", "none", swap(' LABEL="A small package"', "")),
    BadPackage("SIP2", "other", swap(PROFILES["SIP", "2.2.0"], "https://example.org/profile/E-ARK-SIP-v2-2-0.xml")),
    BadPackage("SIP3", "unknown", swap('RECORDSTATUS="NEW"', 'RECORDSTATUS="OLD"')),
    BadPackage("SIP4", "other", swap('OAISPACKAGETYPE="SIP"', 'OAISPACKAGETYPE="AIP"')),
    *(
        BadPackage(f"SIP{number}", "none", cut(f'<altRecordID TYPE="{kind}">.*?</altRecordID>\n'))
        for number, kind in (
            (5, "SUBMISSIONAGREEMENT"),
            (6, "PREVIOUSSUBMISSIONAGREEMENT"),
            (7, "REFERENCECODE"),
            (8, "PREVIOUSREFERENCECODE"),
        )
    ),
    *_agents(),
    BadPackage("SIP32", "none", everywhere(' sip:FILEFORMATNAME="Plain text"', "")),
    BadPackage("SIP33", "none", everywhere(' sip:FILEFORMATVERSION="1"', "")),
    BadPackage("SIP34", "none", everywhere(' sip:FORMATREGISTRY="PRONOM"', "")),
    BadPackage("SIP35", "none", everywhere(' sip:FORMATREGISTRYKEY="x-fmt/111"', "")),
)


def _premis(code: str, what: str, change: Change, kind: str = "AIP", also: tuple[str, ...] = ()) -> BadPackage:
    return BadPackage(code, what, before=change, kind=kind, also=also)


_AIP = (
    BadPackage("AIPM1", "none", swap(f' OBJID="{OBJID}"', ""), kind="AIP", also=("CSIP1",)),
    BadPackage("AIPM2", "other", swap("dilcis.eu/profile/E-ARK-AIP", "example.org/profile/E-ARK-AIP"), kind="AIP"),
    BadPackage("AIPM3", "other", swap('OAISPACKAGETYPE="AIP"', 'OAISPACKAGETYPE="SIP"'), kind="AIP"),
    BadPackage("AIPM4", "none", within("<dmdSec", "CURRENT", "SUPERSEDED"), kind="AIP"),
    BadPackage(
        "AIPM5",
        "none",
        cut("<digiprovMD.*?</digiprovMD>\n"),
        kind="AIP",
        also=("CSIP32", "CSIP61", "CSIP91", "EARK-UNLISTED"),
    ),
    BadPackage(
        "AIPM6", "other", cut('MDTYPE="PREMIS" MDTYPEVERSION="3.0"', 'MDTYPE="OTHER" OTHERMDTYPE="X"'), kind="AIP"
    ),
    BadPackage("AIPM7", "version", swap('MDTYPEVERSION="3.0"', 'MDTYPEVERSION="2.2"'), kind="AIP"),
    BadPackage("AIP3", "none", swap('<fptr FILEID="file-rep"/>\n', ""), kind="AIP"),
    _premis("AIP7", "none", cut("<format>.*?</format>\n", name=PREMIS), also=("AIP8",)),
    _premis("AIP8", "none", cut("<formatRegistry>.*?</formatRegistry>", name=PREMIS)),
    _premis("AIP12", "none", cut("<relationship>.*?</relationship>\n", name=PREMIS)),
    _premis("AIP13", "none", cut("<relatedObjectIdentifierValue>whole", "<relatedObjectIdentifierValue>", PREMIS)),
    _premis("AIP15", "none", cut("<eventIdentifier>.*?</eventIdentifier>\n", name=PREMIS)),
    _premis("AIP16", "none", cut("<linkingAgentIdentifier>.*?</linkingAgentIdentifier>\n", name=PREMIS)),
    _premis("AIP17", "none", swap("<eventType>ingestion<", "<eventType>migration<", PREMIS)),
    _premis("AIP18", "none", cut("<agent>.*?</agent>\n", name=PREMIS)),
    BadPackage("AIP20", "other-name", kind="AIP", packed="other.zip"),
    BadPackage("AIP28", "gzip", kind="AIP", packed="tar.gz", also=("CSIPSTR3",)),
    BadPackage("DIP1", "none", swap(f' OBJID="{OBJID}"', ""), kind="DIP", also=("CSIP1",)),
    BadPackage("DIP2", "other", swap("dilcis.eu/profile/E-ARK-DIP", "example.org/profile/E-ARK-DIP"), kind="DIP"),
    BadPackage("DIP3", "other", swap('OAISPACKAGETYPE="DIP"', 'OAISPACKAGETYPE="SIP"'), kind="DIP"),
    BadPackage("DIP4", "none", within("<dmdSec", "CURRENT", "SUPERSEDED"), kind="DIP"),
)
_TECH = '<techMD ID="adm-3">\n<mdRef LOCTYPE="URL" xlink:type="simple" xlink:href="{}" MDTYPE="OTHER" {}/>\n</techMD>\n'


def _tech(href: str, said: str) -> Change:
    """A section of technical metadata, which no rule of the specification speaks of."""
    return both(
        put("metadata/other/t.xml", b"<t/>\n"),
        swap("<rightsMD", _TECH.format(href, said) + "<rightsMD"),
        swap('ADMID="adm-1 adm-2"', 'ADMID="adm-1 adm-2 adm-3"'),
    )


_AGAIN = file("file-again", "documentation/readme.txt", payload()["documentation/readme.txt"], formats=True)
_OURS = (
    BadPackage("EARK-ALGORITHM", "adler", within(_FILE, ' CHECKSUMTYPE="[^"]*"', ' CHECKSUMTYPE="Adler-32"')),
    BadPackage(
        "EARK-CHECKSUM", "technical", _tech("metadata/other/t.xml", f'CHECKSUM="{"0" * 32}" CHECKSUMTYPE="MD5"')
    ),
    BadPackage("EARK-SIZE", "technical", _tech("metadata/other/t.xml", 'SIZE="99"')),
    BadPackage("EARK-MISSING", "technical", _tech("metadata/other/u.xml", ""), also=("EARK-UNLISTED",)),
    BadPackage(
        "EARK-HREF", "climbs", cut(f'({_LOCATOR}[^>]* xlink:href=)"', r'\g<1>"../../'), also=("CSIP60", "EARK-UNLISTED")
    ),
    BadPackage(
        "EARK-ID-TWICE", "group", swap('<fileGrp ID="grp-xsd"', '<fileGrp ID="file-doc"'), also=("CSIP100", "CSIP118")
    ),
    BadPackage(
        "EARK-REMOTE",
        "address",
        cut(f'({_LOCATOR}[^>]* xlink:href=)"', r'\g<1>"https://example.org/'),
        also=("CSIP60", "EARK-UNLISTED"),
    ),
    BadPackage("EARK-REPRESENTATION", "agent", cut("<agent.*</agent>\n", name=REP_METS), also=("CSIP69", "CSIP71")),
    BadPackage("EARK-SPELLING", "file-scheme", cut(f'({_LOCATOR}[^>]* xlink:href=)"', r'\g<1>"file://./')),
    BadPackage("EARK-TWICE", "again", swap("</fileGrp>", f"{_AGAIN}</fileGrp>")),
    BadPackage("EARK-TWIN", "case", put("documentation/README.txt", b"x"), also=("CSIP60", "EARK-UNLISTED")),
    BadPackage("EARK-UNLISTED", "more", put("documentation/more.txt", b"x"), also=("CSIP60",)),
    BadPackage("EARK-XML", "cut-short", swap("</mets>", "")),
    BadPackage("EARK-XML-HOSTILE", "doctype", swap("<mets ", '<!DOCTYPE mets [<!ENTITY a "b">]>\n<mets ')),
    BadPackage("EARK-XSD", "element", swap("<structMap", '<div xmlns="http://www.loc.gov/METS/"/>\n<structMap')),
    BadPackage("EARK-PREMIS-SIZE", "other", before=cut("<size>[^<]*", "<size>5", PREMIS)),
    BadPackage(
        "EARK-PREMIS-CHECKSUM", "other", before=cut("<messageDigest>[^<]*", f"<messageDigest>{'0' * 64}", PREMIS)
    ),
    BadPackage("EARK-PREMIS-OBJECT", "gone", before=put(PREMIS, premis({"documentation/other.txt": b"x"}))),
)

BAD_PACKAGES: tuple[BadPackage, ...] = (
    *(*_ROOT, *_SECTIONS, *_FILES, *_MAP, *_FOLDERS, *_SIP, *_AIP, *_OURS),
    *MORE_WAYS,
)
"""Rules that need another kind of file system (EARK-NAME, EARK-ODD, EARK-UNREADABLE) are broken by the tests."""
