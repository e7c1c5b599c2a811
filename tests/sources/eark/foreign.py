"""A submission as others make them, written with lxml alone: EAD, Dublin Core, PREMIS and ERMS, and who sent it."""

from __future__ import annotations

import hashlib
from pathlib import Path

from lxml import etree

METS = "http://www.loc.gov/METS/"
CSIP = "https://DILCIS.eu/XML/METS/CSIPExtensionMETS"
XLINK = "http://www.w3.org/1999/xlink"
NAMES = {"csip": CSIP, "xlink": XLINK}

EAD = b"""<ead xmlns="http://ead3.archivists.org/schema/"><control><recordid>FK-1</recordid><filedesc><titlestmt>
<titleproper>Funn</titleproper></titlestmt></filedesc></control><archdesc level="fonds"><did>
<unittitle>Fjord kommunes sakarkiv</unittitle><unitid>NO-FJ-1990</unitid><unitdate>1990-01-01/1999-12-31</unitdate>
</did><accessrestrict><p>Stengt til <emph>2059</emph>.</p></accessrestrict><dsc><c><did>
<unittitle>Brev om fisk</unittitle></did></c></dsc></archdesc></ead>"""
DC = b"""<simpledc xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>Sakarkivet</dc:title>
<dc:description>Saker om fisk og fjord</dc:description><dc:date>2001-05-17</dc:date><dc:identifier>FJ/77</dc:identifier>
<dc:rights>Offentleglova</dc:rights></simpledc>"""
PREMIS = b"""<premis xmlns="http://www.loc.gov/premis/v3" version="3.0"
 xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">
<object xsi:type="file"><objectIdentifier><objectIdentifierType>local</objectIdentifierType>
<objectIdentifierValue>brev.txt</objectIdentifierValue></objectIdentifier></object>
<event><eventIdentifier><eventIdentifierType>local</eventIdentifierType><eventIdentifierValue>e1</eventIdentifierValue>
</eventIdentifier><eventType>virus check</eventType><eventDateTime>2021-03-04T05:06:07Z</eventDateTime>
<eventDetailInformation><eventDetail>clamav 1.0</eventDetail></eventDetailInformation><eventOutcomeInformation>
<eventOutcome>clean</eventOutcome></eventOutcomeInformation><linkingAgentIdentifier>
<linkingAgentIdentifierType>local</linkingAgentIdentifierType><linkingAgentIdentifierValue>scanner-7</linkingAgentIdentifierValue>
</linkingAgentIdentifier></event>
<agent><agentIdentifier><agentIdentifierType>local</agentIdentifierType><agentIdentifierValue>scanner-7</agentIdentifierValue>
</agentIdentifier><agentName>ClamAV</agentName></agent></premis>"""
ERMS = """<erms xmlns="https://DILCIS.eu/XML/ERMS"><control>
<identification identificationType="erms">FJ-ERMS-1</identification></control><aggregations>
<aggregation systemIdentifier="a1" aggregationType="caseFile"><objectId>1990/7</objectId>
<extraId extraIdType="old">K-77</extraId><classification classificationCode="4.2">Fiske</classification>
<title>Sak om fisk</title><status value="closed"/>
<agents><agent agentType="case_responsible_officer"><name>Kari Fjord</name><organisation>Fjord kommune</organisation>
<idNumber idNumberType="employee">77</idNumber></agent></agents>
<dates><date dateType="opened">1990-02-03T10:00:00</date><date dateType="closed">1991-02-03T10:00:00</date></dates>
<record systemIdentifier="r1" recordType="letter"><objectId>1990/7-1</objectId><title>Brev om laks</title>
<status value="closed"/><direction directionDefinition="incoming"/>
<restriction restrictionType="confidential"><explanatoryText>Helse</explanatoryText>
<regulation>Offentleglova § 13</regulation></restriction>
<agents><agent agentType="sender"><name>Ola Laks</name><organisation>Laks AS</organisation></agent>
<agent agentType="receiver"><name>Fjord kommune</name></agent>
<agent agentType="creator"><name>Per Penn</name></agent></agents>
<dates><date dateType="created">1990-02-04T10:00:00</date><date dateType="received">1990-02-05T10:00:00</date>
<date dateType="expired">2000-01-01T00:00:00</date></dates>
<runningNumber>1</runningNumber><ownElement name="tone"><ownElementDescription>sint</ownElementDescription></ownElement>
<additionalInformation><appendix path="brev.txt" name="Brev" fileFormat="fmt/x"/></additionalInformation>
</record></aggregation></aggregations></erms>""".encode()

DATA = {"erms.xml": ERMS, "brev.txt": b"Kjaere kommune"}


def submission(place: Path, data: dict[str, bytes] | None = None, content_type: str = "citserms_v3_0") -> Path:
    """The package in a folder."""
    data = DATA if data is None else data
    described = {
        "metadata/descriptive/ead.xml": ("EAD", EAD),
        "metadata/descriptive/dc.xml": ("DC", DC),
        "metadata/preservation/premis.xml": ("PREMIS", PREMIS),
    }
    root = _mets("urn:uuid:fjord", "Fjord", content_type, header=True)
    for name, (kind, content) in described.items():
        section = _below(root, "dmdSec") if kind != "PREMIS" else _below(_below(root, "amdSec"), "digiprovMD")
        _reference(_below(section, "mdRef", MDTYPE=kind), name, content)
    inner = _mets("rep1", "rep1", content_type)
    group = _below(_below(inner, "fileSec"), "fileGrp", USE="Data")
    for name, content in data.items():
        _file(group, f"data/{name}", content)
    mets = etree.tostring(inner)
    group = _below(_below(root, "fileSec"), "fileGrp", USE="Representations/rep1")
    group.set(f"{{{CSIP}}}CONTENTINFORMATIONTYPE", content_type)
    _file(group, "representations/rep1/METS.xml", mets)
    mptr = _below(_below(_below(root, "structMap"), "div", LABEL="Representations/rep1"), "mptr", LOCTYPE="URL")
    mptr.set(f"{{{XLINK}}}href", "representations/rep1/METS.xml")
    files = {name: content for name, (_, content) in described.items()}
    files |= {f"representations/rep1/data/{name}": content for name, content in data.items()}
    files |= {"representations/rep1/METS.xml": mets, "METS.xml": etree.tostring(root)}
    for name, content in files.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_bytes(content)
    return place


def _mets(object_id: str, label: str, content_type: str, *, header: bool = False) -> etree._Element:
    root = etree.Element(f"{{{METS}}}mets", {"OBJID": object_id, "LABEL": label, "TYPE": "Mixed"}, NAMES)
    root.set("PROFILE", "https://earksip.dilcis.eu/profile/E-ARK-SIP.xml")
    root.set(f"{{{CSIP}}}CONTENTINFORMATIONTYPE", content_type)
    head = _below(root, "metsHdr", CREATEDATE="2021-03-05T00:00:00Z", RECORDSTATUS="NEW")
    head.set(f"{{{CSIP}}}OAISPACKAGETYPE", "SIP")
    if header:
        _agent(head, ("ARCHIVIST", "OTHER", "Sakssystem 4", "4.1"), OTHERTYPE="SOFTWARE")
        _agent(head, ("ARCHIVIST", "ORGANIZATION", "Fjord kommune", "964982953"), code=True)
        _agent(head, ("CREATOR", "ORGANIZATION", "Fjord IKT", "911000111"), code=True)
        for kind, value in (("SUBMISSIONAGREEMENT", "avtale-2021-9"), ("REFERENCECODE", "FJ-REF-3")):
            _below(head, "altRecordID", TYPE=kind).text = value
    return root


def _agent(head: etree._Element, told: tuple[str, str, str, str], *, code: bool = False, **more: str) -> None:
    role, kind, name, note = told
    agent = _below(head, "agent", ROLE=role, TYPE=kind, **more)
    _below(agent, "name").text = name
    noted = _below(agent, "note")
    noted.text = note
    noted.set(f"{{{CSIP}}}NOTETYPE", "IDENTIFICATIONCODE" if code else "SOFTWARE VERSION")


def _below(parent: etree._Element, name: str, **told: str) -> etree._Element:
    return etree.SubElement(parent, f"{{{METS}}}{name}", dict(told))


def _reference(element: etree._Element, name: str, content: bytes) -> None:
    element.set(f"{{{XLINK}}}href", name)
    for key, value in _facts(content).items():
        element.set(key, value)


def _file(group: etree._Element, name: str, content: bytes) -> None:
    place = _below(_below(group, "file", **_facts(content)), "FLocat", LOCTYPE="URL")
    place.set(f"{{{XLINK}}}href", name)


def _facts(content: bytes) -> dict[str, str]:
    return {
        "SIZE": str(len(content)),
        "CHECKSUM": hashlib.sha256(content).hexdigest(),
        "CHECKSUMTYPE": "SHA-256",
        "CREATED": "2021-03-05T00:00:00Z",
        "MIMETYPE": "application/octet-stream",
    }
