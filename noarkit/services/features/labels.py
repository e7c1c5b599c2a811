"""Titles and pages of a project in words for people: a label for each member, times as days, codes as words. What has
no label is left out; the data beside the page has it.

The words are those of the archive, Norwegian. What people of the project have named themselves stays as it was written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from noarkit.safe.clocks import utc_text
from noarkit.services.features.definitions import moment
from noarkit.services.paging import Row
from noarkit.services.readable import format_time, title_line

ENDED_STATES = frozenset({"rejected", "committed"})
STATES = {
    "abandoned": "avbrutt",
    "accepted": "godkjent",
    "active": "pågår",
    "approved_webhook_validation": "bestått ekstern kontroll",
    "archived": "arkivert",
    "assignment_stopped": "tildelingen er stanset",
    "changes_requested": "endringer ønskes",
    "committed": "godkjent og tatt i bruk",
    "decision_made": "besluttet",
    "disabled": "slått av",
    "experiment_stopped": "stanset",
    "failed_webhook_validation": "ikke bestått ekstern kontroll",
    "in progress": "pågår",
    "launched": "innført",
    "pending": "venter",
    "pending_webhook_validation": "venter på ekstern kontroll",
    "permanent": "varig",
    "rejected": "avvist",
    "setup": "settes opp",
    "stale": "utgått",
    "template": "mal",
    "temporary": "midlertidig",
}
LABELS = {
    "name": "Navn",
    "displayName": "Visningsnavn",
    "description": "Beskrivelse",
    "status": "Status",
    "type": "Type",
    "isEnabled": "Slått på",
    "version": "Versjon",
    "createdTime": "Opprettet",
    "created_at": "Bedt om",
    "creatorName": "Opprettet av",
    "lastModifiedTime": "Endret",
    "lastModifierName": "Endret av",
    "updatedBy": "Utført av",
    "author": "Forfatter",
    "reviewers": "Kontrollører",
    "owner": "Eier",
    "team": "Team",
    "tags": "Merkelapper",
    "targetApps": "Applikasjoner",
    "idType": "Regnes for hver",
    "hypothesis": "Hypotese",
    "decisionTime": "Besluttet",
    "decisionReason": "Begrunnelse",
    "launchedGroupID": "Innført gruppe",
    "controlGroupID": "Kontrollgruppe",
    "groups": "Grupper",
    "size": "Størrelse (prosent)",
    "disabled": "Slått av",
    "allocation": "Tildelt (prosent)",
    "duration": "Varighet (dager)",
    "startTime": "Begynt",
    "endTime": "Avsluttet",
    "primaryMetrics": "Hovedmåltall",
    "secondaryMetrics": "Andre måltall",
    "monitoringMetrics": "Måltall som følges",
    "measureMetricLifts": "Virkningen måles",
    "rules": "Regler",
    "passPercentage": "Slipper gjennom (prosent)",
    "percentagePass": "Andel sluppet gjennom (prosent)",
    "environments": "Miljøer",
    "conditions": "Vilkår",
    "conditionJSON": "Vilkår i JSON",
    "operator": "Sammenligning",
    "field": "Felt",
    "targetValue": "Sammenlignes med",
    "returnValue": "Gir verdien",
    "variants": "Varianter",
    "json": "Innhold",
    "defaultValue": "Standardverdi",
    "defaultValueJson5": "Standardverdi i JSON5",
    "schema": "Skjema",
    "parameters": "Parametere",
    "parameterValues": "Parameterverdier",
    "param_type": "Datatype",
    "ref_type": "Kilde",
    "value": "Verdi",
    "layerID": "Lag",
    "isImplicitLayer": "Laget er underforstått",
    "targetingGateID": "Avgrenset av bryter",
    "holdoutIDs": "Kontrollutvalg",
    "gateIDs": "Brytere",
    "experimentIDs": "Forsøk",
    "layerIDs": "Flere lag",
    "isGlobal": "Gjelder alle",
    "isStarted": "I gang",
    "winner": "Vinner",
    "winnerThreshold": "Grense for vinner",
    "successEvent": "Hendelse som teller",
    "successEventValue": "Verdi av hendelsen",
    "attributionWindow": "Tid til virkning",
    "explorationWindow": "Tid til utprøving",
    "directionality": "Ønsket retning",
    "isVerified": "Bekreftet",
    "lineage": "Bygger på",
    "events": "Hendelser",
    "metrics": "Måltall",
    "actionType": "Handling",
    "changes": "Endringer",
    "old": "Før",
    "new": "Etter",
    "id": "Id",
    "review_id": "Id for gjennomgangen",
}
_TIMES = frozenset({"createdTime", "created_at", "lastModifiedTime", "decisionTime", "startTime", "endTime"})
_STATED = frozenset({"status", "type"})
_PEOPLE = frozenset({"author", "owner", "reviewers"})
_PERSON_NAMES = ("ownerName", "name", "email", "id")
# What is in these is named by the project itself.
_AS_WRITTEN = frozenset({"returnValue", "json", "defaultValue", "schema", "parameterValues", "value", "targetValue"})
_ACTIONS = {
    "archive": "arkivert", "create": "opprettet", "delete": "slettet", "disable": "slått av", "enable": "slått på",
    "launch": "innført", "unarchive": "hentet tilbake", "update": "endret",
}  # fmt: skip


def describe(row: Mapping[str, object]) -> dict[str, object]:
    """Describes the members of a record that have a label, in the order of the labels.

    >>> describe({"version": 3, "createdTime": 1700000000000, "status": "In Progress", "salt": "x"})
    {'Status': 'pågår', 'Versjon': 3, 'Opprettet': '2023-11-14 kl. 22.13 UTC'}
    """
    return {label: _format(name, row[name]) for name, label in LABELS.items() if row.get(name) is not None}


def decision_title(name: str, decided_at: datetime | None, group: str) -> str:
    """Names a decision by what it is about, its day and the group that is introduced."""
    return _title("Beslutning om", name, decided_at, f"{group} innføres" if group else "ingen gruppe innføres")


def group_name(groups: object, group_id: str) -> str:
    """Returns the name of a group of an experiment; its id if it has none."""
    rows = [group for group in groups if isinstance(group, Mapping)] if isinstance(groups, list) else []
    return next((str(row["name"]) for row in rows if row.get("id") == group_id and row.get("name")), group_id)


def review_title(name: str, created_at: datetime | None) -> str:
    """Names a review by what it is about and its day. How it ended is told by its page alone: a review is archived
    while it is open and again when it has ended, and its title stays the same."""
    return _title("Gjennomgang av", name, created_at, "")


def change_title(name: str, logged_at: datetime | None, action: str) -> str:
    """Names an entry of the audit log by what was changed, its day and how."""
    return _title("Endring av", name, logged_at, _action(action))


def change_page(row: Row, logged_at: datetime | None) -> dict[str, object]:
    """Describes an entry of the audit log. The fields that changed are named by their labels."""
    at = "" if logged_at is None else format_time(utc_text(logged_at))
    return {"Tidspunkt": at, **describe(row), LABELS["actionType"]: _action(str(row.get("actionType") or ""))}


def _title(begin: str, name: str, at: datetime | None, outcome: str) -> str:
    day = "" if at is None else at.astimezone(UTC).date().isoformat()
    head = " ".join(part for part in (begin, name, day) if part)
    return title_line(f"{head}: {outcome}" if outcome else head)


def _action(action: str) -> str:
    """Names what an action of the audit log did, by its verb: `"gate_create"`, `"config_deleted"`, `"delete_layer"`."""
    verbs = action.rpartition("_")[2], action.partition("_")[0]
    known = (_ACTIONS.get(verb) or _ACTIONS.get(verb.removesuffix("d")) for verb in verbs)
    return next((word for word in known if word), action)


def _state(text: str) -> str:
    return STATES.get(text.casefold(), text)


def _format(name: str, value: object) -> object:
    """Formats the value of a member for people."""
    if name in _TIMES:
        at = moment(value)
        return value if at is None else format_time(utc_text(at))
    if name in _STATED and isinstance(value, str):
        return _state(value)
    if name in _PEOPLE:
        return [_person(person) for person in value] if isinstance(value, list) else _person(value)
    if name == "changes" and isinstance(value, Mapping):
        return {LABELS.get(field, field): _change(field, change) for field, change in value.items()}
    return value if name in _AS_WRITTEN else _describe_parts(value)


def _change(field: str, change: object) -> object:
    """Describes the values of a field before and after a change."""
    if not isinstance(change, Mapping):
        return _format(field, change)
    return {LABELS[side]: _format(field, change[side]) for side in ("old", "new") if change.get(side) is not None}


def _describe_parts(value: object) -> object:
    if isinstance(value, Mapping):
        return describe(value)
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_describe_parts(part) for part in value]
    return value


def _person(value: object) -> object:
    if not isinstance(value, Mapping):
        return value
    return next((value[name] for name in _PERSON_NAMES if value.get(name)), None)
