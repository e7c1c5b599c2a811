"""Another organisation under the name of a connection: nothing is read by what is remembered of the one before."""

from __future__ import annotations

import shlex
from datetime import timedelta
from pathlib import Path

import pytest

from noarkit.errors import OtherTenant
from noarkit.loading.folder import RunFolder
from noarkit.loading.numbers import numbers
from tests.services.world import NOW, Rig, make_rig, thing

OLD = NOW - timedelta(days=400)


@pytest.fixture
def rig(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, one_archive: None) -> Rig:
    made = make_rig(tmp_path, monkeypatch)
    made.set([thing(n, OLD) for n in range(3)])
    return made


def test_another_tenant_is_refused_with_both_names_and_the_command_that_goes_on_reads_all_of_it(rig: Rig) -> None:
    rig.load("first")
    rig.set([thing(n, OLD) for n in range(20)], tenant="22")
    code, _, said = rig.run("plan", "world:main", "-o", "second")
    assert code == 2
    assert "22" in said and "11" in said and "F364" in said
    (command,) = (line for line in said.split("noarkit ")[1:] if line.startswith("connect world:main forget"))
    assert rig.run(*shlex.split(command.split(" —")[0]))[0] == 0
    assert rig.run("plan", "world:main", "-o", "second")[0] == 0, "the folder of the refused plan is not in the way"
    assert numbers(RunFolder(rig.folder / "second")).read == 20


def test_a_run_of_the_one_is_neither_loaded_nor_verified_against_the_other(rig: Rig) -> None:
    rig.plan("run")
    rig.set([thing(n, OLD, papers={"letter.txt": "of another"}) for n in range(3)], tenant="22")
    loaded = rig.ingest("run")
    assert loaded.state != "done", "a paper of another organisation is not taken"
    assert numbers(RunFolder(rig.folder / "run")).archived == 0
    with pytest.raises(OtherTenant) as verified:
        rig.verify("run")
    assert (verified.value.data["expected"], verified.value.data["found"]) == ("11", "22")


def test_the_same_tenant_in_other_letters_is_told_how_to_write_it_and_not_to_start_over(rig: Rig) -> None:
    rig.set([thing(n, OLD) for n in range(3)], tenant="Etaten")
    rig.load("first")
    rig.set([thing(n, OLD) for n in range(3)], tenant="etaten")
    code, _, said = rig.run("plan", "world:main", "-o", "second")
    assert (code, "F364" in said, "as Etaten" in said, "forget" in said) == (2, True, True, False)
    rig.set([thing(n, OLD) for n in range(3)], tenant="Etaten")
    assert rig.load("third").numbers.read == 0, "all is known by its keys"


def test_the_same_tenant_goes_on_from_its_marks(rig: Rig) -> None:
    rig.load("first")
    rig.set([*(thing(n, OLD) for n in range(3)), thing(9, rig.now)])
    assert rig.load("second").numbers.read == 1
