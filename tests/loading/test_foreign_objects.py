"""Objects below a run's own are another run's only where a mark of a run proves it; one with a key alone is foreign."""

from __future__ import annotations

from pathlib import Path

import pytest

from noarkit.archive.values import Link, Save
from noarkit.cli.exit_codes import verify_exit_code
from noarkit.loading.lookup import uuid_of_key
from noarkit.loading.verification import Depths, verify
from tests.loading.conftest import Opened
from tests.loading.journey import SYSTEM
from tests.loading.test_false_certificates import sql
from tests.loading.test_verify import Verifying
from tests.roundtrip.circle import WholeArchive


@pytest.fixture
def here(root: Path, opened: Opened) -> Verifying:
    return Verifying(root, opened)


def put_record(here: Verifying, system: str, key: str, uuid: str = "") -> None:
    """A record with a key below the run's folder, by the account that loaded the run."""
    folder = here.journey.all(here.service, "Mappe")[0]
    own = {"uuid": uuid} if uuid else {}
    here.archive.transaction(
        (
            Save("Basisregistrering", "x", {"tittel": "put there", **own}),
            Link("Basisregistrering", "x", "refMappe", (folder.id,)),
            Save("EksternId", "k", {"eksterntSystem": system, "eksternID": key}),
            Link("EksternId", "k", "refRegistrering", ("x",)),
        )
    )


@pytest.mark.parametrize("system", [SYSTEM, "another system"])
def test_a_record_with_a_key_that_no_run_is_shown_to_have_put_there_is_named(system: str, here: Verifying) -> None:
    put_record(here, system, "forged")
    result = here.result()
    assert (result.verdict, verify_exit_code(result), result.differences) == ("in_part", 3, 0)
    assert [notice.code for notice in result.notices] == ["V504"]
    assert result.missing == {"foreign": 1}


def test_a_record_whose_uuid_is_made_of_its_key_is_another_run_s(here: Verifying) -> None:
    put_record(here, "another system", "key", uuid_of_key("another system", "key"))
    result = here.result()
    assert (result.verdict, result.notices) == ("verified", [])
    assert result.row("below").not_compared["other_run"] == 1


def test_a_code_of_the_run_that_is_no_longer_listed_is_named(here: Verifying) -> None:
    sql(here, "DELETE FROM code_value WHERE list = 'variantformat' AND code = 'P'")
    archive = WholeArchive(here.service)
    result = verify(here.journey.folder, here.shelf, archive, Depths("fields"), lambda event: None)
    assert {notice.code for notice in result.notices} == {"V505"}
    assert verify_exit_code(result) == 3
