"""What definitions of each kind have of their own."""

from __future__ import annotations

from typing import Any

from noarkit.standins.dice import Dice

KINDS = (
    "gates", "dynamic_configs", "experiments", "layers", "segments", "param_stores", "autotunes", "holdouts", "metrics",
)  # fmt: skip
VERSIONED = ("gates", "dynamic_configs")
_NAMES = ("ny_innlogging", "enkelt_skjema", "søknadshjelp", "rask_betaling", "mørkt_utseende", "varsel_sms", "kart_v2")
Record = dict[str, Any]  # what JSON holds


def slug(seed: int, kind: str, number: int) -> str:
    """The id of a definition that was rolled."""
    return f"{Dice(seed, kind, number).among('name', _NAMES)}_{number}"


def of_kind(kind: str, dice: Dice, version: int, changed: int) -> Record:
    """The members that only this kind has."""
    if kind == "gates":
        return _gate(dice, version)
    if kind == "dynamic_configs":
        return {
            "isEnabled": True,
            "rules": [_rule(dice, version, {"farge": "blå", "maks": 12345678901234567890})],
            "defaultValue": {"farge": "grå", "apiKey": f"canary-{dice.number('canary', 10**9):09d}"},
            "defaultValueJson5": "{farge: 'grå', apiKey: 'canary-5', /* byttes */}",
            "schema": '{"type": "object", "properties": {"farge": {"type": "string"}}}',
        }
    if kind == "experiments":
        return _experiment(dice, changed)
    if kind == "layers":
        return {"isImplicitLayer": False, "parameters": [{"name": "farge", "type": "string", "defaultValue": "grå"}]}
    if kind == "segments":
        type_ = dice.among("type", ("id_list", "rule_based"))
        return {"type": type_, "rules": [] if type_ == "id_list" else [_rule(dice, version, True)]}
    if kind == "param_stores":
        return {"displayName": "Parametre", "parameters": {"tekst": {"type": "static", "value": "Hei"}}}
    if kind == "holdouts":
        return {"passPercentage": 5, "gateIDs": [], "experimentIDs": [], "layerIDs": [], "isGlobal": False}
    if kind == "autotunes":
        return {"isStarted": True, "variants": [{"name": "a"}, {"name": "b"}], "successEvent": "sendt"}
    return {"directionality": "increase", "type": "ratio", "isVerified": dice.chance("verified", 50)}


def _gate(dice: Dice, version: int) -> Record:
    return {
        "isEnabled": dice.chance("enabled", 80),
        "status": dice.among(f"status{version}", ("In Progress", "Launched", "Disabled", "Archived")),
        "type": dice.among("type", ("TEMPORARY", "PERMANENT", "STALE")),
        "rules": [_rule(dice, version, True)],
        "measureMetricLifts": False,
        "monitoringMetrics": [],
        "permalink": f"https://console.example/gates/{dice.number('link', 10**6)}",
    }


def _rule(dice: Dice, version: int, value: object) -> Record:
    given, family = dice.person("target")
    mail = f"{given}.{family}@etaten.example".casefold()
    return {
        "id": dice.uuid(f"rule{version}"),
        "baseID": dice.uuid("rule"),
        "name": "Prøvegruppe",
        "passPercentage": min(100, 25 * version),
        "conditions": [{"type": "email", "operator": "any", "targetValue": [mail]}],
        "environments": None,
        "returnValue": value,
    }


def _experiment(dice: Dice, changed: int) -> Record:
    decided = dice.chance("decided", 50)
    found: Record = {
        "status": "decision_made" if decided else dice.among("status", ("setup", "active", "abandoned")),
        "hypothesis": dice.text("hypothesis", 1),
        "groups": [
            {"id": "g1", "name": "Kontroll", "size": 50, "parameterValues": {"farge": "grå"}, "disabled": False},
            {"id": "g2", "name": "Prøve", "size": 50, "parameterValues": {"farge": "blå"}, "disabled": False},
        ],
        "controlGroupID": "g1",
        "allocation": 100,
        "primaryMetrics": [{"name": "sendt", "type": "event_count"}],
        "secondaryMetrics": [],
        "duration": 28,
        "startTime": changed - 28 * 86_400_000,
        "endTime": changed if decided else None,
    }
    if decided:
        found |= {"decisionTime": changed, "decisionReason": dice.text("reason", 1), "launchedGroupID": "g2"}
    return found
