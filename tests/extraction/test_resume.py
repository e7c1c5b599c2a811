"""An extract that is stopped anywhere goes on to the same bytes; parts of an archive; open units."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path

import pytest

from noarkit.archive.paging import objects
from noarkit.archive.values import Query, Save, SavedObject
from noarkit.errors import NotDepositable, UsageFault
from noarkit.events import Event
from noarkit.extraction.convert import ConvertOptions
from noarkit.extraction.delivery import deliver
from noarkit.extraction.run import ExtractSettings, extract, work_folder
from noarkit.extraction.selection import Selection, parse_query
from tests.extraction.rich import fill
from tests.extraction.test_extract import contents, judged
from tests.extraction.world import World, world


class Stopped(Exception):
    """The process ended here."""


def stopping_at(step: int) -> Callable[[], None]:
    """A pause that ends the process at its n-th call."""
    calls = iter(range(step))

    def pause() -> None:
        if next(calls, None) is None:
            raise Stopped

    return pause


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """The rich archive."""
    with world(tmp_path_factory.mktemp("resume") / "archive") as made:
        fill(made.archive)
        yield made


def test_stopped_at_any_step_the_same_call_ends_in_the_same_bytes(live: World, tmp_path: Path) -> None:
    whole = contents(extract(live.archive, tmp_path / "whole", ExtractSettings()).package)
    target = tmp_path / "stopped"
    stops = 0
    for step in range(200):
        try:
            extract(live.archive, target, ExtractSettings(pause=stopping_at(step)))
        except Stopped:
            stops += 1
            assert not target.exists(), "nothing stands under the name before all does"
            continue
        break
    assert stops > 5
    assert contents(target) == whole
    assert not work_folder(target).exists()


@pytest.mark.parametrize("name", ["made", "made.zip"])
def test_until_its_note_is_removed_the_same_call_comes_to_the_same_end(name: str, live: World, tmp_path: Path) -> None:
    target = tmp_path / name
    first = extract(live.archive, target, ExtractSettings(keep_note=True))
    with pytest.raises(UsageFault, match="exists"):
        extract(live.archive, target, ExtractSettings(selection=Selection(since=date(2001, 1, 1))))
    assert extract(live.archive, target, ExtractSettings()) == first
    assert sorted(entry.name for entry in tmp_path.iterdir() if entry.name.startswith(".")) == []
    with pytest.raises(UsageFault, match="exists"):
        extract(live.archive, target, ExtractSettings())


@pytest.mark.parametrize("form", ["bagit", "eark-sip", "dias-sip"])
def test_a_delivery_that_was_killed_just_after_the_naming_is_done_when_it_comes_again(
    form: str, live: World, tmp_path: Path
) -> None:
    target = tmp_path / "made"
    made: list[Event] = []

    def stop(event: Event, /) -> None:
        made.extend([event] if event.name == "package_made" else [])
        if len(made) == 2:  # the extract within it is the first
            raise Stopped

    with pytest.raises(Stopped):
        deliver(live.archive, target, ConvertOptions(form), ExtractSettings(), emit=stop)
    assert deliver(live.archive, target, ConvertOptions(form), ExtractSettings()).package == target
    assert {path.suffix for path in tmp_path.iterdir() if path.name.startswith(".")} == set()
    with pytest.raises(UsageFault, match="exists"):
        deliver(live.archive, target, ConvertOptions(form), ExtractSettings())


def test_a_store_of_another_selection_is_not_gone_on_with(live: World, tmp_path: Path) -> None:
    target = tmp_path / "package"
    with pytest.raises(Stopped):
        extract(live.archive, target, ExtractSettings(pause=stopping_at(4)))
    with pytest.raises(UsageFault):
        extract(live.archive, target, ExtractSettings(Selection(arkivdel="Fagarkiv")))


def test_what_is_there_already_is_never_replaced(live: World, tmp_path: Path) -> None:
    (tmp_path / "package").mkdir()
    with pytest.raises(UsageFault):
        extract(live.archive, tmp_path / "package", ExtractSettings())


@pytest.mark.parametrize(
    ("selection", "records"),
    [
        (Selection(arkivdel="Fagarkiv"), {"Løst ark"}),
        (Selection(arkivdel="Saksarkiv"), {"Brev p1", "Brev p2", "Brev p3", "Notat", "Protokoll"}),
        (Selection(arkivdel="Saksarkiv", klasse="22"), set()),
        (Selection(query="Saksmappe: tittel = 'Sak c2'"), {"Brev p3"}),
        (Selection(query="Journalpost: tittel %= '%p2' || tittel = 'Brev p3'"), {"Brev p2", "Brev p3"}),
    ],
)
def test_a_part_of_an_archive_is_a_valid_package_of_that_part(
    live: World, tmp_path: Path, selection: Selection, records: set[str]
) -> None:
    package = extract(live.archive, tmp_path / "part", ExtractSettings(selection)).package
    text = (package / "arkivstruktur.xml").read_text("utf-8")
    everything = {"Brev p1", "Brev p2", "Brev p3", "Notat", "Protokoll", "Løst ark"}
    assert {name for name in everything if f"<tittel>{name}</tittel>" in text} == records
    assert judged(package, package, "arkivstruktur") == []
    assert judged(package, package, "arkivuttrekk") == []
    files = {path.relative_to(package).as_posix() for path in package.glob("dokumenter/*/*")}
    assert all(f"<referanseDokumentfil>{file}<" in text for file in files)
    assert text.count("<referanseDokumentfil>") == len(files)


def test_a_period_counts_its_last_day(live: World, tmp_path: Path) -> None:
    today = extract(live.archive, tmp_path / "today", ExtractSettings(Selection(until=date(9998, 12, 31)))).units
    before = extract(live.archive, tmp_path / "before", ExtractSettings(Selection(until=date(1990, 1, 1)))).units
    assert today["mappe"] == 6
    assert "mappe" not in before


def test_an_unknown_name_and_an_unreadable_query_are_refused(live: World, tmp_path: Path) -> None:
    for named, fix, choices in (
        (Selection(arkivdel="Nobody"), "--arkivdel", "Fagarkiv, Saksarkiv"),
        (Selection(arkivdel="saksarkivet"), "--arkivdel Saksarkiv", "Fagarkiv, Saksarkiv"),
        (Selection(arkiv="Arkiv <2>"), "--arkiv 'Arkiv <1>'", "Arkiv <1>"),
        (Selection(klasse="220"), "--klasse 22", None),
    ):
        with pytest.raises(UsageFault) as caught:
            extract(live.archive, tmp_path / "none", ExtractSettings(named))
        assert (caught.value.data["what"], caught.value.data["fix"]) == ("not-in-archive", fix)
        assert choices in (None, caught.value.data["choices"])
        assert not (tmp_path / "none").exists()
    with pytest.raises(UsageFault) as caught:
        parse_query("tittel = 'x'")
    assert caught.value.data["fix"] == "--select"
    with pytest.raises(UsageFault) as caught:
        parse_query("Sakmappe: saksaar = 2020")
    assert caught.value.data["fix"] == "--select 'Saksmappe: saksaar = 2020'"


def test_literals_of_a_query_travel_as_parameters() -> None:
    kind, where, parameters = parse_query("Saksmappe: tittel = 'O''Hara' && saksaar = 2020 && saksdato = 2020-01-02")
    assert kind == "Saksmappe"
    assert where == "tittel = @s1 && saksaar = @s2 && saksdato = @s3"
    assert parameters == {"@s1": "O'Hara", "@s2": 2020, "@s3": "2020-01-02"}


def test_open_units_are_refused_unless_they_are_asked_for(tmp_path: Path) -> None:
    with world(tmp_path / "archive") as made:
        fill(made.archive)
        (series,) = [one for one in _all(made, "Arkivdel") if one.fields["tittel"] == "Fagarkiv"]
        made.archive.transaction([Save("Arkivdel", series.id, {"arkivdelstatus": "A"})])
        with pytest.raises(NotDepositable) as caught:
            extract(made.archive, tmp_path / "closed", ExtractSettings())
        assert caught.value.data["count"] == 1
        assert not work_folder(tmp_path / "closed").exists()
        package = extract(made.archive, tmp_path / "open", ExtractSettings(include_open=True))
        assert "open-units" in package.flaws
        assert judged(package.package, package.package, "arkivstruktur") == []


def _all(made: World, kind: str) -> list[SavedObject]:
    return list(objects(made.archive, Query(kind, order=(("id", "asc"),))))
