"""The whole migration as a script: plan, ask, load, prove, deliver; the same call again goes on where it was stopped.

python migrate.py EXPORT ARCHIVE [--go]
"""

from __future__ import annotations

import sys
from pathlib import Path

from old_cases import OldCases

import noarkit

HERE = Path(__file__).resolve().parent
RUN = Path("run")


def migrate(export: str, archive: str, *, go: bool) -> int:
    """Plans once; loads and proves where it may `go`. Returns an exit code as noarkit's own commands do."""
    source = noarkit.from_reader(OldCases(export), "old-cases", str(Path(export).absolute()))
    if not (RUN / "plan.json").exists():
        recipe = noarkit.read_recipe((HERE / "recipe.toml").read_text("utf-8"), "recipe.toml")
        planned = noarkit.plan(source, RUN, recipe=recipe, hash_contents=True, archive=archive, listener=tell)
        print("planned:", dict(planned.records), "see", RUN / "plan.html")
    if not go:
        return 0
    result = noarkit.ingest(RUN, source=source, archive=archive, todays_dates=True, listener=tell)
    print("loaded:", result.numbers.archived, "of", result.numbers.read, "set aside:", result.numbers.set_aside)
    if result.state != "done":
        return max((fault.exit_code for fault in result.faults), default=5)
    proof = noarkit.verify(RUN, source=source, depth="bytes", listener=tell)
    print({"verified": "proven:", "in_part": "proven in part:"}.get(proof.verdict, "NOT proven:"), proof.certificate)
    with noarkit.Archive(archive) as asked:
        first = asked.find_by_source_key("Fjord kommune: gammelt sakssystem", "0001")
        print("letter 0001 is now", first.type if first else "nowhere")
    if proof.verdict == "not_verified":
        return 7
    return 3 if result.numbers.set_aside + result.numbers.refused or not proof.good else 0


def tell(event: noarkit.Event) -> None:
    """Says where it goes, and what could not be taken."""
    if event.name == "target":
        print("archive:", event.data["archive"])
    elif event.name in ("set_aside", "refused"):
        print(event.name, event.data["code"])


if __name__ == "__main__":
    try:
        sys.exit(migrate(sys.argv[1], sys.argv[2], go="--go" in sys.argv))
    except noarkit.NoarkitError as fault:
        sys.exit(f"{fault.code}: {fault.data}")
