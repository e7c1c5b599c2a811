"""Services without one of the protections that keep anything from being lost between two runs, as `mutants.toml` has
them: what is taken out of which module, and what finds it. tests/services/mutation.py runs a module with one of them.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Mutant:
    """A module whose text is changed in one place. `found_by` names the service and the seed of a history that goes
    wrong then, or the test that fails."""

    module: str
    text: str
    replacement: str
    found_by: str


def mutated_text(mutant: Mutant, text: str) -> str:
    """Returns the text of a module without its protection. Raises `ValueError` where it does not stand there once."""
    if text.count(mutant.text) != 1:
        raise ValueError(f"{mutant.module}: {text.count(mutant.text)} times {mutant.text!r}")
    return text.replace(mutant.text, mutant.replacement)


def _read_mutants(path: Path) -> dict[str, Mutant]:
    return {name: Mutant(**entry) for name, entry in tomllib.loads(path.read_text("utf-8")).items()}


MUTANTS: Mapping[str, Mutant] = _read_mutants(Path(__file__).with_name("mutants.toml"))
