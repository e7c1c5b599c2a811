"""The recipe of a source of plain files: one record with one document and one version for every file."""

from __future__ import annotations

import json
from importlib import resources


def default_recipe(kind: str, system: str, root_name: str) -> str:
    """The text for a source of a `kind`, known in the archive as `system`; top folders become Mappe."""
    text = resources.files(__package__).joinpath("default-recipe.toml").read_text("utf-8")
    text = text.replace('kind = "files"', f"kind = {basic_string(kind)}")
    text = text.replace('external_system = "files"', f"external_system = {basic_string(system)}")
    return text.replace('{ tittel = "Filer" }', f"{{ tittel = {basic_string(f'Filer: {root_name}')} }}")


def basic_string(text: str) -> str:
    """A basic string of TOML; JSON's form is one, but for DEL."""
    return json.dumps(text.replace("\x7f", "\ufffd"), ensure_ascii=False)
