"""Customisation of the CRM: layouts, fields and rules that were made here, which its tool servers alone offer."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from starlette.responses import JSONResponse, Response

from noarkit.standins.calling import Call
from noarkit.standins.crm.data import Store
from noarkit.standins.crm.refusal import Refusal

Json = dict[str, Any]  # Any: what JSON holds


@dataclass(slots=True)
class Own:
    """Layouts, fields and rules: what the REST stand-in does not keep."""

    store: Store
    held: dict[str, dict[str, Json]] = field(default_factory=dict)

    def answer(self, call: Call) -> Response:
        """The answer. Raises `Refusal`."""
        _, _, kind, *rest = call.path.split("/")
        held = self.held.setdefault(kind, {})
        if call.method == "GET":
            return JSONResponse({kind: list(held.values())})
        if call.method == "POST":
            one = self.store.new_id()
            held[one] = {**_object(call), "id": one}
            return JSONResponse({kind: [held[one]]}, 201)
        if not rest or rest[0] not in held:
            raise Refusal("INVALID_DATA", 400, "the id given seems to be invalid")
        if call.method == "DELETE":
            return JSONResponse({kind: [held.pop(rest[0])]})
        held[rest[0]] |= {name: value for name, value in _object(call).items() if name != "id"}
        return JSONResponse({kind: [held[rest[0]]]})


def _object(call: Call) -> Json:
    found = json.loads(call.body)
    return found if isinstance(found, dict) else {}
