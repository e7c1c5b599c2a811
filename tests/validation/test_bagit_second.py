"""The second opinion is another tool's own, and a bag that could mislead it is not shown to it."""

from __future__ import annotations

from pathlib import Path

from noarkit.forms.bagit.rules.run import validate_bag
from noarkit.forms.bagit.rules.second import second_opinion
from tests.forms.bagit.bags import FILES, folder, lines, parts, seal, zipped


def test_both_agree_on_a_good_and_on_a_changed_bag(tmp_path: Path) -> None:
    good = folder(tmp_path / "good", parts(version="0.97"))
    assert second_opinion(good, validate_bag(good)).valid
    changed = zipped(tmp_path / "changed.zip", {**parts(version="0.97"), "data/a.txt": b"other"})
    opinion = second_opinion(changed, validate_bag(changed))
    assert (opinion.was_asked, opinion.valid, opinion.known_reasons) == (True, False, ())
    assert any("data/a.txt" in message for message in opinion.messages)
    assert not (tmp_path / "good" / "data" / "data").exists()


def test_its_known_fault_with_percent_signs_is_named(tmp_path: Path) -> None:
    whole = parts({"data/100%": b"x"})
    whole["manifest-sha256.txt"] = whole["manifest-sha256.txt"].replace(b"100%", b"100%25")
    path = folder(tmp_path / "bag", seal(whole))
    report = validate_bag(path)
    opinion = second_opinion(path, report)
    assert report.valid
    assert (opinion.valid, opinion.known_reasons) == (False, ("percent-encoding",))


def test_a_bag_whose_paths_lead_out_is_not_shown_to_it(tmp_path: Path) -> None:
    text = lines(FILES) + f"{'0' * 64}  data/../../bag-sibling/x\n"
    path = folder(tmp_path / "bag", seal({**parts(), "manifest-sha256.txt": text.encode()}))
    assert not second_opinion(path, validate_bag(path)).was_asked
