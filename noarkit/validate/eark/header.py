"""The rules of the root element and the header: CSIP 1 to 16 and 117, and those of the kinds of packages."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from noarkit.packages.eark import spec
from noarkit.validate.eark.sight import Agent, Attributes, Header

Tell = Callable[..., None]
"""Takes a code, a line and the data of a place."""

XLINK_TYPE, XLINK_HREF, XLINK_TITLE = (f"{spec.XLINK} {name}" for name in ("type", "href", "title"))
CONTENT_TYPE, OTHER_CONTENT_TYPE = (
    f"{spec.CSIP} {name}" for name in ("CONTENTINFORMATIONTYPE", "OTHERCONTENTINFORMATIONTYPE")
)
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
    named = _KIND.search(header.root.get("PROFILE", ""))
    if named is not None:
        return "" if named.group(1) == "CSIP" else named.group(1)
    if "CSIP" in header.root.get("PROFILE", "").upper():
        return ""
    said = (header.attributes or {}).get(_PACKAGE_TYPE, "")
    return said if said in ("SIP", "AIP", "DIP") else ""


def version_of(header: Header, asked: str) -> spec.Version:
    """The version of the specification a package is held to: as asked, as its profile says, or as its kind has it."""
    said = asked or spec.version_of_profile(header.root.get("PROFILE", "")) or ""
    for version in spec.VERSIONS:
        if version == said:
            return version
    return "2.1.0" if kind_of(header) == "SIP" else spec.DEFAULT_VERSION


def judge_header(header: Header, tell: Tell, *, latest: str = "") -> None:
    """CSIP, at every level. `latest` is the last day on which the package can have been changed, if known."""
    _root(header, tell)
    of = header.attributes
    if of is None:
        tell("CSIP117", header.line)
        return
    line = header.header_line
    moment(of.get("CREATEDATE"), "CSIP7", line, tell)
    changed = of.get("LASTMODDATE")
    if changed is not None and not is_moment(changed):
        tell("CSIP8", line, attribute="LASTMODDATE", value=changed)
    elif changed is not None and latest and changed[: len(latest)] > latest:
        tell("CSIP8", line, attribute="LASTMODDATE", moment=changed)
    said = of.get(_PACKAGE_TYPE)
    if said not in spec.PACKAGE_TYPES:
        tell("CSIP9", line, attribute="csip:OAISPACKAGETYPE", value=said)
    if not header.agents:
        tell("CSIP10", line)
    else:
        _software(header.agents, tell)


def moment(value: str | None, code: str, line: int, tell: Tell) -> None:
    """A date that must be there, with its time."""
    if value is None or not is_moment(value):
        tell(code, line, attribute="CREATEDATE" if code == "CSIP7" else "CREATED", value=value)


def other_content_type(of: Attributes, code: str, line: int, tell: Tell) -> None:
    """Another content type is named where the first is OTHER, and is none that the vocabulary has.

    With SIARD it names the version of the format.
    """
    named, content = of.get(OTHER_CONTENT_TYPE), of.get(CONTENT_TYPE)
    if not named or content in spec.SIARD_TYPES:
        return
    if content != "OTHER":
        tell(code, line, attribute="csip:OTHERCONTENTINFORMATIONTYPE", alone=named)
    elif named != "OTHER" and is_content_type(named):
        tell(code, line, attribute="csip:OTHERCONTENTINFORMATIONTYPE", value=named)


def _root(header: Header, tell: Tell) -> None:
    of, line = header.root, header.line
    if not of.get("OBJID"):
        tell("CSIP1", line, attribute="OBJID")
    category = of.get("TYPE")
    if category not in _CATEGORIES:
        tell("CSIP2", line, attribute="TYPE", value=category)
    if category in ("OTHER", "Other") and not of.get(_OTHER_TYPE):
        for code in ("CSIP2", "CSIP3"):
            tell(code, line, attribute="csip:OTHERTYPE")
    named = of.get(_OTHER_TYPE)
    if named and category not in ("OTHER", "Other"):
        tell("CSIP3", line, attribute="csip:OTHERTYPE", alone=named)
    elif named in _CATEGORIES and named not in ("OTHER", "Other"):
        tell("CSIP3", line, attribute="csip:OTHERTYPE", value=named)
    content = of.get(CONTENT_TYPE)
    if content is None or not is_content_type(content):
        tell("CSIP4", line, attribute="csip:CONTENTINFORMATIONTYPE", value=content)
    if content == "OTHER" and not of.get(OTHER_CONTENT_TYPE):
        for code in ("CSIP4", "CSIP5"):
            tell(code, line, attribute="csip:OTHERCONTENTINFORMATIONTYPE")
    other_content_type(of, "CSIP5", line, tell)
    profile = of.get("PROFILE")
    if not profile or _URL.fullmatch(profile) is None:
        tell("CSIP6", line, attribute="PROFILE", value=profile)


def _software(agents: Sequence[Agent], tell: Tell) -> None:
    """One agent is the software; where none is quite, the one that comes nearest is told what it lacks."""
    wanted = (("ROLE", "CREATOR", "CSIP11"), ("TYPE", "OTHER", "CSIP12"), ("OTHERTYPE", "SOFTWARE", "CSIP13"))
    nearest = max(agents, key=lambda agent: _nearness(agent, wanted))
    for attribute, value, code in wanted:
        if nearest.get(attribute) != value:
            tell(code, nearest.line, attribute=attribute, value=nearest.attributes.get(attribute))
    if len(nearest.names) != 1 or not nearest.names[0]:
        tell("CSIP14", nearest.line, count=len(nearest.names))
    if not any(text for _, text in nearest.notes):
        tell("CSIP15", nearest.line)
    elif len(nearest.notes) > 1:
        tell("CSIP15", nearest.line, count=len(nearest.notes))
    if nearest.notes and spec.NOTE_TYPES[0] not in (kind for kind, _ in nearest.notes):
        tell("CSIP16", nearest.line, attribute="csip:NOTETYPE", value=nearest.notes[0][0] or None)


def _nearness(agent: Agent, wanted: Sequence[tuple[str, str, str]]) -> int:
    """What names the software weighs more than that it created the package, which others did too."""
    same = [agent.get(attribute) == value for attribute, value, _ in wanted]
    versioned = any(kind == spec.NOTE_TYPES[0] for kind, _ in agent.notes)
    return same[0] + 2 * same[1] + 4 * same[2] + 3 * versioned


def judge_kind(header: Header, kind: str, version: spec.Version, tell: Tell) -> None:
    """What SIP, AIP or DIP ask of the root element and the header."""
    of = header.attributes or {}
    profile, said = header.root.get("PROFILE"), of.get(_PACKAGE_TYPE)
    code_profile, code_type = {"SIP": ("SIP2", "SIP4"), "AIP": ("AIPM2", "AIPM3"), "DIP": ("DIP2", "DIP3")}[kind]
    for of_kind in spec.KINDS:
        if of_kind == kind.lower() and profile not in spec.PROFILES[of_kind, version]:
            tell(code_profile, header.line, attribute="PROFILE", value=profile)
    if said != kind:
        tell(code_type, header.header_line or header.line, attribute="csip:OAISPACKAGETYPE", value=said)
    if kind == "SIP":
        _submission(header, tell)
    elif not header.root.get("OBJID"):
        tell("AIPM1" if kind == "AIP" else "DIP1", header.line, attribute="OBJID")


def _submission(header: Header, tell: Tell) -> None:
    line = header.header_line or header.line
    if not header.root.get("LABEL"):
        tell("SIP1", header.line, attribute="LABEL")
    status = (header.attributes or {}).get("RECORDSTATUS")
    if status not in spec.RECORD_STATUSES:
        tell("SIP3", line, attribute="RECORDSTATUS", value=status)
    for number, kind in enumerate(spec.ALT_RECORD_ID_TYPES):
        texts = [text for of, text in header.ids if of == kind]
        single = kind in ("SUBMISSIONAGREEMENT", "REFERENCECODE")
        if not texts or not all(texts) or (single and len(texts) > 1):
            tell(f"SIP{5 + number}", line, kind=kind, count=len(texts))
    agents = header.agents
    _creators([one for one in agents if _acts(one, "ARCHIVIST")], line, tell)
    _submitters(agents, line, tell)
    _contacts([one for one in agents if _is_contact(one)], line, tell)
    _preservers([one for one in agents if _acts(one, "PRESERVATION")], line, tell)


def _acts(agent: Agent, role: str) -> bool:
    return role in (agent.get("ROLE"), agent.get("OTHERROLE").upper())


def _is_contact(agent: Agent) -> bool:
    other = agent.get("OTHERROLE").upper()
    person = agent.get("TYPE") == "INDIVIDUAL" and (agent.get("ROLE") == "CREATOR" or other.startswith("SUBMIT"))
    return person or other.startswith("CONTACT")


def _creators(agents: Sequence[Agent], line: int, tell: Tell) -> None:
    if not agents:
        tell("SIP9", line)
    for agent in agents:
        _role(agent, "ARCHIVIST", "SIP10", tell)
        _type(agent, ("ORGANIZATION", "INDIVIDUAL"), "SIP11", tell)
        _name(agent, "SIP12", tell)
        _note(agent, "SIP13", "SIP14", tell)


def _submitters(agents: Sequence[Agent], line: int, tell: Tell) -> None:
    """The one who hands over: an organisation that created the package, else whoever else may be meant."""
    creators = [one for one in agents if one.get("ROLE") == "CREATOR" and one.get("OTHERTYPE") != "SOFTWARE"]
    named = [one for one in agents if one.get("OTHERROLE").upper().startswith("SUBMIT") and not _is_contact(one)]
    organisations = [one for one in creators if one.get("TYPE") == "ORGANIZATION"]
    rest = [one for one in creators if one.get("TYPE") != "INDIVIDUAL"] or creators[:1]
    found = organisations or named or rest
    if len(found) != 1:
        tell("SIP15", line, count=len(found))
    for agent in found:
        if agent.get("ROLE") != "CREATOR" and agent.get("OTHERROLE").upper() != "SUBMITTER":
            tell("SIP16", agent.line, attribute="ROLE", value=agent.get("OTHERROLE") or agent.get("ROLE"))
        _type(agent, ("ORGANIZATION", "INDIVIDUAL"), "SIP17", tell)
        _name(agent, "SIP18", tell)
        _note(agent, "SIP19", "SIP20", tell)


def _contacts(agents: Sequence[Agent], line: int, tell: Tell) -> None:
    if not agents:
        tell("SIP21", line)
    for agent in agents:
        if agent.get("ROLE") != "CREATOR" and agent.get("OTHERROLE").upper() != "SUBMITTER":
            tell("SIP22", agent.line, attribute="ROLE", value=agent.get("OTHERROLE") or agent.get("ROLE"))
        _type(agent, ("INDIVIDUAL",), "SIP23", tell)
        _name(agent, "SIP24", tell)
        if not agent.notes:
            tell("SIP25", agent.line)


def _preservers(agents: Sequence[Agent], line: int, tell: Tell) -> None:
    if not agents:
        tell("SIP26", line)
    for agent in agents:
        _role(agent, "PRESERVATION", "SIP27", tell)
        _type(agent, ("ORGANIZATION",), "SIP28", tell)
        _name(agent, "SIP29", tell)
        _note(agent, "SIP30", "SIP31", tell)


def _role(agent: Agent, role: str, code: str, tell: Tell) -> None:
    if agent.get("ROLE") != role:
        tell(code, agent.line, attribute="ROLE", value=agent.get("ROLE"))


def _type(agent: Agent, allowed: Sequence[str], code: str, tell: Tell) -> None:
    if agent.get("TYPE") not in allowed:
        tell(code, agent.line, attribute="TYPE", value=agent.attributes.get("TYPE"))


def _name(agent: Agent, code: str, tell: Tell) -> None:
    if len(agent.names) != 1 or not agent.names[0]:
        tell(code, agent.line, count=len(agent.names))


def _note(agent: Agent, none: str, kind: str, tell: Tell) -> None:
    """A note may be there; then it says that it is a code."""
    if not agent.notes:
        tell(none, agent.line)
    elif _ID_CODE not in (of for of, _ in agent.notes):
        tell(kind, agent.line, attribute="csip:NOTETYPE", value=agent.notes[0][0] or None)
