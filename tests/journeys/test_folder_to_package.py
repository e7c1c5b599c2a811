"""From a copied share to a package, by the commands alone: dates, numbers and titles are those of the records.

The package is read with regular expressions and lxml, and judged by what the script that made the share knows.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from lxml import etree

import noarkit
from noarkit.cli.main import main
from tests.journeys.old_share import YEARS, Share, make_share

pytestmark = pytest.mark.usefixtures("one_archive")

N = "{http://www.arkivverket.no/standarder/noark5/arkivstruktur}"
DATES = (
    *("opprettetDato", "avsluttetDato", "arkivertDato", "tilknyttetDato", "saksdato", "journaldato"),
    *("dokumentetsDato", "mottattDato", "sendtDato"),
)


@pytest.fixture(scope="module")
def share(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Share]:
    """A share, loaded and delivered as `package`."""
    place = tmp_path_factory.mktemp("share")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        made = make_share(Path("share"))
        for words in (("plan", "share", "-o", "run"), ("ingest", "run"), ("verify", "run", "--depth", "bytes")):
            assert main(list(words), {}) == 0, words
        assert main(["extract", "-o", "package"], {}) == 3, "made, and not ready: formats, schemas, creator"
        yield made


@pytest.fixture(scope="module")
def structure(share: Share) -> etree._Element:
    """The structure of the package."""
    return etree.parse(share.root.absolute().parent / "package" / "arkivstruktur.xml").getroot()


def texts(element: etree._Element, name: str) -> list[str]:
    """The texts of all elements of a name."""
    return [str(found.text) for found in element.iter(f"{N}{name}")]


def test_no_date_is_of_another_year_than_the_records(share: Share) -> None:
    text = (share.root.absolute().parent / "package" / "arkivstruktur.xml").read_text("utf-8")
    years = Counter((name, year) for name, year in re.findall(rf"<({'|'.join(DATES)})>(\d{{4}})", text))
    assert not [entry for entry in years if int(entry[1]) not in YEARS]
    assert {name for name, _ in years} == {*DATES}


def test_each_year_has_as_many_records_as_files(share: Share, structure: etree._Element) -> None:
    created = [str(found.findtext(f"{N}opprettetDato")) for found in structure.iter(f"{N}registrering")]
    assert Counter(int(day[:4]) for day in created) == share.files_by_year


def test_cases_bear_the_number_and_the_title_of_their_folders(share: Share, structure: etree._Element) -> None:
    cases = [found for found in structure.iter(f"{N}mappe") if found.find(f"{N}saksaar") is not None]
    told = {str(case.findtext(f"{N}mappeID")): str(case.findtext(f"{N}tittel")) for case in cases}
    assert told == dict(share.cases.values())
    for case in cases:
        year, number = str(case.findtext(f"{N}mappeID")).split("/")
        assert (case.findtext(f"{N}saksaar"), case.findtext(f"{N}sakssekvensnummer")) == (year, number)
        assert str(case.findtext(f"{N}saksdato"))[:4] == year
        moments = sorted(str(found.findtext(f"{N}opprettetDato")) for found in case.iter(f"{N}registrering"))
        assert str(case.findtext(f"{N}opprettetDato")) == moments[0]
        assert str(case.findtext(f"{N}avsluttetDato")) >= moments[-1]


def test_mails_came_in_and_went_out_and_are_of_the_year_of_their_day(share: Share, structure: etree._Element) -> None:
    posts = [found for found in structure.iter(f"{N}registrering") if found.find(f"{N}journaldato") is not None]
    ways = Counter(str(post.findtext(f"{N}journalposttype"))[:3] for post in posts)
    assert ways == {"Inn": share.mails["I"], "Utg": share.mails["U"]}
    for post in posts:
        assert str(post.findtext(f"{N}journaldato"))[:4] == post.findtext(f"{N}journalaar")


def test_the_plan_told_where_the_dates_come_from(share: Share, capsys: pytest.CaptureFixture[str]) -> None:
    cases = len(share.cases)
    assert main(["plan", str(share.root), "-o", "again"], {}) == 0
    out = capsys.readouterr().out
    assert f"{cases} from names, {2 * cases} from mails, {2 * cases} from documents, {2 * cases} unknown" in out
    assert "saetre.kommune.no: decides which mail is incoming" in out


def test_a_page_shows_a_package_of_several_years(share: Share, tmp_path: Path) -> None:
    package, page = share.root.absolute().parent / "package", tmp_path / "page.html"
    assert main(["validate", str(package), "--report", "html", "-o", str(page)], {}) == 3
    text = page.read_text("utf-8")
    assert "<svg" in text
    assert all(str(year) in text for year in YEARS)


def test_the_account_that_loads_made_nothing_of_years_ago(structure: etree._Element) -> None:
    made = {name: set(texts(structure, name)) for name in ("opprettetAv", "avsluttetAv", "arkivertAv", "tilknyttetAv")}
    assert made == {name: {"share (filområde)"} for name in made}


def test_the_series_says_when_and_from_where_it_was_loaded(share: Share, structure: etree._Element) -> None:
    (series,) = structure.iter(f"{N}arkivdel")
    told = str(series.findtext(f"{N}beskrivelse"))
    frozen = json.loads((share.root.absolute().parent / "run" / "plan.json").read_text())["frozen_at"]
    day = datetime.fromtimestamp(frozen, ZoneInfo("Europe/Oslo")).strftime("%d.%m.%Y")
    assert told == (
        f"Lastet inn med noarkit {noarkit.__version__} fra share (filområde), etter en plan av {day};"
        " datoer etter navn, e-post og dokumentene."
    )


def test_another_plan_of_the_share_finds_nothing_changed(share: Share, capsys: pytest.CaptureFixture[str]) -> None:
    place = share.root.absolute().parent
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        for words in (("plan", "share", "-o", "later"), ("ingest", "later"), ("verify", "later", "--json")):
            assert main(list(words), {}) == 0, words
        capsys.readouterr()
        assert main(["verify", "later", "--json"], {}) == 0
    assert '"V105"' not in capsys.readouterr().out
