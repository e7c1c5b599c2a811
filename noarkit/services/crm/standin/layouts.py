"""Customisation of the CRM: layouts, fields and rules, which only its MCP tool servers offer."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from starlette.responses import JSONResponse, Response

from noarkit.services.crm.standin.data import Store
from noarkit.services.crm.standin.refusal import Refusal
from noarkit.services.standins.call import Call

Json = dict[str, Any]  # Any: what JSON holds


@dataclass(slots=True)
class Layouts:
    """Layouts, fields and rules that the REST stand-in does not have."""

    store: Store
    objects: dict[str, dict[str, Json]] = field(default_factory=dict)

    def answer(self, call: Call) -> Response:
        """Answers a call. Raises `Refusal`."""
        _, _, kind, *remaining = call.path.split("/")
        objects = self.objects.setdefault(kind, {})
        if call.method == "GET":
            return JSONResponse({kind: list(objects.values())})
        if call.method == "POST":
            object_id = self.store.new_id()
            objects[object_id] = {**_object(call), "id": object_id}
            return JSONResponse({kind: [objects[object_id]]}, 201)
        if not remaining or remaining[0] not in objects:
            raise Refusal("INVALID_DATA", 400, "the id given seems to be invalid")
        if call.method == "DELETE":
            return JSONResponse({kind: [objects.pop(remaining[0])]})
        objects[remaining[0]] |= {name: value for name, value in _object(call).items() if name != "id"}
        return JSONResponse({kind: [objects[remaining[0]]]})


def _object(call: Call) -> Json:
    value = json.loads(call.body)
    return value if isinstance(value, dict) else {}
