"""Errors of the CRM."""

from __future__ import annotations

from collections.abc import Mapping

from noarkit.services.standins.call import Call

LONGEST = 1_024


class Refusal(Exception):
    """An error: code, status, and details."""

    def __init__(
        self, code: str, status: int = 400, message: str = "", details: Mapping[str, object] | None = None
    ) -> None:
        super().__init__(code)
        self.code = code
        self.status = status
        self.message = message or code.casefold().replace("_", " ")
        self.details = details


def check_known_names(call: Call, *names: str) -> None:
    """Raises `Refusal` for a parameter that is not published for a call."""
    unknown = sorted(call.query.keys() - set(names))
    if unknown:
        raise Refusal("INVALID_DATA", 400, "unknown parameter", {"param_name": unknown[0]})


def check_required(call: Call, *names: str) -> None:
    """Raises `Refusal` if a call lacks a required parameter."""
    missing = next((name for name in names if not call.query.get(name)), None)
    if missing is not None:
        raise Refusal(
            "REQUIRED_PARAM_MISSING", 400, "one of the expected parameters is missing", {"param_name": missing}
        )


def check_length(call: Call, name: str) -> str:
    """Returns a parameter of limited length; empty if it is missing. Raises `Refusal`."""
    value = call.query.get(name, "")
    if len(value) > LONGEST:
        raise Refusal("LIMIT_EXCEEDED", 400, f"{name} is too long", {"param_name": name, "maximum_length": LONGEST})
    return value
