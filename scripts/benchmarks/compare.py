"""scripts/bench compare REV [NAME …]: the working tree and another revision in turn, on the same machine.

Both run the benchmarks of the working tree, so what is measured is the same and only noarkit differs. The other
revision is checked out beside, in a temporary folder.
"""

from __future__ import annotations

import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from scripts.benchmarks.figures import machine
from scripts.benchmarks.measuring import Cost, Meter

_HERE = Path(__file__).parents[2]
_FIGURE = re.compile(
    r"\| (?P<name>[^|^]+?) \| (?P<value>[0-9][0-9,.]*) (?P<unit>[^|]+?) \|(?:[^|]*\| (?P<beside>[0-9]+\.[0-9]+) \|)?"
)
_COST = re.compile(
    r"\| \^ (?!beside it).*; processor: ours (?P<ours>[0-9.]+) s, children (?P<children>[0-9.]+) s,"
    r" server (?P<server>[0-9.]+) s;"
)


@dataclass(frozen=True, slots=True)
class _Run:
    """One run of a tree: its figures with their units, each one's ratio to what was measured beside it, the processor
    time of each, and what the run cost."""

    figures: dict[str, tuple[float, str]]
    beside: dict[str, float]
    processor_s: dict[str, float]
    cost: Cost


def compare(revision: str, names: Sequence[str], rounds: int, arguments: Sequence[str]) -> None:
    """Prints each figure of both trees with the least, the median and the most of `rounds` rounds, taken in turn; one
    bench after another."""
    with _checked_out(revision) as other:
        for name in names:
            runs: dict[str, list[_Run]] = {revision: [], "here": []}
            in_turn = [(revision, other), ("here", _HERE)]
            try:
                for _ in range(rounds):
                    for tree_name, tree in in_turn:
                        runs[tree_name].append(_run(tree, name, arguments))
                    in_turn.reverse()  # a machine that grows slower or quicker does so for both
            except subprocess.CalledProcessError as error:
                print(f"\n{name}: not compared, for {tree_name} ended with {error.returncode}", flush=True)
                continue
            _tell(name, revision, runs)


def _tell(name: str, revision: str, runs: Mapping[str, Sequence[_Run]]) -> None:
    costs = [run.cost for tree_runs in runs.values() for run in tree_runs]
    quiet = sum(cost.is_quiet for cost in costs)
    print(f"\n{name}: {revision} and here in turn, {machine()}; {quiet} of {len(costs)} runs quiet\n")
    print(
        f"| figure, least / median / most | {revision} | here | ratio | to what is beside it |\n|---|---|---|---|---|"
    )
    for figure in runs["here"][0].figures:
        pairs = [
            (before.figures[figure], after.figures[figure])
            for before, after in zip(runs[revision], runs["here"], strict=True)
            if figure in before.figures and figure in after.figures and before.figures[figure][0]
        ]
        if pairs:
            unit = pairs[0][0][1]
            columns = [_spread([value for value, _ in side]) for side in zip(*pairs, strict=True)]
            ratio = statistics.median(after[0] / before[0] for before, after in pairs)
            to_beside = " → ".join(_beside(figure, tree_runs) for tree_runs in runs.values())
            print(f"| {figure} ({unit}) | {columns[0]} | {columns[1]} | {ratio:.2f} | {to_beside.strip(' →')} |")
            _tell_processor(figure, runs[revision], runs["here"])
    for whole, number in (
        ("elapsed s", "elapsed_s"),
        ("processor s", "processor_s"),
        ("others a core", "others_per_core"),
    ):
        sides = [[getattr(run.cost, number) for run in tree_runs] for tree_runs in runs.values()]
        # on a machine that does nothing else, others took nothing at all
        ratios = [after / before for before, after in zip(*sides, strict=True) if before]
        told = f"{statistics.median(ratios):.2f}" if ratios else ""
        print(f"| whole run: {whole} | {_spread(sides[0])} | {_spread(sides[1])} | {told} | |", flush=True)


def _tell_processor(name: str, before: Sequence[_Run], here: Sequence[_Run]) -> None:
    """A row with the processor time of a figure's rounds, which says more than elapsed time while others work too."""
    pairs = [
        (one.processor_s[name], other.processor_s[name])
        for one, other in zip(before, here, strict=True)
        if one.processor_s.get(name) and other.processor_s.get(name)
    ]
    if pairs:
        columns = [_spread(side) for side in zip(*pairs, strict=True)]
        ratio = statistics.median(after / other for other, after in pairs)
        print(f"| {name} (processor s) | {columns[0]} | {columns[1]} | {ratio:.2f} | |")


def _beside(name: str, runs: Sequence[_Run]) -> str:
    ratios = [run.beside[name] for run in runs if name in run.beside]
    return f"{statistics.median(ratios):.2f}" if ratios else ""


def _spread(values: Sequence[float]) -> str:
    return " / ".join(f"{value:,.2f}" for value in (min(values), statistics.median(values), max(values)))


def _run(tree: Path, name: str, arguments: Sequence[str]) -> _Run:
    meter = Meter()
    done = subprocess.run(
        [sys.executable, "-m", "scripts.benchmarks", name, "--rounds", "1", *arguments],
        check=True,
        cwd=tree,
        env={**os.environ, "PYTHONPATH": str(tree)},
        stdout=subprocess.PIPE,
        text=True,
    )
    figures, beside, processor_s = read_figures(done.stdout)
    return _Run(figures, beside, processor_s, meter.cost())


def read_figures(text: str) -> tuple[dict[str, tuple[float, str]], dict[str, float], dict[str, float]]:
    """What a bench printed: the figures with their units, their ratios to what is beside them, and the processor time
    behind each."""
    figures: dict[str, tuple[float, str]] = {}
    beside: dict[str, float] = {}
    processor_s: dict[str, float] = {}
    name = ""
    for line in text.splitlines():
        if match := _FIGURE.match(line):
            name = match["name"]
            figures[name] = (float(match["value"].replace(",", "")), match["unit"])
            if match["beside"]:
                beside[name] = float(match["beside"])
        elif name and (match := _COST.match(line)):
            processor_s[name] = processor_s.get(name, 0.0) + sum(map(float, match.groups()))
    return figures, beside, processor_s


@contextmanager
def _checked_out(revision: str) -> Iterator[Path]:
    """The revision in a folder of its own, with the benchmarks of the working tree."""
    with tempfile.TemporaryDirectory(prefix="noarkit-compare-") as folder:
        tree = Path(folder) / "tree"
        subprocess.run(["git", "worktree", "add", "--quiet", "--detach", str(tree), revision], check=True, cwd=_HERE)
        try:
            shutil.rmtree(tree / "scripts" / "benchmarks")
            shutil.copytree(_HERE / "scripts" / "benchmarks", tree / "scripts" / "benchmarks")
            yield tree
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", str(tree)], check=True, cwd=_HERE)
