"""The members of definitions that only one kind has."""

from __future__ import annotations

from typing import Any

from noarkit.services.standins.fake_data import SeededRandom

KINDS = (
    "gates", "dynamic_configs", "experiments", "layers", "segments", "param_stores", "autotunes", "holdouts", "metrics",
)  # fmt: skip
VERSIONED_KINDS = ("gates", "dynamic_configs", "experiments")
# names have ASCII letters only
_NAMES = ("ny_innlogging", "enkelt_skjema", "soknadshjelp", "rask_betaling", "morkt_utseende", "varsel_sms", "kart_v2")
_PERSON = ("creatorID", "creatorName", "creatorEmail", "lastModifierID", "lastModifierName", "lastModifierEmail")
_TIMES = ("createdTime", "lastModifiedTime")
# common members that a kind does not have
_WITHOUT = {
    "layers": ("owner",),
    "segments": ("owner",),
    "autotunes": ("owner",),
    "holdouts": ("owner",),
    "metrics": ("creatorID", "holdoutIDs", "idType", "targetApps", "version"),
    "param_stores": (
        *_PERSON[1:3], *_PERSON[4:], _TIMES[1], "holdoutIDs", "idType", "owner", "tags", "targetApps", "version",
    ),
}  # fmt: skip
_KINDS_WITH_APPS = ("segments", "autotunes", "holdouts")
Record = dict[str, Any]  # what JSON holds


def slug(seed: int, kind: str, number: int) -> str:
    """Returns the id of a generated definition."""
    return f"{SeededRandom(seed, kind, number).choose('name', _NAMES)}_{number}"


def only_its_own(kind: str, row: Record) -> Record:
    """Keeps only the members that a kind has."""
    members = {name: row[name] for name in row if name not in _WITHOUT.get(kind, ())}
    if kind not in VERSIONED_KINDS:
        members.pop("version", None)
    apps = members.get("targetApps")
    if kind in _KINDS_WITH_APPS and isinstance(apps, str):
        members["targetApps"] = [apps]
    return members


def of_kind(kind: str, dice: SeededRandom, version: int, changed_ms: int) -> Record:
    """Builds the members that only this kind has."""
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
        return _experiment(dice, changed_ms)
    if kind == "layers":
        return {"isImplicitLayer": False, "parameters": [{"name": "farge", "type": "string", "defaultValue": "grå"}]}
    if kind == "segments":
        type_ = dice.choose("type", ("id_list", "rule_based"))
        rules = [] if type_ == "id_list" else [_rule(dice, version, True)]
        return {"type": type_, "isEnabled": True, "rules": rules}
    if kind == "param_stores":
        return {"displayName": "Parametre", "parameters": [_TEXT]}
    if kind == "holdouts":
        ids: Record = {"gateIDs": [], "experimentIDs": [], "layerIDs": []}
        return {"passPercentage": 5, "isEnabled": True, "isGlobal": False, "targetingGateID": None, **ids}
    if kind == "autotunes":
        return _autotune()
    return {
        "directionality": "increase",
        "type": "ratio",
        "isVerified": dice.is_hit("verified", 50),
        "lineage": {"events": ["sendt"], "metrics": []},
    }


_TEXT = {"name": "tekst", "param_type": "string", "ref_type": "static", "value": "Hei"}


def _autotune() -> Record:
    return {
        "isStarted": True,
        "variants": [{"id": variant, "name": variant, "json": {"farge": variant}} for variant in ("a", "b")],
        "winner": None,
        "successEvent": "sendt",
        "successEventValue": "",
        "attributionWindow": "1hr",
        "explorationWindow": "24hr",
        "winnerThreshold": "95%",
    }


def _gate(dice: SeededRandom, version: int) -> Record:
    return {
        "isEnabled": dice.is_hit("enabled", 80),
        "status": dice.choose(f"status{version}", ("In Progress", "Launched", "Disabled", "Archived")),
        "type": dice.choose("type", ("TEMPORARY", "PERMANENT", "STALE")),
        "rules": [_rule(dice, version, True)],
        "measureMetricLifts": False,
        "monitoringMetrics": [],
        "permalink": f"https://console.example/gates/{dice.number('link', 10**6)}",
    }


def _rule(dice: SeededRandom, version: int, value: object) -> Record:
    given_name, family_name = dice.person("target")
    mail = f"{given_name}.{family_name}@etaten.example".casefold()
    return {
        "id": dice.uuid(f"rule{version}"),
        "baseID": dice.uuid("rule"),
        "name": "Prøvegruppe",
        "passPercentage": min(100, 25 * version),
        "conditions": [{"type": "email", "operator": "any", "targetValue": [mail]}],
        "environments": None,
        "returnValue": value,
    }


def _experiment(dice: SeededRandom, changed_ms: int) -> Record:
    is_decided = dice.is_hit("decided", 50)
    experiment: Record = {
        "status": "decision_made" if is_decided else dice.choose("status", ("setup", "active", "abandoned")),
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
        "startTime": changed_ms - 28 * 86_400_000,
        "endTime": changed_ms if is_decided else None,
        "layerID": None,
        "targetingGateID": None,
        "bonferroniCorrection": False,
        "defaultConfidenceInterval": "95",
        "decisionTime": None,
        "decisionReason": None,
    }
    if is_decided:
        experiment |= {"decisionTime": changed_ms, "decisionReason": dice.text("reason", 1), "launchedGroupID": "g2"}
    return experiment
