"""Nynorsk lies over Bokmål: it has what leaves the house, and not one word of it is Bokmål's."""

from __future__ import annotations

import os
import re
from contextlib import chdir
from pathlib import Path

import pytest

from noarkit.config import Sources, configured_language, load
from noarkit.words.texts import OVERLAYS, SPOKEN, _tables_of, add_words, fields, texts
from tests.cli.test_one_language import run, write_places
from tests.languages import page_text
from tests.package_code import PACKAGE
from tests.test_words import leaves

BOKMAAL = re.compile(
    r"(?<![\w-])(?:ikke|fra|bare|hva|hvem|hvor|hvordan|hvorfor|hvilken|hvilke|hver|hvert|noe|noen|en|et|ett|jeg|de|dem|deres|ble"
    r"|blitt|være|vært|disse|selv|selve|mer|mye|gjør|gjøre|uten|siden|filen|kilden|kjøringen|kjøring|kilde"
    r"|felter|verdier|poster|dokumenter|nøkler|enheter|steder|nå|ennå|sammen|sammenlignet|lest|laget|endret|godtatt|gitt"
    r"|finnes|fantes|forekommer|inneholder|sier|navn|navnet|innhold|innholdet|enhet|enheten|endringer|opplysninger"
    r"|registreringer|lenke|lenken|lenker|bilde|bildet|bilder|avsender|mottaker|brukeren|nettleseren|oppskriften|mappen"
    r"|listen|siden|adressen|maskinen|størrelse|størrelsen|hemmelighet|hemmeligheten|begrunnelse|begrunnelsen"
    r"|opprettet|avsluttet|lastet|skjermet|skjermede|mottatt|skadet|hentet|funnet|oppgitt|lagret|tillatt|satt|tatt"
    r"|vises|leses|brukes|lastes|åpne|åpner|åpent|tidligere|løpende|offentlig|utenfor|allerede|fortsatt|begynner"
    r"|flere|mangler|gir|ga|hvis|deler|verdiene|titler|numre)\b",
    re.IGNORECASE,
)
"""Words that Nynorsk does not have, or has in another form."""


def bokmaal_in(text: str) -> list[str]:
    """The words of a text that only Bokmål has."""
    return BOKMAAL.findall(re.sub(r"`[^`]*`|\{[^{}]*\}", " ", text))


OWN = dict(leaves(_tables_of("nn")))
BENEATH = dict(leaves(texts("nb").tables))


def test_each_sentence_is_one_of_bokmaal_with_the_same_fields() -> None:
    assert len(OWN) > 200
    assert OWN.keys() - BENEATH.keys() == set()
    for key, forms in OWN.items():
        assert [fields(form) for form in forms] == [fields(form) for form in BENEATH[key]], key


def test_no_sentence_is_left_in_bokmaal() -> None:
    assert {key: words for key, forms in OWN.items() if (words := bokmaal_in(" ".join(forms)))} == {}


def test_what_is_not_written_is_said_in_bokmaal() -> None:
    nn, nb = texts("nn"), texts("nb")
    assert nn.say("verdict.not_verified") == "Ikkje verifisert"
    assert nn.say("init.next") == nb.say("init.next")
    assert nn.text("faults", "F301", "what") != nb.text("faults", "F301", "what")
    assert nn.text("faults", "F110", "do") == nb.text("faults", "F110", "do")
    assert nn.tables.keys() == nb.tables.keys()
    assert nn.decimal(1.5) == "1,5"


def test_what_is_added_later_is_said_in_nynorsk_too() -> None:
    say = texts("nb").tables["say"]
    assert isinstance(say, dict)
    add_words("nb", {"say": {"later": "et ord"}})
    try:
        assert texts("nn").say("later") == "et ord"
    finally:
        del say["later"]


def test_a_setting_an_option_and_a_locale_ask_for_it(tmp_path: Path) -> None:
    assert set(SPOKEN) == {"en", "nb", *OVERLAYS}
    (tmp_path / "noarkit.toml").write_text('lang = "nn"\n', "utf-8")
    assert load(Sources(folder=tmp_path)).lang == "nn"
    for locale, lang in (("nn_NO.UTF-8", "nn"), ("nb_NO.UTF-8", "nb"), ("no_NO", "nb"), ("en_GB", "en")):
        assert configured_language(Sources(environment={"LANG": locale}, file=tmp_path / "none.toml")) == lang
    for line in ("--help --lang nn", "help recipes --lang nn", "init made --lang nn", "help F301 --lang nn"):
        with chdir(tmp_path):
            assert run(line, {}).exit_code == 0, line


@pytest.fixture
def loaded(tmp_path: Path) -> Path:
    """A place with a run that was loaded."""
    write_places(tmp_path)
    with chdir(tmp_path):
        said = run("ingest share -o run --archive embedded:a --lang nn", {"HOME": str(tmp_path)})
        assert said.exit_code == 0, said.text
    return tmp_path


def test_a_certificate_is_in_nynorsk_alone(loaded: Path) -> None:
    with chdir(loaded):
        for line in ("verify run --lang nn", "verify run --depth bytes --lang nn"):
            said = run(line, {"HOME": str(loaded)})
            assert bokmaal_in(said.text) == [], said.text
    pages = [path.read_text("utf-8") for path in loaded.glob("run/verify-*.html")]
    assert pages
    for page in pages:
        assert '<html lang="nn"' in page
        assert bokmaal_in(page_text(page)) == []
        assert "Verifisering: " in page


def test_the_pages_of_a_plan_and_a_run_are_in_nynorsk_alone(loaded: Path) -> None:
    write_troubles(loaded / "trouble")
    with chdir(loaded):
        line = "plan trouble -o troubled --archive embedded:a --hash --estimate --lang nn"
        assert run(line, {"HOME": str(loaded)}).exit_code == 3
    pages = [loaded / "run" / "plan.html", loaded / "run" / "report.html", loaded / "troubled" / "plan.html"]
    for page in pages:
        text = page.read_text("utf-8")
        assert '<html lang="nn"' in text
        assert bokmaal_in(page_text(text)) == [], page
    assert "Planen er lasta inn" in pages[0].read_text("utf-8")
    assert "kan lastast inn, " in pages[2].read_text("utf-8")


def write_troubles(folder: Path) -> None:
    """A share of which something is set aside, warned of, skipped, joined to a register and screened."""
    for number in ("1", "2", "3"):
        (folder / f"2019-000{number} Xanthos").mkdir(parents=True)
        (folder / f"2019-000{number} Xanthos" / "Zeta.txt").write_text("zeta 17845010064", "utf-8")
    (folder / "2019-0001 Xanthos" / "Kappa 17845010064.txt").write_bytes(b"")
    (folder / "Thumbs.db").write_bytes(b"x")
    (folder / "register.csv").write_text(
        "Saksnummer;Tittel;Unntatt\n2019/1;Xanthos;§ 13\n2019/2;Quorra;\n2019/4;Omega;\n", "utf-8"
    )
    os.mkfifo(folder / "2019-0001 Xanthos" / "pipe")


def test_an_answer_to_a_person_is_in_nynorsk_alone(loaded: Path) -> None:
    with chdir(loaded):
        line = "find-person share --name name.txt --html person.html --csv person.csv --lang nn"
        said = run(line, {"HOME": str(loaded)})
    assert said.exit_code == 3
    assert bokmaal_in(said.text) == [], said.text
    assert bokmaal_in(page_text((loaded / "person.html").read_text("utf-8"))) == []
    assert bokmaal_in((loaded / "person.csv").read_text("utf-8-sig")) == []


def test_a_reading_copy_is_in_nynorsk(loaded: Path) -> None:
    with chdir(loaded):
        said = run("browse run --static reading --lang nn", {"HOME": str(loaded)})
    assert said.exit_code == 0
    assert said.text.startswith("Skreiv ein lesekopi til reading")
    assert '<html lang="nn"' in (loaded / "reading" / "index.html").read_text("utf-8")


@pytest.mark.parametrize("name", ["certificate", "delivered", "person", "plan", "report", "_parts", "_base"])
def test_all_that_a_page_says_to_others_is_written(name: str) -> None:
    template = (PACKAGE / "reports" / "templates" / f"{name}.html").read_text("utf-8")
    said = set(re.findall(r'"([a-z]+[.][\w.-]+)"', template))
    keys = {f".say.{key}" for key in said if not key.startswith("end.")} & BENEATH.keys()
    begun = tuple(f".say.{start}" for start in re.findall(r'say\("(report[.][\w-]+-|limit[.]|drift[.])" ~', template))
    keys |= {key for key in BENEATH if begun and key.startswith(begun)}
    assert keys - OWN.keys() == set()


def test_each_sentence_that_the_reading_room_shows_is_written() -> None:
    shown = re.compile(r"\.(say\.(browse|viewers)\.|viewers_notes\.|codes\.W|faults\.F2|faults\.\w+\.what$)")
    assert {key for key in BENEATH.keys() - OWN.keys() if shown.match(key)} == set()
