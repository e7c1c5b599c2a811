"""Those whom a METS names, and the identifiers it gives its package, as recipes see them."""

from __future__ import annotations

import re

from noarkit.forms.metadata.mets_facts import MetsHeader
from noarkit.forms.metadata.model import Agent

_CODE = "IDENTIFICATIONCODE"
# a note of an older package has no type; an identifier is short and has no spaces
_LIKE_A_CODE = re.compile(r"[^\s@]{2,40}")


def agent_fields(agent: Agent) -> dict[str, str]:
    """An agent by its role, name and identifier."""
    return {
        "role": agent.other_role or agent.role,
        "type": agent.other_type or agent.type,
        "name": agent.name,
        "id": identifier_of(agent),
    }


def identifier_of(agent: Agent) -> str:
    """The code that identifies an agent: the note that says it is one, else an untyped note that looks like one."""
    typed = [text for text, kind in agent.notes if kind.upper() == _CODE and text]
    untyped = [text for text, kind in agent.notes if not kind and _LIKE_A_CODE.fullmatch(text)]
    return next(iter((*typed, *untyped)), "")


def creator_of(heading: MetsHeader) -> Agent | None:
    """Who made the archive: an organisation or person, never the software it came from."""
    makers = [
        agent for agent in heading.agents if agent.role == "ARCHIVIST" and agent.name and agent.other_type != "SOFTWARE"
    ]
    return next(iter(makers), None)


def identifiers_of(heading: MetsHeader) -> list[dict[str, str]]:
    """The package's own identifier, and what agreements and references its header names."""
    identifiers = [("OBJID", heading.object_id), *heading.records]
    return [{"system": kind or "altRecordID", "id": value} for kind, value in identifiers if value]
