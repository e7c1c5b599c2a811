"""Each example in a docstring is run, and shows what the code answers."""

from __future__ import annotations

import doctest
import re
from importlib import import_module
from pathlib import Path

import pytest

from tests.package_code import PACKAGE, modules_with, text_of


def module_name(path: Path) -> str:
    """The name by which a module of the package is imported."""
    return ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)


@pytest.mark.parametrize("path", modules_with(">>> "), ids=module_name)
def test_examples_show_what_the_code_answers(path: Path) -> None:
    reports: list[str] = []
    runner = doctest.DocTestRunner(verbose=False)
    for examples in doctest.DocTestFinder(exclude_empty=True).find(import_module(module_name(path))):
        runner.run(examples, out=reports.append)
    assert reports == []
    assert runner.tries == len(re.findall(r"^ *>>> ", text_of(path), re.MULTILINE))
