"""The estimate of a load: what is counted, what is modelled, what is measured, and that measuring leaves nothing."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

import noarkit
from noarkit.archive.http import connect
from noarkit.archive.settings import ArchiveSettings
from noarkit.archive.token import Credentials
from noarkit.archive.values import Action, Page, Query, SavedObject, Upload, Uploaded
from noarkit.embedded import open_embedded
from noarkit.graph.cut import Limits
from noarkit.loading.estimation.demand import Demand, Work, demand_of, synthetic_demand
from noarkit.loading.estimation.earlier import earlier_measurement
from noarkit.loading.estimation.estimate import Prices, worker_times
from noarkit.loading.estimation.figures import DEFAULTS, LEVELS, Figure, Figures, figure_of
from noarkit.loading.estimation.model import LIMITS, Setup, fitted_share, makespan, shards_per_second, time_of
from noarkit.loading.estimation.probe import probe_archive
from noarkit.loading.folder import RunFolder
from noarkit.loading.journal import Journal
from noarkit.manual.chapters import chapter_source
from noarkit.model.own_marks import ESTIMATE_CLASS
from noarkit.words.texts import LANGUAGES, texts
from tests.loading.conftest import Opened
from tests.loading.direct import DirectArchive
from tests.loading.journey import Journey, record

NOTHING = Figure(0.0, 0.0, 0.0)
QUARTER = Figure(0.25, 0.25, 0.25)


class Counting(DirectArchive):
    """An archive that counts what is asked of it."""

    calls: Counter[str]

    def transaction(self, actions: Sequence[Action]) -> Mapping[str, SavedObject]:
        self.calls["transactions"] += 1
        self.calls["actions"] += len(actions)
        return super().transaction(actions)

    def query(self, query: Query) -> Page:
        self.calls["queries"] += 1
        return super().query(query)

    def upload(self, content: Upload) -> Uploaded:
        self.calls["uploads"] += 1
        return super().upload(content)


def exact(**seconds: float) -> Figures:
    """Figures without a range; what is not named takes no time."""
    names = [name for name, value in vars_of(DEFAULTS).items() if isinstance(value, Figure)]
    return replace(DEFAULTS, **{name: Figure(*[seconds.get(name, 0.0)] * 3) for name in names})  # type: ignore[arg-type]


def vars_of(figures: Figures) -> dict[str, object]:
    return {name: getattr(figures, name) for name in Figures.__slots__}


def demand(shards: int, *, uploads: int = 100) -> Demand:
    """A plan of so many equal shards, and nothing else."""
    return Demand(Work(), (Work(uploads=uploads),) * shards, Work(), Work(), Work(), Work())


# counted


def test_what_is_counted_is_what_a_load_then_asks_for(root: Path, opened: Opened) -> None:
    contents = {f"k{n:02}": b"content %d" % n for n in range(30)}
    journey = Journey(root, contents, limits=Limits(chunk_actions=40, shard_entities=30))
    journey.plan([record(key, f"f{n // 6}", contents[key]) for n, key in enumerate(contents)])
    counted, service = demand_of(journey.folder).total, opened(journey)
    archive = Counting(service)
    archive.calls = Counter()
    journey.once(service, archive=archive)
    calls = archive.calls
    assert calls["uploads"] == counted.uploads == 30
    assert counted.bytes == sum(map(len, contents.values()))
    assert abs(calls["transactions"] - counted.transactions) <= 2
    # what the command asks before the load, to learn that the archive answers, is counted too
    assert calls["queries"] <= counted.queries <= calls["queries"] + 10
    assert calls["actions"] == pytest.approx(counted.actions, rel=0.1)


def test_keys_are_looked_up_where_the_archive_knows_the_source(root: Path) -> None:
    contents = {f"k{n:02}": b"x" for n in range(8)}
    journey = Journey(root, contents, limits=Limits(chunk_actions=20, shard_entities=30))
    journey.plan([record(key, "f", content) for key, content in contents.items()])
    first, again = demand_of(journey.folder), demand_of(journey.folder, fresh=False)
    chunks = first.units.transactions
    assert again.units.queries - first.units.queries == chunks > 1


def test_a_synthetic_plan_is_cut_as_plans_are() -> None:
    huge = synthetic_demand(1_000_000)
    assert huge.units.uploads == 1_000_000
    assert len(huge.shards) == 250
    assert huge.units.entities == 5_000_000


# modelled


def test_without_anything_to_wait_for_twice_the_workers_take_half_the_time() -> None:
    flows = shards_per_second(64, 10.0, {})
    assert flows[63] == pytest.approx(64 * flows[0])


def test_what_is_one_at_a_time_bounds_the_flow() -> None:
    flows = shards_per_second(200, 9.0, {"archive": 1.0})
    assert flows[0] == pytest.approx(0.1)
    assert flows[199] == pytest.approx(1.0, rel=0.01)
    assert all(more >= less for less, more in pairwise(flows))


def test_the_share_that_is_one_at_a_time_is_found_again_from_what_several_workers_did() -> None:
    for share in (0.1, 0.4, 0.8):
        flows = shards_per_second(4, (1 - share) / 5, {"archive": share / 5})
        assert fitted_share(flows[0], flows[3], 4) == pytest.approx(share, abs=0.01)


def test_shards_are_given_out_in_their_order_to_who_is_free_first() -> None:
    assert makespan([4, 1, 1, 1, 1], [1.0, 1.0]) == 4
    assert makespan([1, 1, 1, 1, 4], [1.0, 1.0]) == 6
    assert makespan([2, 2], [1.0, 0.5]) == 4  # two that slow each other down to half


@pytest.mark.parametrize(
    ("limit", "figures", "setup", "shards", "workers"),
    [
        ("latency", exact(upload=1.0), Setup(), 100, 4),
        ("archive", exact(upload=1.0, archive_share=0.25), Setup(), 1000, 32),
        ("concurrency", replace(exact(upload=1.0), concurrency=4), Setup(), 1000, 32),
        ("processors", exact(upload=1.0, processor_share=0.5), Setup(processors=2), 1000, 32),
        ("rate", exact(upload=1.0), Setup(calls_per_s=8.0), 1000, 64),
        ("rate", exact(upload=1.0), Setup(calls_per_s=8.0), 1000, 32),
        ("source", exact(upload=1.0), Setup(source_calls_per_s=5.0), 1000, 32),
        ("shards", exact(upload=1.0), Setup(), 8, 64),
    ],
)
def test_the_estimate_says_which_limit_a_load_meets(
    limit: str, figures: Figures, setup: Setup, shards: int, workers: int
) -> None:
    assert limit in LIMITS
    assert time_of(demand(shards), figures, setup, workers).limit == limit
    assert time_of(demand(shards), figures, setup, 1).limit == "latency"


def test_one_shard_that_is_much_longer_than_the_others_is_told_as_the_limit() -> None:
    uneven = replace(demand(20), shards=(*demand(20).shards, Work(uploads=5_000)))
    assert time_of(uneven, exact(upload=0.01), Setup(), 8).limit == "longest_shard"


def test_what_goes_alone_is_told_where_it_takes_most_of_the_time() -> None:
    closing = replace(demand(4), closing=Work(transactions=10_000))
    assert time_of(closing, exact(upload=0.01, transaction=0.01), Setup(), 4).limit == "closing"


def test_a_rate_limit_of_eight_calls_a_second_is_kept_to() -> None:
    timing = time_of(demand(1000), exact(upload=1.0), Setup(calls_per_s=8.0), 32)
    assert timing.seconds == pytest.approx(100_000 / 8, rel=0.05)


def test_the_range_holds_what_is_likely() -> None:
    for entry in worker_times(synthetic_demand(100_000), DEFAULTS, Setup(2), (1, 8, 64)):
        assert entry.low_s < entry.likely_s < entry.high_s
    assert [DEFAULTS.query.at(level) for level in LEVELS] == sorted(DEFAULTS.query.at(level) for level in LEVELS)


def test_a_figure_of_several_measurements_is_their_median_between_the_quartiles() -> None:
    assert figure_of([9.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0]) == Figure(2.0, 4.0, 6.0)


def test_a_price_is_of_calls_and_of_bytes() -> None:
    assert Prices(2.0, 0.5).of(Work(queries=500, uploads=1_500, bytes=4_000_000_000)) == pytest.approx(6.0)


# measured


def test_measuring_an_archive_leaves_the_same_classes_each_time_and_nothing_else(tmp_path: Path) -> None:
    with open_embedded(tmp_path / "archive") as embedded:
        settings = ArchiveSettings(
            embedded.url, Credentials(embedded.client_id, embedded.client_secret), token_url=embedded.token_url
        )
        first = probe_archive(settings, "source", together=1)
        names = _classes(settings)
        second = probe_archive(settings, "source", together=2)
        assert _classes(settings) == names
        assert all(name.startswith(ESTIMATE_CLASS) for name in names)
        for kind in ("Arkiv", "Dokumentversjon", "EksternId"):
            assert _count(settings, kind) == 0
    for measurement in (first, second):
        assert (measurement.origin, measurement.fresh, measurement.honours_versions) == ("probe", True, True)
        assert measurement.calls > 50
        assert 0 < measurement.figures.query.low <= measurement.figures.query.likely < 1
        assert 0 <= measurement.figures.archive_share.likely <= 1


def _classes(settings: ArchiveSettings) -> list[str]:
    with closing(connect(settings)) as archive:
        return sorted(str(item.fields["klasseIdent"]) for item in archive.query(Query("Klasse")).objects)


def _count(settings: ArchiveSettings, kind: str) -> int:
    with closing(connect(settings)) as archive:
        return len(archive.query(Query(kind)).objects)


def test_what_an_earlier_load_took_is_the_measure_of_the_next(root: Path) -> None:
    contents = {"k": b"x"}
    journey = Journey(root, contents)
    journey.plan([record("k", "f", b"x")])
    other = journey.another("other")
    other.plan([record("k", "f", b"x")])
    assert earlier_measurement(other.folder, None, Setup()) is None
    _loaded(journey.folder, seconds=40.0, workers=2)
    slow = earlier_measurement(other.folder, "archive", Setup())
    assert slow is not None and slow.where == "run"
    assert time_of(demand_of(other.folder), slow.figures, Setup(), 2).seconds == pytest.approx(40.0, rel=0.05)
    assert earlier_measurement(other.folder, "another archive", Setup()) is None


def test_the_load_of_a_run_itself_is_its_measure_however_short_and_old(root: Path) -> None:
    journey = Journey(root, {"k": b"x"})
    journey.plan([record("k", "f", b"x")])
    other = journey.another("other")
    other.plan([record("k", "f", b"x")])
    _loaded(other.folder, seconds=0.4, workers=1)
    assert earlier_measurement(journey.folder, None, Setup()) is None, "too short to tell of another plan"
    _loaded(journey.folder, seconds=40.0, workers=2)
    own = earlier_measurement(other.folder, None, Setup())
    assert own is not None and own.where == "other"
    assert time_of(demand_of(other.folder), own.figures, Setup(), 1).seconds == pytest.approx(0.4, rel=0.05)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_manual_explains_every_limit_by_the_words_of_the_estimate(lang: str) -> None:
    chapter = Path(noarkit.__file__).parent.joinpath("manual", lang, "scale.md").read_text("utf-8")
    say = texts(lang).tables["say"]
    limits = [str(words).partition(":")[0] for key, words in say.items() if key.startswith("limit.")]
    assert len(limits) > 10
    assert [words for words in limits if f"| {words} |" not in chapter] == []


def _loaded(folder: RunFolder, *, seconds: float, workers: int) -> None:
    with closing(Journal(folder.journal)) as journal:
        journal.remember(where="archive")
        journal.add_note(1_000.0, "ingest_began", {"workers": workers})
        journal.add_note(1_000.0 + seconds, "ingest_ended", {"state": "done"})


def test_the_table_of_the_chapter_is_what_the_model_says() -> None:
    seconds = {
        (power, workers): time_of(synthetic_demand(10**power), DEFAULTS, Setup(), workers).seconds
        for power in range(4, 10)
        for workers in (1, 8, 64, 200)
    }
    for lang in LANGUAGES:
        _check_table(lang, seconds)


def _check_table(lang: str, seconds: Mapping[tuple[int, int], float]) -> None:
    said = texts(lang)
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in chapter_source("scale", lang).splitlines()
        if line.startswith("| 1") and "0" in line.split("|")[1]
    ]
    assert len(rows) == 6
    for power, (documents, requests, size, *times) in enumerate(rows, 4):
        plan = synthetic_demand(10**power)
        assert [int(re.sub(r"\D", "", count)) for count in (documents, requests)] == [10**power, plan.total.requests]
        assert size == said.size(plan.total.bytes)
        for workers, told in zip((1, 8, 64, 200), times, strict=True):
            assert told == said.duration(seconds[power, workers])


def test_figures_are_plain_values() -> None:
    assert json.loads(json.dumps(DEFAULTS.as_data()))["query"] == [
        pytest.approx(DEFAULTS.query.low), DEFAULTS.query.likely, pytest.approx(DEFAULTS.query.high)
    ]  # fmt: skip
