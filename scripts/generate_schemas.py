"""Writes schemas/ from the tables: noark5/<version>/, dias/, eark/, siard/, events.json of the lines of --json, and
hook.json of what hooks are given; and the table of lines at the end of the manual's chapter on JSON.

Nothing is left below schemas/noark5, schemas/dias, schemas/eark and schemas/siard that the tables do not make.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path

from noarkit.cli.contract import events, schema
from noarkit.forms.dias.schemas import schemas as dias_schemas
from noarkit.forms.eark.schemas import schemas as eark_schemas
from noarkit.forms.noark5.schemas import schemas
from noarkit.forms.siard.schemas import schemas as siard_schemas
from noarkit.model.xml_model import VERSIONS
from noarkit.operations.contract import schema as hook_schema
from noarkit.results import JsonKind

PLACE = Path(__file__).resolve().parent.parent / "schemas" / "noark5"
DIAS = PLACE.parent / "dias"
EARK = PLACE.parent / "eark"
SIARD = PLACE.parent / "siard"
EVENTS = PLACE.parent / "events.json"
HOOK = PLACE.parent / "hook.json"
CHAPTERS = [PLACE.parent.parent / "noarkit" / "manual" / lang / "json.md" for lang in ("en", "nb")]


def wanted() -> dict[Path, bytes]:
    """Every file that is made, and what it holds."""
    files = {PLACE / version / name: made for version in VERSIONS for name, made in schemas(version).items()}
    files |= {DIAS / name: made for name, made in dias_schemas().items()}
    files |= {EARK / name: made for name, made in eark_schemas().items()}
    files |= {SIARD / name: made for name, made in siard_schemas().items()}
    contracts = {EVENTS: schema(), HOOK: hook_schema()}
    return {
        **files,
        **{path: chapter(path.read_text("utf-8")).encode() for path in CHAPTERS},
        **{path: (json.dumps(made, indent=1, ensure_ascii=False) + "\n").encode() for path, made in contracts.items()},
    }


def chapter(text: str) -> str:
    """A chapter with a row for each line of --json in its last table, whose head stays."""
    head, rule, _ = text.rpartition("| --- | --- |\n")
    return head + rule + "".join(f"| `{name}` | {_named(fields)} |\n" for name, fields in sorted(events().items()))


def _named(fields: Mapping[str, JsonKind]) -> str:
    """The names of fields, with those of their rows."""
    names = []
    for name, kind in fields.items():
        rows = kind.fields or (kind.of.fields if kind.of else None)
        names.append(f"`{name}{'?' * kind.is_optional}`" + (f" ({_named(rows)})" if rows else ""))
    return ", ".join(names)


def stale() -> list[Path]:
    """The files that are missing, differ or belong to no version."""
    files = wanted()
    places = [path for place in (PLACE, DIAS, EARK, SIARD) for path in place.rglob("*")]
    found = {path for path in (*places, EVENTS, HOOK, *CHAPTERS) if path.is_file()}
    return sorted(
        {path for path, made in files.items() if path not in found or path.read_bytes() != made} | found - set(files)
    )


def main(arguments: list[str]) -> int:
    """0 where all is up to date, or was brought up to date; 1 where --check found a difference."""
    differing, files = stale(), wanted()
    if "--check" not in arguments:
        for path in differing:
            path.unlink(missing_ok=True)
        for path, made in files.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(made)
    for path in differing:
        print(path.relative_to(PLACE.parent.parent))
    return 1 if differing and "--check" in arguments else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
