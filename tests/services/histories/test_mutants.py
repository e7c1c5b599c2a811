"""Services without one of the protections that keep anything from being lost: each stands where it is taken out, and
what is told to find it does. NOARKIT_DEEP=1 tries all of them."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.services.mutants import MUTANTS, mutated_text

DEEP = os.environ.get("NOARKIT_DEEP") == "1"
SAMPLE = ("features-sweep-of-reviews", "crm-email-again", "appsec-findings-of-one-page")


def run_without(name: str, *words: str) -> subprocess.CompletedProcess[str]:
    """Runs a module without a protection."""
    command = (sys.executable, "-m", "tests.services.mutation", name, *words)
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)


def test_each_protection_stands_once_where_a_mutant_takes_it_out() -> None:
    for name, mutant in MUTANTS.items():
        spec = find_spec(mutant.module)
        assert spec is not None and spec.origin is not None, name
        compile(mutated_text(mutant, Path(spec.origin).read_text("utf-8")), name, "exec")


def test_a_module_is_imported_without_its_protection() -> None:
    assert "LOOK_BACK = datetime.timedelta(0)" in run_without(
        "features-look-back", "pydoc", "noarkit.services.features.streams"
    ).stdout.replace("\b", "")


def test_each_mutant_names_a_history_or_a_test_that_finds_it() -> None:
    for name, mutant in MUTANTS.items():
        place, _, test = mutant.found_by.partition("::")
        if test:
            assert f"def {test.partition('[')[0]}(" in (ROOT / place).read_text("utf-8"), name
        else:
            service, seed = mutant.found_by.split()
            assert service in ("crm", "spend", "appsec", "features") and seed.isdigit(), name


@pytest.mark.parametrize("name", MUTANTS if DEEP else SAMPLE)
def test_a_service_without_one_of_its_protections_is_found_out(name: str) -> None:
    found_by = MUTANTS[name].found_by
    if "::" in found_by:
        assert run_without(name, "pytest", "-q", "-p", "no:cacheprovider", found_by).returncode == 1
    else:
        service, seed = found_by.split()
        done = run_without(name, "tests.services.histories.sweep", service, "--seeds", seed)
        assert (done.returncode, "1 failed" in done.stdout) == (1, True), done.stdout + done.stderr
