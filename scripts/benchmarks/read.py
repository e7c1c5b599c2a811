"""Reading a Noark 5 package as a source, beside its floor: expat with one handler over the structure."""

from __future__ import annotations

import gc
import shutil
import tempfile
from pathlib import Path
from xml.parsers import expat

from noarkit.events import ignore_event
from noarkit.forms.noark5.source import find_extract
from noarkit.records import SourceRecord
from scripts.benchmarks.figures import machine, medians, processor_seconds, seconds, tell
from scripts.benchmarks.noark_package import make_package

POSTS = 20_000


def run(rounds: int, *, small: bool, only: str) -> None:
    """Every figure, as rows of one table."""
    posts = POSTS // 10 if small else POSTS
    print(f"\nread: {machine()}, medians of {rounds} rounds\n")
    print("| figure | ours | floor | ratio | floor is |\n|---|---|---|---|---|")
    folder = Path(tempfile.mkdtemp(prefix="noarkit-bench-"))
    try:
        make_package(folder / "package", posts)
        if only in "read":
            figures = medians(
                rounds,
                lambda: posts / seconds(lambda: _ours(folder / "package", posts)),
                lambda: posts / seconds(lambda: _floor(folder / "package")),
            )
            one, other, ratio = figures
            tell(f"read {posts:,} journalposter", one, "records/s", other, "expat with a handler for starts", ratio)
            figures = medians(
                rounds,
                lambda: posts / processor_seconds(lambda: _ours(folder / "package", posts)),
                lambda: posts / processor_seconds(lambda: _floor(folder / "package")),
            )
            one, other, ratio = figures
            tell("the same by processor time", one, "records/s", other, "expat with a handler for starts", ratio)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _ours(package: Path, posts: int) -> None:
    source = find_extract(str(package))
    assert source is not None
    mapper = source.mapper()
    records = (item for item in source.records(ignore_event) if isinstance(item, SourceRecord))
    # as a plan does; written out, since `compare` runs this beside revisions that had no one name for it
    thresholds = gc.get_threshold()
    gc.set_threshold(50_000, *thresholds[1:])
    try:
        assert sum(1 for _ in map(mapper.map, records)) >= posts
    finally:
        gc.set_threshold(*thresholds)


def _floor(package: Path) -> None:
    parser = expat.ParserCreate()
    parser.StartElementHandler = lambda name, attributes: None
    with (package / "arkivstruktur.xml").open("rb") as file:
        parser.ParseFile(file)
