"""What an ERMS document tells of a unit, sorted as an archive takes it: parties, authors, identifiers, and the rest as
values to be read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from noarkit.forms.eark.read.erms import Unit

_SENDERS = frozenset({"sender", "dispatcher", "avsender"})
_RECEIVERS = frozenset({"receiver", "recipient", "addressee", "mottaker"})
_COPIES = frozenset({"copy_recipient", "copy recipient", "kopimottaker"})
_AUTHORS = frozenset({"author", "creator", "editor", "forfatter"})
_CODES = (("EA", _SENDERS), ("EM", _RECEIVERS), ("EK", _COPIES))
_OF_A_PARTY = frozenset({"type", "role", "name", "organisation", "idNumber"})


def party_of(agent: Mapping[str, str]) -> dict[str, str] | None:
    """An agent who sent or got the record, with the code of its part; None for any other."""
    words = _words(agent)
    code = next((code for code, code_words in _CODES if words & code_words), None)
    if code is None or not _name(agent):
        return None
    contact = agent.get("name", "") if agent.get("organisation") else ""
    return {"code": code, "name": agent.get("organisation") or _name(agent), "contact": contact}


def authors_of(agents: Iterable[Mapping[str, str]]) -> str:
    """The names of those who wrote it."""
    return ", ".join(_name(agent) for agent in agents if _words(agent) & _AUTHORS and _name(agent))


def unit_identifiers(unit: Unit) -> list[dict[str, str]]:
    """By which a unit was known."""
    own = [("objectId", unit.texts["objectId"])] if unit.texts.get("objectId") else []
    return [{"system": f"ERMS {kind}", "id": value} for kind, value in (*own, *unit.ids)]


def unit_values(unit: Unit) -> list[dict[str, str]]:
    """Everything that has no field of its own in the archive, to be read as remarks."""
    return [{"name": name, "value": value} for name, value in _values(unit) if value]


def _values(unit: Unit) -> Iterator[tuple[str, str]]:
    attributes = unit.texts
    yield f"{unit.kind} type", unit.type
    yield "status", attributes.get("status", "")
    yield "runningNumber", attributes.get("runningNumber", "")
    yield "direction", attributes.get("direction", "")
    yield "classification", " ".join(filter(None, (attributes.get("class_code"), attributes.get("class_title"))))
    yield "subject", attributes.get("subject", "")
    yield "levelName", attributes.get("levelName", "")
    yield from ((f"date {kind}", text) for kind, text in unit.dates.items())
    yield from (("restriction", _line(entry)) for entry in unit.restrictions)
    yield from (("agent", _line(entry)) for entry in unit.agents if unit.kind == "record" and not _is_covered(entry))
    yield from (("agent", _line(entry)) for entry in unit.agents if unit.kind != "record" and set(entry) - _OF_A_PARTY)


def _is_covered(agent: Mapping[str, str]) -> bool:
    """True where a party or the author says all there is to say of it."""
    covered_fields = _OF_A_PARTY - {"idNumber"} if party_of(agent) else frozenset({"type", "role", "name"})
    return bool(party_of(agent) or _words(agent) & _AUTHORS) and not set(agent) - covered_fields


def _line(attributes: Mapping[str, str]) -> str:
    return ", ".join(
        value if name in ("type", "name") else f"{name}: {value}" for name, value in attributes.items() if value
    )


def _words(agent: Mapping[str, str]) -> frozenset[str]:
    texts: Sequence[str] = (agent.get("type", ""), agent.get("role", ""))
    return frozenset(text.strip().lower() for text in texts)


def _name(agent: Mapping[str, str]) -> str:
    return agent.get("name") or agent.get("organisation", "")
