"""Finds national identity numbers in open text fields; the settings accept them, warn of them or refuse them.

A message names the field and the action, never the number.
"""

from __future__ import annotations

from noarkit.model.identity_numbers import find_identity_numbers
from noarkit.server.transaction.stage import Stage
from noarkit.server.wire import Refusal


def check_identity_numbers(stage: Stage, name: str, value: object, location: str) -> None:
    """Looks at one open text that a caller wrote. Raises Refusal (400) where the settings refuse such numbers."""
    if not isinstance(value, str) or next(find_identity_numbers(value), None) is None:
        return
    sentence = f"{location}: field {name} holds a national identity number."
    if stage.settings.identity_numbers == "refuse":
        raise Refusal(400, sentence)
    stage.warnings.append(sentence)
