"""Every damage of the library, by name."""

from __future__ import annotations

from collections.abc import Mapping

from tests.loading.damage import in_calls, in_documents, in_fields, in_places, in_runs
from tests.loading.damage.damage import Damage

ALL = (
    *in_fields.DAMAGES,
    *in_places.DAMAGES,
    *in_documents.DAMAGES,
    *in_calls.DAMAGES,
    *in_runs.DAMAGES,
)
BY_NAME: Mapping[str, Damage] = {damage.name: damage for damage in ALL}
