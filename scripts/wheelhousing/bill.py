"""The bill of materials of a wheelhouse, in CycloneDX 1.6 as JSON: the same wheels give the same bytes."""

from __future__ import annotations

import json
import uuid
from collections.abc import Collection, Mapping
from pathlib import Path

from packaging.utils import canonicalize_name

from scripts.wheelhousing.wheels import Wheel

_SPACE = uuid.UUID("0b1c39d5-6f0a-5c55-9d39-3f0a3a0b9a51")


def bill_of(wheels: Mapping[str, Wheel], root: Wheel, runtime: Collection[str], extras: Collection[str]) -> str:
    """The bill. What stands in `runtime` is required; the rest is there for tests alone, and excluded."""
    others = [wheel for name, wheel in sorted(wheels.items()) if name != root.name]
    told = {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid5(_SPACE, ' '.join(one.sha256 for one in (root, *others)))}",
        "version": 1,
        "metadata": {
            "component": {**_component(root), "type": "application"},
            "properties": [{"name": "noarkit:extra", "value": name} for name in sorted(extras)],
        },
        "components": [
            {**_component(wheel), "scope": "required" if wheel.name in runtime else "excluded"} for wheel in others
        ],
        "dependencies": [
            {"ref": wheel.purl, "dependsOn": _needed(wheel, wheels, extras if wheel is root else ())}
            for wheel in (root, *others)
        ],
    }
    return json.dumps(told, ensure_ascii=False, indent=2) + "\n"


def _component(wheel: Wheel) -> dict[str, object]:
    told: dict[str, object] = {
        "type": "library",
        "bom-ref": wheel.purl,
        "name": wheel.name,
        "version": wheel.version,
        "purl": wheel.purl,
        "hashes": [{"alg": "SHA-256", "content": wheel.sha256}],
        "properties": [
            {"name": "noarkit:file", "value": f"wheels/{wheel.path.name}"},
            *({"name": "noarkit:tag", "value": tag} for tag in wheel.tags),
        ],
    }
    if wheel.licence_expression:
        told["licenses"] = [{"expression": wheel.licence_expression}]
    elif wheel.licences:
        told["licenses"] = [{"license": {"name": name}} for name in wheel.licences]
    return told


def _needed(wheel: Wheel, wheels: Mapping[str, Wheel], extras: Collection[str]) -> list[str]:
    names = {canonicalize_name(need.name) for need in wheel.needed(extras)}
    return sorted(wheels[name].purl for name in names if name in wheels)


def licences_unknown(path: Path) -> list[str]:
    """The components of a bill whose metadata name no licence."""
    told = json.loads(path.read_text(encoding="utf-8"))
    return [component["name"] for component in told["components"] if "licenses" not in component]
