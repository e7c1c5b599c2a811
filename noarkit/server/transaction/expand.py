"""Turns an object into a richer type: a plain folder into a case file, a basic record into a registry entry.

Everything that holds for a save of the richer type holds here; links, children and identifiers stay.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from noarkit.server.transaction.final_checks import refuse_links
from noarkit.server.transaction.generate import fill_one, number
from noarkit.server.transaction.link import link
from noarkit.server.transaction.plan import TypePlan
from noarkit.server.transaction.request import Action, read_key
from noarkit.server.transaction.save import change_field, save
from noarkit.server.transaction.stage import Stage, StagedEntity
from noarkit.server.values import shorten
from noarkit.server.wire import Refusal


@dataclass(frozen=True, slots=True)
class Expansion:
    """From which type to which, the member that holds the new fields, and which fields it may hold."""

    before: str
    after: str
    member: str
    fields: frozenset[str]


TO_CASE_FILE = Expansion(
    "Mappe",
    "Saksmappe",
    "saksmappe",
    frozenset(
        {
            "mappeIdent",
            "saksaar",
            "sakssekvensnummer",
            "saksansvarlig",
            "saksansvarligBrukerIdent",
            "saksdato",
            "administrativEnhet",
            "saksstatus",
        }
    ),
)
TO_REGISTRY_ENTRY = Expansion(
    "Basisregistrering",
    "Journalpost",
    "journalpost",
    frozenset(
        {
            "journalaar",
            "journalsekvensnummer",
            "journalpostnummer",
            "journalansvarlig",
            "journalansvarligBrukerIdent",
            "journalposttype",
            "journalstatus",
        }
    ),
)
_PARTIES = "korrespondansepart"


def expand(stage: Stage, expansion: Expansion, body: object) -> None:
    """Carries out one such call in memory. Raises Refusal 400 or 404."""
    members: Mapping[str, object] = body if isinstance(body, dict) else {}
    key = read_key(members.get("id"))
    if not isinstance(key, int):
        raise Refusal(400, "id is the permanent id of an object, as a string.")
    fields = _fields(members, expansion)
    action = Action(0, "save", stage.plans[expansion.before], key, str(key), None, fields, None, ())
    parties = _parties(stage, members, key) if expansion is TO_REGISTRY_ENTRY else []
    stage.admit([action, *parties])
    # Found as its old type, so that one which is a case file already is answered as not found.
    entity = stage.subject(action)
    stage.saved_entities[action.requested_id] = entity
    _become(stage, entity, stage.plans[expansion.after])
    richer = action._replace(plan=entity.plan)
    for name, value in fields.items():
        change_field(stage, entity, richer, entity.plan.fields[name], value)
    # The caller's values first, then defaults for what is missing, then the numbers that depend on both.
    fill_one(stage, entity)
    number(stage, [entity])
    for party in parties:
        (save if party.verb == "save" else link)(stage, party)


def _fields(members: Mapping[str, object], expansion: Expansion) -> Mapping[str, object]:
    fields = members.get(expansion.member, {})
    if not isinstance(fields, dict):
        raise Refusal(400, f"{expansion.member} is an object.")
    for name in fields:
        if name not in expansion.fields:
            raise Refusal(400, f"A field with name {shorten(str(name))} was not found in {expansion.member}.")
    return fields


def _parties(stage: Stage, members: Mapping[str, object], key: int) -> list[Action]:
    party_fields = members.get(_PARTIES, [])
    if not isinstance(party_fields, list) or not all(isinstance(fields, dict) for fields in party_fields):
        raise Refusal(400, f"{_PARTIES} is a list of objects.")
    plan = stage.plans["Korrespondansepart"]
    upward = plan.links["refRegistrering"]
    actions = []
    for index, fields in enumerate(party_fields):
        name = f"{_PARTIES}-{index}"
        actions.append(Action(index, "save", plan, name, name, None, fields, None, ()))
        actions.append(Action(index, "link", plan, name, name, None, {}, upward, (key,)))
    return actions


def _become(stage: Stage, entity: StagedEntity, plan: TypePlan) -> None:
    """Changes the type. What the new type has no place for must not be there. Raises Refusal (400)."""
    orphaned = [
        column for column in entity.plan.columns if column not in plan.columns and entity.values.get(column) is not None
    ]
    if orphaned:
        raise Refusal(400, f"{entity.location}: a {plan.name} has no {orphaned[0]}; unlink it first.")
    for name, reference in plan.links.items():
        target_id = entity.values.get(name) if reference.kind == "column" else None
        above = stage.look_up(reference.other_family, int(target_id)) if target_id is not None else None
        if above is not None and above.plan.name not in reference.targets:
            raise Refusal(400, f"{entity.location}: ref {name} of a {plan.name} cannot lead to a {above.plan.name}.")
    refuse_links(stage, entity, [link for name, link in entity.plan.links.items() if name not in plan.links])
    entity.plan = plan
    entity.set_value("type", plan.name)
