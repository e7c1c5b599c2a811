"""The rules of the root element and the header: CSIP 1 to 16 and 117, and those of the kinds of packages."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from noarkit.forms.eark import spec
from noarkit.forms.metadata.mets_model import CONTENT_TYPE, OTHER_CONTENT_TYPE, AgentElement, Attributes, Header

AddFinding = Callable[..., None]
"""Takes a code, a line and the data of a place."""

XLINK_TYPE, XLINK_HREF, XLINK_TITLE = (f"{spec.XLINK} {name}" for name in ("type", "href", "title"))
_OTHER_TYPE, _PACKAGE_TYPE = (f"{spec.CSIP} {name}" for name in ("OTHERTYPE", "OAISPACKAGETYPE"))
_MOMENT = re.compile(r"-?\d{4,}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)?")
_URL = re.compile(r"https?://[^\s/]+\S*")
_KIND = re.compile(r"E-ARK-(CSIP|SIP|AIP|DIP)\b")
_KNOWN_TYPES = frozenset((*spec.CONTENT_TYPES, *spec.CONTENT_TYPES_OF_SCHEMA, *spec.CONTENT_TYPES_MET))
_CATEGORIES = frozenset((*spec.CONTENT_CATEGORIES, spec.ERMS_CATEGORY, "OTHER", "MIXED"))
_ID_CODE = spec.NOTE_TYPES[1]


def is_moment(value: str) -> bool:
    """True for a date with its time, as XML writes it."""
    return _MOMENT.fullmatch(value) is not None


def is_content_type(value: str) -> bool:
    """True for a content information type that the vocabulary, the schema or a specification knows."""
    return value in _KNOWN_TYPES


def kind_of(header: Header) -> str:
    """`SIP`, `AIP` or `DIP` as the profile says, else as the header says; nothing for a package of CSIP alone."""
    match = _KIND.search(header.root.get("PROFILE", ""))
    if match is not None:
        return "" if match.group(1) == "CSIP" else match.group(1)
    if "CSIP" in header.root.get("PROFILE", "").upper():
        return ""
    package_type = (header.attributes or {}).get(_PACKAGE_TYPE, "")
    return package_type if package_type in ("SIP", "AIP", "DIP") else ""


def version_of(header: Header, forced_version: str) -> spec.Version:
    """The version of the specification a package is held to: as asked, as its profile says, or as its kind has it."""
    version_text = forced_version or spec.version_of_profile(header.root.get("PROFILE", "")) or ""
    for version in spec.VERSIONS:
        if version == version_text:
            return version
    return "2.1.0" if kind_of(header) == "SIP" else spec.DEFAULT_VERSION


def judge_header(header: Header, add_finding: AddFinding, *, latest: str = "") -> None:
    """CSIP, at every level. `latest` is the last day on which the package can have been changed, if known."""
    _root(header, add_finding)
    attributes = header.attributes
    if attributes is None:
        add_finding("CSIP117", header.line)
        return
    line = header.header_line
    moment(attributes.get("CREATEDATE"), "CSIP7", line, add_finding)
    changed_at = attributes.get("LASTMODDATE")
    if changed_at is not None and not is_moment(changed_at):
        add_finding("CSIP8", line, attribute="LASTMODDATE", value=changed_at)
    elif changed_at is not None and latest and changed_at[: len(latest)] > latest:
        add_finding("CSIP8", line, attribute="LASTMODDATE", moment=changed_at)
    package_type = attributes.get(_PACKAGE_TYPE)
    if package_type not in spec.PACKAGE_TYPES:
        add_finding("CSIP9", line, attribute="csip:OAISPACKAGETYPE", value=package_type)
    if not header.agents:
        add_finding("CSIP10", line)
    else:
        _software(header.agents, add_finding)


def moment(value: str | None, code: str, line: int, add_finding: AddFinding) -> None:
    """A date that must be there, with its time."""
    if value is None or not is_moment(value):
        add_finding(code, line, attribute="CREATEDATE" if code == "CSIP7" else "CREATED", value=value)


def other_content_type(attributes: Attributes, code: str, line: int, add_finding: AddFinding) -> None:
    """Another content type is named where the first is OTHER, and is none that the vocabulary has.

    With SIARD it names the version of the format.
    """
    other_type, content = attributes.get(OTHER_CONTENT_TYPE), attributes.get(CONTENT_TYPE)
    if not other_type or content in spec.SIARD_TYPES:
        return
    if content != "OTHER":
        add_finding(code, line, attribute="csip:OTHERCONTENTINFORMATIONTYPE", alone=other_type)
    elif other_type != "OTHER" and is_content_type(other_type):
        add_finding(code, line, attribute="csip:OTHERCONTENTINFORMATIONTYPE", value=other_type)


def _root(header: Header, add_finding: AddFinding) -> None:
    attributes, line = header.root, header.line
    if not attributes.get("OBJID"):
        add_finding("CSIP1", line, attribute="OBJID")
    category = attributes.get("TYPE")
    if category not in _CATEGORIES:
        add_finding("CSIP2", line, attribute="TYPE", value=category)
    if category in ("OTHER", "Other") and not attributes.get(_OTHER_TYPE):
        for code in ("CSIP2", "CSIP3"):
            add_finding(code, line, attribute="csip:OTHERTYPE")
    other_type = attributes.get(_OTHER_TYPE)
    if other_type and category not in ("OTHER", "Other"):
        add_finding("CSIP3", line, attribute="csip:OTHERTYPE", alone=other_type)
    elif other_type in _CATEGORIES and other_type not in ("OTHER", "Other"):
        add_finding("CSIP3", line, attribute="csip:OTHERTYPE", value=other_type)
    content = attributes.get(CONTENT_TYPE)
    if content is None or not is_content_type(content):
        add_finding("CSIP4", line, attribute="csip:CONTENTINFORMATIONTYPE", value=content)
    if content == "OTHER" and not attributes.get(OTHER_CONTENT_TYPE):
        for code in ("CSIP4", "CSIP5"):
            add_finding(code, line, attribute="csip:OTHERCONTENTINFORMATIONTYPE")
    other_content_type(attributes, "CSIP5", line, add_finding)
    profile = attributes.get("PROFILE")
    if not profile or _URL.fullmatch(profile) is None:
        add_finding("CSIP6", line, attribute="PROFILE", value=profile)


def _software(agents: Sequence[AgentElement], add_finding: AddFinding) -> None:
    """Checks that one agent is the software; where none fully is, the faults of the closest one are reported."""
    expected = (("ROLE", "CREATOR", "CSIP11"), ("TYPE", "OTHER", "CSIP12"), ("OTHERTYPE", "SOFTWARE", "CSIP13"))
    nearest = max(agents, key=lambda agent: _nearness(agent, expected))
    for attribute, value, code in expected:
        if nearest.get(attribute) != value:
            add_finding(code, nearest.line, attribute=attribute, value=nearest.attributes.get(attribute))
    if len(nearest.names) != 1 or not nearest.names[0]:
        add_finding("CSIP14", nearest.line, count=len(nearest.names))
    if not any(text for _, text in nearest.notes):
        add_finding("CSIP15", nearest.line)
    elif len(nearest.notes) > 1:
        add_finding("CSIP15", nearest.line, count=len(nearest.notes))
    if nearest.notes and spec.NOTE_TYPES[0] not in (kind for kind, _ in nearest.notes):
        add_finding("CSIP16", nearest.line, attribute="csip:NOTETYPE", value=nearest.notes[0][0] or None)


def _nearness(agent: AgentElement, expected: Sequence[tuple[str, str, str]]) -> int:
    """What names the software weighs more than that it created the package, which others did too."""
    matches = [agent.get(attribute) == value for attribute, value, _ in expected]
    versioned = any(kind == spec.NOTE_TYPES[0] for kind, _ in agent.notes)
    return matches[0] + 2 * matches[1] + 4 * matches[2] + 3 * versioned


def judge_kind(header: Header, kind: str, version: spec.Version, add_finding: AddFinding) -> None:
    """What SIP, AIP or DIP ask of the root element and the header."""
    attributes = header.attributes or {}
    profile, package_type = header.root.get("PROFILE"), attributes.get(_PACKAGE_TYPE)
    code_profile, code_type = {"SIP": ("SIP2", "SIP4"), "AIP": ("AIPM2", "AIPM3"), "DIP": ("DIP2", "DIP3")}[kind]
    for of_kind in spec.KINDS:
        if of_kind == kind.lower() and profile not in spec.PROFILES[of_kind, version]:
            add_finding(code_profile, header.line, attribute="PROFILE", value=profile)
    if package_type != kind:
        add_finding(code_type, header.header_line or header.line, attribute="csip:OAISPACKAGETYPE", value=package_type)
    if kind == "SIP":
        _submission(header, add_finding)
    elif not header.root.get("OBJID"):
        add_finding("AIPM1" if kind == "AIP" else "DIP1", header.line, attribute="OBJID")


def _submission(header: Header, add_finding: AddFinding) -> None:
    line = header.header_line or header.line
    if not header.root.get("LABEL"):
        add_finding("SIP1", header.line, attribute="LABEL")
    status = (header.attributes or {}).get("RECORDSTATUS")
    if status not in spec.RECORD_STATUSES:
        add_finding("SIP3", line, attribute="RECORDSTATUS", value=status)
    for number, kind in enumerate(spec.ALT_RECORD_ID_TYPES):
        texts = [text for id_type, text in header.ids if id_type == kind]
        single = kind in ("SUBMISSIONAGREEMENT", "REFERENCECODE")
        if not texts or not all(texts) or (single and len(texts) > 1):
            add_finding(f"SIP{5 + number}", line, kind=kind, count=len(texts))
    agents = header.agents
    _creators([agent for agent in agents if _acts(agent, "ARCHIVIST")], line, add_finding)
    _submitters(agents, line, add_finding)
    _contacts([agent for agent in agents if _is_contact(agent)], line, add_finding)
    _preservers([agent for agent in agents if _acts(agent, "PRESERVATION")], line, add_finding)


def _acts(agent: AgentElement, role: str) -> bool:
    return role in (agent.get("ROLE"), agent.get("OTHERROLE").upper())


def _is_contact(agent: AgentElement) -> bool:
    other_role = agent.get("OTHERROLE").upper()
    person = agent.get("TYPE") == "INDIVIDUAL" and (agent.get("ROLE") == "CREATOR" or other_role.startswith("SUBMIT"))
    return person or other_role.startswith("CONTACT")


def _creators(agents: Sequence[AgentElement], line: int, add_finding: AddFinding) -> None:
    if not agents:
        add_finding("SIP9", line)
    for agent in agents:
        _role(agent, "ARCHIVIST", "SIP10", add_finding)
        _type(agent, ("ORGANIZATION", "INDIVIDUAL"), "SIP11", add_finding)
        _name(agent, "SIP12", add_finding)
        _note(agent, "SIP13", "SIP14", add_finding)


def _submitters(agents: Sequence[AgentElement], line: int, add_finding: AddFinding) -> None:
    """The one who hands over: an organisation that created the package, else whoever else may be meant."""
    creators = [
        candidate
        for candidate in agents
        if candidate.get("ROLE") == "CREATOR" and candidate.get("OTHERTYPE") != "SOFTWARE"
    ]
    submitters = [
        candidate
        for candidate in agents
        if candidate.get("OTHERROLE").upper().startswith("SUBMIT") and not _is_contact(candidate)
    ]
    organisations = [candidate for candidate in creators if candidate.get("TYPE") == "ORGANIZATION"]
    fallback = [candidate for candidate in creators if candidate.get("TYPE") != "INDIVIDUAL"] or creators[:1]
    chosen_agents = organisations or submitters or fallback
    if len(chosen_agents) != 1:
        add_finding("SIP15", line, count=len(chosen_agents))
    for agent in chosen_agents:
        if agent.get("ROLE") != "CREATOR" and agent.get("OTHERROLE").upper() != "SUBMITTER":
            add_finding("SIP16", agent.line, attribute="ROLE", value=agent.get("OTHERROLE") or agent.get("ROLE"))
        _type(agent, ("ORGANIZATION", "INDIVIDUAL"), "SIP17", add_finding)
        _name(agent, "SIP18", add_finding)
        _note(agent, "SIP19", "SIP20", add_finding)


def _contacts(agents: Sequence[AgentElement], line: int, add_finding: AddFinding) -> None:
    if not agents:
        add_finding("SIP21", line)
    for agent in agents:
        if agent.get("ROLE") != "CREATOR" and agent.get("OTHERROLE").upper() != "SUBMITTER":
            add_finding("SIP22", agent.line, attribute="ROLE", value=agent.get("OTHERROLE") or agent.get("ROLE"))
        _type(agent, ("INDIVIDUAL",), "SIP23", add_finding)
        _name(agent, "SIP24", add_finding)
        if not agent.notes:
            add_finding("SIP25", agent.line)


def _preservers(agents: Sequence[AgentElement], line: int, add_finding: AddFinding) -> None:
    if not agents:
        add_finding("SIP26", line)
    for agent in agents:
        _role(agent, "PRESERVATION", "SIP27", add_finding)
        _type(agent, ("ORGANIZATION",), "SIP28", add_finding)
        _name(agent, "SIP29", add_finding)
        _note(agent, "SIP30", "SIP31", add_finding)


def _role(agent: AgentElement, role: str, code: str, add_finding: AddFinding) -> None:
    if agent.get("ROLE") != role:
        add_finding(code, agent.line, attribute="ROLE", value=agent.get("ROLE"))


def _type(agent: AgentElement, types: Sequence[str], code: str, add_finding: AddFinding) -> None:
    if agent.get("TYPE") not in types:
        add_finding(code, agent.line, attribute="TYPE", value=agent.attributes.get("TYPE"))


def _name(agent: AgentElement, code: str, add_finding: AddFinding) -> None:
    if len(agent.names) != 1 or not agent.names[0]:
        add_finding(code, agent.line, count=len(agent.names))


def _note(agent: AgentElement, missing_code: str, kind: str, add_finding: AddFinding) -> None:
    """A note may be there; then it says that it is a code."""
    if not agent.notes:
        add_finding(missing_code, agent.line)
    elif _ID_CODE not in (note_type for note_type, _ in agent.notes):
        add_finding(kind, agent.line, attribute="csip:NOTETYPE", value=agent.notes[0][0] or None)
