"""A document that was cut off is told as that, in the plan and in the verdict on the package, not for its format."""

from __future__ import annotations

import json
from pathlib import Path

import pikepdf
import pytest

from noarkit.cli.main import main


@pytest.mark.usefixtures("one_archive")
def test_a_cut_off_pdf_is_counted_as_damaged_and_a_whole_one_for_its_format(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "share" / "Sak").mkdir(parents=True)
    with pikepdf.new() as pdf:
        pdf.add_blank_page()
        pdf.save("share/Sak/whole.pdf")
    content = Path("share/Sak/whole.pdf").read_bytes()
    Path("share/Sak/cut.pdf").write_bytes(content[: len(content) * 2 // 3])
    with pytest.raises(pikepdf.PdfError):  # QPDF, which is not ours, says so too
        pikepdf.open("share/Sak/cut.pdf", attempt_recovery=False)

    assert main(["plan", "share", "-o", "run", "--archive", "embedded:a"], {}) == 0
    formats = json.loads(Path("run/plan-report.json").read_text("utf-8"))["formats"]
    assert {entry["standing"]: entry["count"] for entry in formats} == {"damaged": 1, "unclear": 1}
    assert ">damaged<" in Path("run/plan.html").read_text("utf-8")
    assert main(["ingest", "run", "--workers", "0"], {}) == 0
    for form in ("pkg", "pkg.tar"):
        capsys.readouterr()
        assert main(["extract", "-o", form, "--archive", "embedded:a", "--json"], {}) == 3
        events = map(json.loads, capsys.readouterr().out.splitlines())
        reasons = next(event["reasons"] for event in events if event["event"] == "extracted")
        counts = {reason["code"]: (reason["count"], reason["rules"]) for reason in reasons}
        assert (counts["formats"], counts["unusable"]) == ((1, ["N409"]), (1, ["N423"]))
