"""Runs a module with protections of noarkit taken out: `python -m tests.services.mutation NAME[+NAME] MODULE …`.

The text of a mutated module is changed while it is imported; no file is.
"""

from __future__ import annotations

import runpy
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType

from tests.services.mutants import MUTANTS, Mutant, mutated_text


class MutantLoader(SourceFileLoader):
    """Compiles the text of a module without some of its protections."""

    mutants: Sequence[Mutant] = ()

    def get_code(self, fullname: str) -> CodeType:
        """Compiles the changed text; what Python compiled before is not used."""
        text = Path(self.path).read_text("utf-8")
        for mutant in self.mutants:
            text = mutated_text(mutant, text)
        return compile(text, self.path, "exec", dont_inherit=True)


class MutantFinder(MetaPathFinder):
    """Finds the modules that are changed."""

    def __init__(self, mutants: Sequence[Mutant]) -> None:
        self._mutants = mutants

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Finds a module that is changed; None for all others."""
        mutants = [mutant for mutant in self._mutants if mutant.module == fullname]
        spec = PathFinder.find_spec(fullname, path) if mutants else None
        if spec is not None and spec.origin is not None:
            loader = MutantLoader(fullname, spec.origin)
            loader.mutants = mutants
            spec.loader = loader
        return spec


def mutate(names: str) -> None:
    """Changes modules from now on. Raises `RuntimeError` for one that is imported already."""
    mutants = [MUTANTS[name] for name in names.split("+")]
    imported = [mutant.module for mutant in mutants if mutant.module in sys.modules]
    if imported:
        raise RuntimeError(f"imported already: {imported}")
    sys.meta_path.insert(0, MutantFinder(mutants))


def main(arguments: Sequence[str]) -> None:
    """Runs a module with its arguments."""
    names, module, *words = arguments
    mutate(names)
    sys.argv = [module, *words]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main(sys.argv[1:])
