"""National identity numbers in fields that are not meant for them: accepted, warned of or refused, as the settings say.

A sentence names the field and the action, never the number.
"""

from __future__ import annotations

from noarkit.model.identity_numbers import find_identity_numbers
from noarkit.server.transaction.stage import Stage
from noarkit.server.wire import Refusal


def watch(stage: Stage, name: str, stored: object, where: str) -> None:
    """Looks at one open text that a caller wrote. Raises Refusal (400) where the settings refuse such numbers."""
    if not isinstance(stored, str) or next(find_identity_numbers(stored), None) is None:
        return
    sentence = f"{where}: field {name} holds a national identity number."
    if stage.settings.identity_numbers == "refuse":
        raise Refusal(400, sentence)
    stage.warnings.append(sentence)
