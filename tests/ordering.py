"""In which order the processes of the tests take the files: the longest first, so that none of them works alone at the
end. How long a file takes is known from the last run; `--shuffle SEED` takes them in any order instead."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Mapping

import pytest
from xdist.scheduler import LoadFileScheduling  # type: ignore[import-untyped]  # it tells no types

_SERVER = "tests/server"
_CODE = "the package's code"
_CODE_READERS = frozenset({"tests/test_docstrings.py", "tests/test_layers.py", "tests/test_words.py"})
_DURATIONS = "noarkit/durations"
# before anything is known, as where a checkout is new: what opens many pages or starts whole processes
_LONG_S = {
    _SERVER: 120.0,
    _CODE: 40.0,
    "tests/faults/test_chaos.py": 60.0,
    "tests/reading_room/test_pages.py": 50.0,
    "tests/reading_room/test_every_place.py": 50.0,
    "tests/reading_room/viewers/test_hostile_documents.py": 50.0,
    "tests/reports/test_pages_in_a_browser.py": 50.0,
    "tests/catalogue/test_hostile_texts.py": 40.0,
    "tests/extraction/test_workers.py": 40.0,
    "tests/copies/test_corpus.py": 40.0,
    "tests/zone/": 30.0,
    "tests/faults/": 30.0,
    "tests/test_samples_": 20.0,
    "tests/copies/": 20.0,
    "tests/reading_room/": 20.0,
    "tests/sources/connector/": 20.0,
}
_SHORT_S = 3.0


class LongestFirst(LoadFileScheduling):  # type: ignore[misc]  # as above
    """A file is run by one process, whole; so are those that share an archive, or the syntax trees of the package."""

    def __init__(self, config: pytest.Config, log: object) -> None:
        super().__init__(config, log)
        if config.option.shuffle is not None:
            config.option.loadscopereorder = False  # the files with the most tests first

    def _split_scope(self, nodeid: str) -> str:
        return _scope(str(super()._split_scope(nodeid)))

    def _assign_work_unit(self, node: object) -> None:
        if self.config.option.shuffle is None:
            known = _known_seconds(self.config)
            longest = max(self.workqueue, key=lambda scope: _expected_s(scope, known))
            self.workqueue.move_to_end(longest, last=False)
        super()._assign_work_unit(node)


def _scope(file: str) -> str:
    if file in _CODE_READERS:
        return _CODE
    return _SERVER if file.startswith(f"{_SERVER}/") else file


def _expected_s(scope: str, known: Mapping[str, float]) -> float:
    guessed = next((seconds for begin, seconds in _LONG_S.items() if scope.startswith(begin)), _SHORT_S)
    return known.get(scope, guessed)


def _known_seconds(config: pytest.Config) -> dict[str, float]:
    cache = getattr(config, "cache", None)  # there is none where its plugin is left out
    return {} if cache is None else dict(cache.get(_DURATIONS, {}))


class DurationRecorder:
    """Adds up how long the tests of each file take, and keeps it for the next run."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._seconds: defaultdict[str, float] = defaultdict(float)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Takes one step of a test into account."""
        file = report.nodeid.partition("::")[0]
        self._seconds[_scope(file)] += report.duration

    def pytest_sessionfinish(self) -> None:
        """Keeps the sums. One test of a file does not make the file short."""
        if getattr(self._config, "cache", None) is None:  # also without the plugin
            return
        known = _known_seconds(self._config)
        seconds = {file: max(seconds, 0.8 * known.get(file, 0.0)) for file, seconds in self._seconds.items()}
        self._config.cache.set(_DURATIONS, {**known, **seconds})


def shuffle_files(items: list[pytest.Item], seed: int) -> None:
    """Puts the files into an order drawn by the seed; the tests of a file stay as they are."""
    by_file: dict[object, list[pytest.Item]] = {}
    for item in items:
        by_file.setdefault(item.path, []).append(item)
    files = list(by_file.values())
    random.Random(seed).shuffle(files)
    items[:] = [item for file in files for item in file]
