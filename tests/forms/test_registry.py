"""Forms of package are values that a registry knows: ours, and those that other packages register."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from noarkit.errors import UsageFault
from noarkit.forms.registry import OUR_FORMS, known_forms, load_form, resolve
from noarkit.words.texts import LANGUAGES, texts
from tests.forked import run_forked

ROOT = Path(__file__).parents[2]
TOY = Path(__file__).with_name("toy_form.py")
_ODD = "replace(BAGIT, name='odd', source_kind='odd', products=()"


def installed(site: Path, points: str, module: str, code: str) -> None:
    """A package as an installer lays it out."""
    told = site / f"{module}-1.0.dist-info"
    told.mkdir(parents=True)
    (told / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n", "utf-8")
    (told / "entry_points.txt").write_text(f"[noarkit.forms]\n{points}\n", "utf-8")
    (site / f"{module}.py").write_text(code, "utf-8")


def noarkit(place: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """One command in `place`, with what is installed in `place/site`."""
    env = {"HOME": str(place), "PATH": os.environ["PATH"], "PYTHONPATH": f"{ROOT}:{place / 'site'}"}
    return run_forked(["noarkit", *words], cwd=place, env=env)


def scanned(place: Path, *words: str) -> tuple[int, object, object]:
    """How a scan ended, and what kind of source with how many records it found."""
    ran = noarkit(place, "--json", "scan", *words)
    result = next(line for line in map(json.loads, ran.stdout.splitlines()) if line["event"] == "scan")
    return ran.returncode, result["source_kind"], result["records"]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A working folder with the toy form installed, and a package of it."""
    installed(tmp_path / "site", "toy = toy_form:FORM", "toy_form", TOY.read_text("utf-8"))
    for name, text in (("toy.txt", "toy 1\n"), ("content/bear.txt", "bear"), ("content/box/car.txt", "car")):
        path = tmp_path / "parcel" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return tmp_path


def test_every_line_of_the_registry_leads_to_a_form_and_what_it_makes() -> None:
    forms = [load_form(place) for place in OUR_FORMS]
    assert [form.name for form in forms] == ["noark5", "eark", "dias", "bagit", "siard"]
    assert [form.name for form in known_forms().by_rank] == ["bagit", "dias", "eark", "siard", "noark5"]
    products = [product for form in forms for product in form.products]
    assert len(products) == 9
    assert [product.name for product in products if not callable(resolve(product.maker))] == []
    readers = {form.name: resolve(form.statement_reader) for form in forms if form.statement_reader is not None}
    assert {name: callable(read) for name, read in readers.items()} == {"eark": True, "dias": True, "bagit": True}
    for lang in LANGUAGES:
        assert [form.name for form in forms if not texts(lang).has("say", f"form.{form.name}")] == []
        assert [code for code in sorted(known_forms().loss_rules) if not texts(lang).has("rules", code, "title")] == []


def test_options_take_the_names_that_they_always_took_in_that_order() -> None:
    packages = ("eark-sip", "eark-aip", "eark-dip", "dias-sip", "dias-aip", "bagit")
    assert known_forms().product_names() == (*packages, "noark5", "siard", "sqlite")
    assert known_forms().product_names("extract", "package") == ("noark5", *packages)
    assert known_forms().source_kinds == ("files", "noark5", "eark", "dias", "bagit", "siard", "addml")


def test_what_no_form_makes_is_refused_with_what_there_is() -> None:
    with pytest.raises(UsageFault) as told:
        known_forms().product("sqlite", "package", "extract")
    assert told.value.data["what"] == "unknown-form"
    assert "noark5" in str(told.value.data["do"]) and "sqlite" not in str(told.value.data["do"])
    with pytest.raises(UsageFault):
        known_forms().form("toy")


def test_nothing_is_imported_before_forms_are_asked_for(place: Path) -> None:
    code = (
        "import sys, noarkit.cli.main, noarkit.cli.convert, noarkit.cli.version\n"
        "print([name for name in sys.modules if name == 'toy_form' or name.endswith('.form')])"
    )
    environment = {"HOME": str(place), "PATH": os.environ["PATH"], "PYTHONPATH": f"{ROOT}:{place / 'site'}"}
    ran = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False, cwd=place
    )
    assert (ran.stdout.strip(), ran.returncode) == ("[]", 0), ran.stderr


def test_a_form_of_another_package_is_known_read_and_planned(place: Path) -> None:
    assert scanned(place, "parcel") == (0, "toy", 2)
    assert scanned(place, "parcel", "--source-kind", "toy") == (0, "toy", 2)
    assert scanned(place, "parcel", "--source-kind", "files") == (0, "files", 3)
    plan = noarkit(place, "plan", "parcel", "-o", "run", "--progress", "none")
    assert plan.returncode == 0, plan.stderr
    ingest = noarkit(place, "--json", "ingest", "run", "--archive", "embedded:rehearsal", "--progress", "none")
    assert ingest.returncode == 0, ingest.stderr


def test_a_form_of_another_package_is_made_and_validated(place: Path) -> None:
    (place / "letters").mkdir()
    (place / "letters" / "a.txt").write_text("a", "utf-8")
    for target in ("made", "made.zip"):
        made = noarkit(place, "convert", "letters", "--as", "toy", "-o", target, "--progress", "none")
        assert made.returncode == 0, made.stderr
        good = noarkit(place, "validate", target)
        assert (good.returncode, good.stdout) == (0, ""), good.stderr
    assert (place / "made" / "toy.txt").read_bytes() == b"toy 1\n"
    assert (place / "made" / "content" / "a.txt").read_text("utf-8") == "a"
    assert sorted(zipfile.ZipFile(place / "made.zip").namelist()) == ["made/content/a.txt", "made/toy.txt"]
    usage = noarkit(place, "convert", "--help").stdout
    assert "|bagit|toy|noark5|siard|sqlite]" in usage.replace("\n", "").replace(" ", "")


def test_what_breaks_its_rules_is_told_in_its_own_words_and_becomes_nothing_else(place: Path) -> None:
    (place / "parcel" / "stray.txt").write_text("", "utf-8")
    warned = noarkit(place, "validate", "parcel")
    assert (warned.returncode, "stray.txt lies beside it" in warned.stdout) == (0, True), warned.stderr
    bag = noarkit(place, "convert", "parcel", "--as", "bagit", "-o", "bag", "--progress", "none")
    assert (bag.returncode, "a toy package" in bag.stdout) == (0, True), bag.stderr
    assert (place / "bag" / "data" / "parcel" / "content" / "box" / "car.txt").read_text("utf-8") == "car"
    sip = noarkit(place, "convert", "parcel", "--as", "eark-sip", "-o", "sip", "--progress", "none")
    assert sip.returncode == 3, sip.stderr  # stray.txt belongs to nothing, and is listed
    carried = (place / "sip" / "representations").rglob("*.txt")
    assert sorted(path.name for path in carried) == ["bear.txt", "car.txt"]
    assert "stray.txt" in (place / "sip.set-aside.csv").read_text("utf-8")
    for path in sorted((place / "parcel" / "content").rglob("*.txt")):
        path.unlink()
    broken = noarkit(place, "--lang", "nb", "validate", "parcel", "--report", "html", "-o", "report.html")
    assert (broken.returncode, "er ikke noe innhold" in broken.stdout) == (4, True), broken.stderr
    assert "det er ikke noe innhold" in (place / "report.html").read_text("utf-8")
    refused = noarkit(place, "convert", "parcel", "--as", "bagit", "-o", "second", "--progress", "none")
    assert (refused.returncode, "TOY-1" in refused.stderr) == (4, True)
    assert not (place / "second").exists()


@pytest.mark.parametrize(
    ("point", "code", "what"),
    [
        ("odd = odd_form:FORM", "import no_such_module", "form-broken"),
        ("odd = odd_form:FORM", "raise SystemError('of theirs')", "form-broken"),
        ("odd = odd_form:MISSING", "", "form-broken"),
        ("odd = odd_form:FORM", "FORM = 3", "form-no-form"),
        ("odd = odd_form:FORM", "FORM = replace(BAGIT, name='other')", "form-name"),
        ("plain = odd_form:FORM", "FORM = replace(BAGIT, name='plain')", "form-name"),
        ("bagit = odd_form:FORM", "FORM = BAGIT", "form-twice"),
        ("odd = odd_form:FORM", "FORM = replace(BAGIT, name='odd', products=())", "form-twice"),
        ("odd = odd_form:FORM", "FORM = replace(BAGIT, name='odd', source_kind='odd')", "form-twice"),
        ("odd = odd_form:FORM", f"FORM = {_ODD})", "form-words"),
        ("odd = odd_form:FORM", f"FORM = {_ODD}, words={{'en': {{'say': {{'form.plain': 'mine'}}}}}})", "form-words"),
        ("odd = odd_form:FORM", f"FORM = {_ODD}, words={{'sv': {{}}}})", "form-words"),
    ],
)
def test_a_form_that_cannot_be_used_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, point: str, code: str, what: str
) -> None:
    head = "from dataclasses import replace\nfrom noarkit.forms.bagit.form import BAGIT\n"
    installed(tmp_path, point, "odd_form", head + code)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "odd_form", raising=False)
    with pytest.raises(UsageFault) as told:
        known_forms.__wrapped__()
    monkeypatch.delitem(sys.modules, "odd_form", raising=False)
    assert told.value.data["what"] == what
    assert str(told.value.data["where"]).startswith(point.replace(" = ", " (") + ")")


def test_a_broken_form_stops_what_needs_forms_with_a_fault_and_nothing_else(place: Path) -> None:
    installed(place / "site", "odd = odd_form:FORM", "odd_form", "import no_such_module")
    scan = noarkit(place, "scan", "parcel")
    assert scan.returncode == 2, scan.stderr
    assert "F101" in scan.stderr and "odd (odd_form:FORM): ModuleNotFoundError" in scan.stderr
    assert "Traceback" not in scan.stderr and "F900" not in scan.stderr
    assert noarkit(place, "version").returncode == 0
