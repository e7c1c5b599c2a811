"""What the CRM says no with."""

from __future__ import annotations

from collections.abc import Mapping


class Refusal(Exception):
    """A code, a status, and what more there is to say."""

    def __init__(
        self, code: str, status: int = 400, message: str = "", details: Mapping[str, object] | None = None
    ) -> None:
        super().__init__(code)
        self.code = code
        self.status = status
        self.message = message or code.casefold().replace("_", " ")
        self.details = details
