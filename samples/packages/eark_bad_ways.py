"""More ways to break rules for E-ARK packages than the first one that `eark_bad` has for each."""

from __future__ import annotations

from samples.packages.eark import OBJID, REP, Draft, file
from samples.packages.eark_changes import (
    METS,
    REP_METS,
    BadPackage,
    Change,
    both,
    content_case,
    cut,
    in_representation,
    put,
    renamed,
    swap,
    within,
)

_TYPE, _CONTENT_TYPE = 'TYPE="Datasets"', 'csip:CONTENTINFORMATIONTYPE="MIXED"'
_OTHER_CONTENT_TYPE = "csip:OTHERCONTENTINFORMATIONTYPE"
_VERSION_NOTE = '<note csip:NOTETYPE="SOFTWARE VERSION">1.0</note>\n'
_REP_GROUP = 'ADMID="adm-1" csip:CONTENTINFORMATIONTYPE="MIXED"'
_MAP = '<structMap ID="map" TYPE="PHYSICAL" LABEL="CSIP">'
_METADATA = '<div ID="div-md" LABEL="Metadata" ADMID="adm-1 adm-2" DMDID="dmd-1"/>\n'
_DOC, _XSD = (
    f'<div ID="div-{which}" LABEL="{label}">\n<fptr FILEID="grp-{which}"/>\n</div>\n'
    for which, label in (("doc", "Documentation"), ("xsd", "Schemas"))
)
_CONTENT = '<div ID="div-rep" LABEL="Representations">\n<fptr FILEID="grp-rep"/>\n</div>\n'
_FILE = '<file ID="file-doc"'


def _twice(division: str) -> Change:
    """The same division once more, under an id of its own."""
    return swap(division, division + division.replace('<div ID="', '<div ID="more-'))


def _second_group(use: str) -> Change:
    """A second group, which no pointer names."""
    again = file("file-again", "documentation/more.txt", b"More.\n", formats=True)
    group = f'<fileGrp ID="grp-more" USE="{use}" ADMID="adm-1">\n{again}</fileGrp>\n'
    return both(put("documentation/more.txt", b"More.\n"), swap("</fileSec>", f"{group}</fileSec>"))


def _second_representation(draft: Draft) -> None:
    """Another representation with a METS document, of which the package knows nothing."""
    for name, content in tuple(draft.files.items()):
        if name.startswith(f"{REP}/"):
            draft.files[name.replace(REP, f"{REP[:-1]}2")] = content.replace(b'"rep1"', b'"rep2"')


def _root() -> list[BadPackage]:
    other = swap(_CONTENT_TYPE, f'csip:CONTENTINFORMATIONTYPE="OTHER" {_OTHER_CONTENT_TYPE}="ERMS"')
    return [
        BadPackage("CSIP1", "empty", swap(f'OBJID="{OBJID}"', 'OBJID=""'), kind="CSIP"),
        BadPackage("CSIP1", "representation", in_representation(swap('OBJID="rep1"', 'OBJID="rep2"', REP_METS))),
        BadPackage("CSIP2", "none", swap(f" {_TYPE}", "")),
        BadPackage("CSIP3", "alone", swap(_TYPE, f'{_TYPE} csip:OTHERTYPE="Things"')),
        BadPackage("CSIP3", "of-the-vocabulary", swap(_TYPE, 'TYPE="OTHER" csip:OTHERTYPE="Datasets"')),
        BadPackage("CSIP2", "other-not-named", swap(_TYPE, 'TYPE="Other" csip:OTHERTYPE=""'), also=("CSIP3",)),
        BadPackage("CSIP4", "unknown", swap(_CONTENT_TYPE, 'csip:CONTENTINFORMATIONTYPE="Things"'), also=("EARK-XSD",)),
        BadPackage(
            "CSIP4",
            "representation",
            in_representation(swap(f" {_CONTENT_TYPE}", "", REP_METS)),
        ),
        BadPackage(
            "CSIP4", "other-not-named", swap(_CONTENT_TYPE, 'csip:CONTENTINFORMATIONTYPE="OTHER"'), also=("CSIP5",)
        ),
        BadPackage("CSIP5", "alone", swap(_CONTENT_TYPE, f'{_CONTENT_TYPE} {_OTHER_CONTENT_TYPE}="Cards"')),
        BadPackage("CSIP5", "of-the-vocabulary", other),
        BadPackage("CSIP7", "none", cut(' CREATEDATE="[^"]*"')),
        BadPackage("CSIP8", "future", cut('LASTMODDATE="[^"]*"', 'LASTMODDATE="9024-05-06T07:08:09Z"')),
        BadPackage("CSIP15", "two", swap(_VERSION_NOTE, _VERSION_NOTE * 2)),
        BadPackage("CSIP15", "empty", swap(_VERSION_NOTE, _VERSION_NOTE.replace("1.0", ""))),
        BadPackage("CSIP16", "unknown", swap('NOTETYPE="SOFTWARE VERSION"', 'NOTETYPE="VERSION"'), also=("EARK-XSD",)),
    ]


def _references() -> list[BadPackage]:
    """What is said of the file of a section that is no media type, or no size."""
    found = []
    for kind, media_type, size, unlisted in (
        ("dmdSec", 26, 27, ("CSIP17",)),
        ("digiprovMD", 40, 41, ("CSIP32",)),
        ("rightsMD", 53, 54, ()),
    ):
        here = f"<{kind} ID="
        found += [
            BadPackage(f"CSIP{media_type}", "nonsense", within(here, ' MIMETYPE="[^"]*"', ' MIMETYPE="xml/text"')),
            BadPackage(
                f"CSIP{media_type}",
                "not-registered",
                within(here, ' MIMETYPE="[^"]*"', ' MIMETYPE="text/nonsense"'),
                version="2.1.0",
            ),
            BadPackage(
                f"CSIP{media_type - 2}",
                "empty",
                within(here, ' xlink:href="[^"]*"', ' xlink:href=""'),
                also=("EARK-UNLISTED", *unlisted),
            ),
            BadPackage(f"CSIP{media_type}", "empty", within(here, ' MIMETYPE="[^"]*"', ' MIMETYPE=""')),
            BadPackage(f"CSIP{size}", "none", within(here, ' SIZE="[^"]*"')),
            BadPackage(f"CSIP{size}", "no-number", within(here, ' SIZE="[^"]*"', ' SIZE="big"'), also=("EARK-XSD",)),
            BadPackage(
                f"CSIP{size}",
                "without-checksum",
                both(within(here, ' SIZE="[^"]*"', ' SIZE="3"'), within(here, ' CHECKSUM="[^"]*"')),
                also=(f"CSIP{size + 2}",),
            ),
        ]
    return found


def _files() -> list[BadPackage]:
    empty = [
        BadPackage(f"SIP{number}", "empty", swap(f' sip:{name}="{value}"', f' sip:{name}=""'))
        for number, name, value in (
            (32, "FILEFORMATNAME", "Plain text"),
            (33, "FILEFORMATVERSION", "1"),
            (34, "FORMATREGISTRY", "PRONOM"),
            (35, "FORMATREGISTRYKEY", "x-fmt/111"),
        )
    ]
    other = f'csip:CONTENTINFORMATIONTYPE="OTHER" {_OTHER_CONTENT_TYPE}="ERMS"'
    return [
        BadPackage(
            "CSIP61", "of-no-section", swap('USE="Documentation" ADMID="adm-1"', 'USE="Documentation" ADMID="grp-xsd"')
        ),
        BadPackage(
            "CSIP61",
            "one-of-no-section",
            swap('USE="Documentation" ADMID="adm-1"', 'USE="Documentation" ADMID="adm-1 file-doc"'),
        ),
        BadPackage("CSIP62", "unknown", swap(_REP_GROUP, _REP_GROUP.replace("MIXED", "Things")), also=("EARK-XSD",)),
        BadPackage("CSIP63", "alone", swap(_REP_GROUP, f'{_REP_GROUP} {_OTHER_CONTENT_TYPE}="Cards"')),
        BadPackage("CSIP63", "of-the-vocabulary", swap(_REP_GROUP, f'ADMID="adm-1" {other}')),
        BadPackage(
            "CSIP64",
            "no-such-folder",
            swap('USE="Representations/rep1"', 'USE="Representations/rep2"'),
        ),
        BadPackage("CSIP64", "no-folder-at-all", _second_group("Things")),
        BadPackage("CSIP68", "nonsense", within(_FILE, ' MIMETYPE="[^"]*"', ' MIMETYPE="plain/text"')),
        BadPackage(
            "CSIP68", "not-registered", within(_FILE, ' MIMETYPE="[^"]*"', ' MIMETYPE="text/nonsense"'), version="2.1.0"
        ),
        BadPackage(
            "CSIP79",
            "empty",
            swap('xlink:href="documentation/readme.txt"', 'xlink:href=""'),
            also=("CSIP60", "EARK-UNLISTED"),
        ),
        BadPackage("CSIP68", "no-subtype", within(_FILE, ' MIMETYPE="[^"]*"', ' MIMETYPE="text"')),
        *empty,
    ]


def _map() -> list[BadPackage]:
    more_maps = f'{_MAP.replace("map", "more", 1)}<div ID="more-div"/></structMap>\n</mets>'
    strangers = (("CSIP91", "ADMID", "adm-1 adm-2", "files"), ("CSIP92", "DMDID", "dmd-1", "adm-1"))
    return [
        BadPackage("CSIP80", "not-called-so", swap(_MAP, _MAP.replace('"CSIP"', '"Map"')), also=("CSIP82",)),
        BadPackage("CSIP80", "two", swap("</mets>", more_maps.replace("more-", "more")), also=("CSIP82",)),
        BadPackage("CSIP88", "two", _twice(_METADATA), also=("CSIP90",)),
        BadPackage("CSIP90", "two", _twice(_METADATA), also=("CSIP88",)),
        BadPackage("CSIP93", "two", _twice(_DOC)),
        BadPackage("CSIP97", "two", _twice(_XSD)),
        content_case("CSIP101", "two", _twice(_CONTENT)),
        *(
            BadPackage(code, "of-no-section", swap(f'{name}="{ids}"', f'{name}="{ids} {stranger}"', count=-1))
            for code, name, ids, stranger in strangers
        ),
        BadPackage("CSIP105", "one-left-out", _second_representation, also=("CSIP114", "EARK-UNLISTED")),
        BadPackage("CSIP114", "unlisted", _second_representation, also=("CSIP105", "EARK-UNLISTED")),
        BadPackage("CSIP96", "one-left-out", _second_group("Documentation")),
        BadPackage("CSIP108", "other-group", swap('xlink:title="grp-rep"', 'xlink:title="grp-doc"')),
        *(
            BadPackage(code, "other-group", swap(f'FILEID="{old}"', f'FILEID="{new}"'), also=(also,))
            for old, new, pair in (("grp-doc", "grp-xsd", (96, 116)), ("grp-xsd", "grp-doc", (100, 118)))
            for code, also in ((f"CSIP{pair[0]}", f"CSIP{pair[1]}"), (f"CSIP{pair[1]}", f"CSIP{pair[0]}"))
        ),
        *(
            content_case(code, "other-group", swap('FILEID="grp-rep"', 'FILEID="grp-doc"'), also=(also,))
            for code, also in (("CSIP104", "CSIP119"), ("CSIP119", "CSIP104"))
        ),
    ]


def _folders() -> list[BadPackage]:
    """METS documents that are called otherwise than they should."""
    names = ("Mets.xml", "METS1.xml", "old_METS.xml", "METS.xml.xml")
    unlisted = (
        ("CSIP17", "metadata/descriptive/more.xml"),
        ("CSIP32", "metadata/preservation/more.xml"),
        ("CSIP60", "documentation/more.txt"),
        ("CSIP113", "schemas/more.xsd"),
    )
    return [
        *(BadPackage("CSIPSTR4", f"called-{name}", renamed(METS, name)) for name in names),
        *(BadPackage(code, "unlisted", put(name, b"<x/>"), also=("EARK-UNLISTED",)) for code, name in unlisted),
    ]


def _kinds() -> list[BadPackage]:
    """What SIP, AIP and DIP ask of the root element, the header and its agents."""
    found = [
        BadPackage(code, "none", cut(' PROFILE="[^"]*"'), kind=kind, also=("CSIP6", "EARK-XSD"))
        for code, kind in (("SIP2", "SIP"), ("AIPM2", "AIP"), ("DIP2", "DIP"))
    ]
    found += [
        BadPackage(code, "none", cut(' csip:OAISPACKAGETYPE="[^"]*"'), kind=kind, also=("CSIP9",))
        for code, kind in (("SIP4", "SIP"), ("AIPM3", "AIP"), ("DIP3", "DIP"))
    ]
    found += [
        BadPackage(code, "no-status", within("<dmdSec", ' STATUS="CURRENT"'), kind=kind, also=("CSIP20",))
        for code, kind in (("AIPM4", "AIP"), ("DIP4", "DIP"))
    ]
    for first, role in ((9, "ARCHIVIST"), (15, "CREATOR"), (26, "PRESERVATION")):
        agent = f'<agent ROLE="{role}" TYPE="ORGANIZATION">'
        found += [
            BadPackage(f"SIP{first + 3}", "two", within(agent, "</name>", "</name>\n<name>More</name>")),
            BadPackage(
                f"SIP{first + 5}",
                "unknown",
                within(agent, 'NOTETYPE="IDENTIFICATIONCODE"', 'NOTETYPE="CODE"'),
                also=("EARK-XSD",),
            ),
        ]
    second = '<agent ROLE="CREATOR" TYPE="ORGANIZATION">\n<name>More</name>\n{}</agent>\n'
    note = '<note csip:NOTETYPE="IDENTIFICATIONCODE">NO-4</note>\n'
    return [*found, BadPackage("SIP15", "two", swap("<altRecordID", second.format(note) + "<altRecordID"))]


MORE_WAYS: tuple[BadPackage, ...] = (*_root(), *_references(), *_files(), *_map(), *_folders(), *_kinds())
