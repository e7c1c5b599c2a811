"""The archive's ids go back into the records of a CRM, where that is asked for; what fails there undoes nothing."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import pytest

import noarkit
from noarkit.api import origins, writing_back
from noarkit.cli.main import main
from noarkit.errors import UsageFault
from noarkit.loading.folder import RunFolder
from noarkit.loading.numbers import archive_ids
from noarkit.services.crm.listing import records_by_page
from noarkit.services.source import ConnectorSource
from noarkit.services.standins.server import StandinSpec
from tests.services.standing import Standing, standing

pytestmark = pytest.mark.usefixtures("one_archive")


def loaded(held: Standing, folder: Path, name: str) -> noarkit.IngestResult:
    """One plan, loaded."""
    archive = f"embedded:{folder / 'archive'}"
    noarkit.plan("crm:standin", folder / name, archive=archive, settings=held.site(archive))
    return noarkit.ingest(folder / name, archive=archive, workers=1, settings=held.site(archive))


def deals(held: Standing) -> Mapping[str, object]:
    """What stands in the field, by record."""
    source = origins.source_at("crm:standin", held.site())
    assert isinstance(source, ConnectorSource)
    calls, fields = source.service.calls, source.service.fields("Deals")  # type: ignore[attr-defined]  # a Crm
    found = {str(row["id"]): row["Archive_Id"] for row in records_by_page(calls, "Deals", fields, "test")}
    source.release()
    return found


def test_each_record_gets_the_id_of_its_case_file_and_the_runs_come_to_rest(tmp_path: Path) -> None:
    with standing("crm", tmp_path, StandinSpec(105)) as held:
        loaded(held, tmp_path, "first")
        done = writing_back.write_back(tmp_path / "first", "Archive_Id", settings=held.site())
        # inspections have no such field
        assert (done.written_count, done.same_count, dict(done.refusals)) == (105 + 21, 0, {"no-such-field": 5})
        folder = RunFolder(tmp_path / "first")
        wanted = {key.rsplit(":", 1)[1]: one for key, one in archive_ids(folder, "Saksmappe") if ":Deals:" in key}
        assert deals(held) == wanted

        before = held.control("counts")["spent"]
        again = writing_back.write_back(tmp_path / "first", "Archive_Id", settings=held.site())
        assert (again.written_count, again.same_count) == (0, 126)
        assert held.control("counts")["spent"] - before < 10, "what was written is known with the run"  # type: ignore[operator]  # a number
        (tmp_path / "first" / "written-back.db").unlink()
        anew = writing_back.write_back(tmp_path / "first", "Archive_Id", settings=held.site())
        assert (anew.written_count, anew.same_count) == (0, 126)


def test_a_fault_there_undoes_nothing_and_the_rest_is_written_by_the_same_call(tmp_path: Path) -> None:
    with standing("crm", tmp_path, StandinSpec(3)) as held:
        environment = {**held.environment, "PATH": os.environ["PATH"]}
        told = ["--config", str(held.config), "--progress", "none", "--archive", f"embedded:{tmp_path / 'archive'}"]
        skipped = ["skip_modules = ['Inspections']"]
        held.config.write_text(held.config.read_text() + "\n".join(skipped) + "\n")
        run = str(tmp_path / "run")
        assert main(["plan", "crm:standin", "-o", run, *told], environment) == 0
        assert main(["ingest", run, "--workers", "1", *told], environment) == 0
        held.control("trouble", path="/crm/v8/Cases", status=403, times=1, after=0)
        assert main(["ingest", run, "--workers", "1", "--write-back", "Archive_Id", *told], environment) == 3
        assert all(deals(held).values()), "what came before the fault is written"
        assert main(["ingest", run, "--workers", "1", "--write-back", "Archive_Id", *told], environment) == 0


def test_only_a_crm_takes_ids(tmp_path: Path) -> None:
    with standing("spend", tmp_path, StandinSpec(2, limits=((100_000, 60.0),))) as held:
        archive = f"embedded:{tmp_path / 'archive'}"
        noarkit.plan("spend:standin", tmp_path / "run", archive=archive, settings=held.site(archive))
        with pytest.raises(UsageFault):
            writing_back.write_back(tmp_path / "run", "Archive_Id", settings=held.site(archive))
