"""Checks that a code is in its code list; each code is looked up once per transaction."""

from __future__ import annotations

from noarkit.server.transaction.plan import FieldPlan
from noarkit.server.transaction.stage import Stage
from noarkit.server.values import Stored
from noarkit.server.wire import Refusal


def check_code(stage: Stage, plan: FieldPlan, code: Stored, location: str) -> None:
    """Raises Refusal (400) for a code that is not in the field's list."""
    key = (plan.code_list, str(code))
    is_known = stage.codes.get(key)
    if is_known is None:
        row = stage.db.execute("SELECT 1 FROM code_value WHERE list = ? AND code = ?", key).fetchone()
        is_known = stage.codes[key] = row is not None
    if not is_known:
        raise Refusal(400, f"{location}: field {plan.name}: {code!r:.80} is no code of the list {plan.code_list}.")
