"""Local data of a run that was delivered over an air gap goes once its receipt closed the case, and not before."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path

from tests.airgap.gap import Gap, Items, Said, forged


def erase(gap: Gap, run: str, *more: str) -> tuple[int, dict[str, object]]:
    """`noarkit erase-traces RUN --json`: its exit code, and its result or its fault."""
    code = gap.run("erase-traces", run, "--json", *more)
    lines = [json.loads(line) for line in gap.out.splitlines()]
    (said,) = [line for line in lines if line["event"] in ("erased", "fault")]
    return code, said


def test_a_sealed_run_stays_until_its_receipt_is_checked_and_then_goes_whole(gap: Gap) -> None:
    gap.cross()
    assert gap.run("status", "run") == 0
    code, fault = erase(gap, "run")
    assert (code, fault["code"]) == (2, "F461") and "receipt" in str(fault["what"])
    assert Path("run/graph.db").exists()
    assert gap.close() == 0, gap.err
    assert gap.status()["state"] == "delivered"
    before = {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in Path("run").iterdir()
        if path.name != "run.lock"  # it names who holds it now
    }
    code, would = erase(gap, "run", "--dry-run")
    assert code == 0 and Path("run/graph.db").exists()
    code, erased = erase(gap, "run", "--because", "slettingsplan")
    assert (code, erased["complete"], erased["kept"]) == (0, True, []), gap.out
    assert not Path("run").exists()
    receipt = json.loads(Path(str(erased["path"])).read_text("utf-8"))
    assert {entry["name"]: entry["sha256"] for entry in receipt["files"] if entry["name"] != "run.lock"} == before
    proof = receipt["proof"]
    assert (proof["kind"], proof["numbers"]["archived"], proof["numbers"]["open"]) == ("delivered", 3, 0)
    assert gap.archive is not None and proof["archive"] == f"embedded:{gap.archive.data_dir}"
    assert proof["identity"] and proof["document"]
    (certificate,) = [name for name in before if name.startswith("delivered-2") and name.endswith(".json")]
    assert proof["sha256"] == before[certificate]
    assert would["proof"] == erased["proof"]
    assert erase(gap, "run")[0] == 0, "the same again tells of what is done"


def test_the_run_on_the_receiving_side_goes_too_and_the_sender_can_still_close_the_case(gap: Gap) -> None:
    gap.cross()
    code, erased = erase(gap, "there")
    assert (code, erased["complete"]) == (0, True), gap.out
    assert not Path("there").exists() and Path("bundle.zip").exists()
    assert gap.close() == 0, gap.err
    assert erase(gap, "run")[0] == 0


def test_a_receipt_that_does_not_agree_outweighs_the_good_one_before_it(gap: Gap) -> None:
    def lacks_one(items: Items, said: Said) -> None:
        items.pop()

    gap.cross()
    assert gap.close() == 0, gap.err
    shutil.copytree("run", "twin")
    forged(Path("receipt.zip"), Path("lacking.zip"), gap, lacks_one)
    assert gap.close("run", "lacking.zip") == 7, gap.err
    code, fault = erase(gap, "run")
    assert (code, fault["code"]) == (2, "F461")
    assert Path("run/graph.db").exists()
    assert erase(gap, "twin")[0] == 0


def test_a_run_that_was_packed_anew_for_another_side_waits_for_that_receipt_too(gap: Gap) -> None:
    shutil.copytree("src", "kept")  # with its times
    gap.cross()
    assert gap.close() == 0, gap.err
    shutil.move("kept", "src")
    assert gap.run("plan", "run", "--pack", "second.zip", "--seal-key", gap.key("a")) == 0, gap.err
    code, fault = erase(gap, "run")
    assert (code, fault["code"]) == (2, "F461")
    assert gap.load("second.zip", "elsewhere") == 0, gap.err
    assert gap.answer("elsewhere", "second-receipt.zip") == 0, gap.err
    assert gap.close("run", "second-receipt.zip") == 0, gap.err
    assert erase(gap, "run")[0] == 0
