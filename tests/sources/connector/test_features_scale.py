"""A large feature-management service from one end to the other: 2,000 definitions with their versions, reviews and
20,000 entries of the audit log, in memory that does not grow with them. NOARKIT_DEEP=1 asks for it; the suite walks
the same road with few."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import astuple, dataclass
from pathlib import Path

import httpx

from noarkit.services.standins.server import StandinSpec
from tests.services.standing import Standing, standing
from tests.sources.connector.road import DEEP, Road

SIZES = ((200, 2_000), (2_000, 20_000)) if DEEP else ((60, 50),)
"""How many definitions and entries there are, the fewest first."""
# what more may be needed of memory for ten times as much: tables of SQLite are cached up to a bound, which for an
# extraction is 64 and 16 MiB
MORE_MIB, MORE_FOR_EXTRACT_MIB = 40, 90
OPEN = ("pending", "accepted", "changes_requested")


def listed(held: Standing, path: str) -> list[dict[str, object]]:
    """All of a list of the console."""
    key = next(place.read_text().strip() for place in held.home.glob("*-api_key.secret"))
    found: list[dict[str, object]] = []
    for page in range(1, 1_000):
        told = httpx.get(
            f"{held.url}/console/v1{path}", params={"page": page}, headers={"SERVICE-API-KEY": key}, trust_env=False
        ).json()
        found += told["data"]
        if not (told.get("pagination") or {}).get("nextPage"):
            break
    return found


@dataclass(frozen=True, slots=True)
class Changes:
    """How many definitions were made, changed, deleted and shown no more, and how many reviews concluded."""

    made: int
    changed: int
    deleted: int
    unlisted: int
    concluded: int


def change(held: Standing) -> Changes:
    """Ten gates are made and twenty changed, ten experiments and five parameter stores too; three segments are deleted,
    two layers archived and shown no more, four reviews concluded. All of them, where there are no more."""

    def ids(kind: str, count: int) -> list[str]:
        return [str(one["id"]) for one in listed(held, f"/{kind}")[:count]]

    made = [{"kind": "gates", "id": f"ny_{number}", "members": {"isEnabled": True}} for number in range(10)]
    changed = [
        {"kind": kind, "id": one, "members": {"description": "Endret"}}
        for kind, count in (("gates", 20), ("experiments", 10), ("param_stores", 5))
        for one in ids(kind, count)
    ]
    layers, segments = ids("layers", 2), [{"kind": "segments", "id": one} for one in ids("segments", 3)]
    archived = [{"kind": "layers", "id": one, "members": {}} for one in layers]  # nothing in them tells it
    concluded: list[dict[str, object]] = []
    for config in listed(held, "/dynamic_configs"):
        reviews = listed(held, f"/dynamic_configs/{config['id']}/reviews")
        if reviews and reviews[0]["status"] in OPEN and len(concluded) < 4:
            reviews[0]["status"] = "committed"
            concluded.append({"kind": "dynamic_configs", "id": config["id"], "reviews": reviews})
    unlisted = [{"kind": "layers", "id": one} for one in layers]
    held.control(
        "change", definitions=[*made, *changed, *archived], gone=segments, unlisted=unlisted, reviews=concluded
    )
    changes = Changes(len(made), len(changed), len(segments), len(unlisted), len(concluded))
    assert all(astuple(changes)), changes
    return changes


def reads(held: Standing) -> int:
    """Of how many definitions the reviews were asked for."""
    return int(str(held.control("counts")["reviews_read"]))


def walk(road: Road, held: Standing, definitions: int, entries: int) -> None:
    """Everything is archived, then nothing, then what changed; the package is valid."""
    first = road.load("first")
    assert first["archived"] == first["read"] > definitions + entries
    road.verify("first")
    asked = reads(held)
    second = road.load("second")
    assert (second["archived"], second["new_versions"]) == (0, 0)
    # what was under review is asked about again, and no other
    assert reads(held) - asked < asked
    road.verify("second")
    changes = change(held)
    third = road.load("third")
    # a state and an entry of the log for each that was made or changed, an entry for each deleted one
    archived = 2 * (changes.made + changes.changed + changes.unlisted) + changes.deleted
    assert (third["archived"], third["new_versions"], third["skipped"]) == (
        archived,
        changes.concluded,
        changes.deleted,
    )
    road.verify("third")
    road.finish("first", "third")
    counts = held.control("counts")
    assert [counts[one] for one in ("checks", "exposures", "keys_read", "people_read")] == [0, 0, 0, 0]


def test_a_service_of_any_size_is_archived_once_and_then_only_what_changed(tmp_path: Path) -> None:
    took: list[Mapping[str, tuple[float, float]]] = []
    for definitions, entries in SIZES:
        folder = tmp_path / str(definitions)
        folder.mkdir()
        spec = StandinSpec(definitions, limits=(), options={"audit": str(entries)})
        with standing("features", folder, spec) as held:
            road = Road("features", held.config, folder)
            walk(road, held, definitions, entries)
        took.append(road.took)
    grown = {step: took[-1][step][1] - most for step, (_, most) in took[0].items()}
    most = dict.fromkeys(grown, MORE_MIB) | {"extract": MORE_FOR_EXTRACT_MIB}
    assert {step: more for step, more in grown.items() if more > most[step]} == {}
