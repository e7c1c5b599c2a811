"""A folder to install from where there is no network: it holds what it says, and installs nothing that was changed.

NOARKIT_DEEP=1 builds it from the package index with all extras and tests: what each extra needs is imported, every test
is collected, and style, types, the tests of some rooms and the demo run from it.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from scripts.wheelhousing.bill import bill_of
from scripts.wheelhousing.target import Index, Target, WheelMissing, gather
from scripts.wheelhousing.wheels import Wheel, closure, read_wheel, read_wheels
from tests.zone.namespace import alone
from tests.zone.repacking import repack

ROOT = Path(__file__).resolve().parent.parent.parent
DEEP = os.environ.get("NOARKIT_DEEP") == "1"
WINDOWS = Target("win_amd64", "3.12")


ROOMS = ("tests/archive", "tests/documents", "tests/safe")
"""Rooms whose quick tests are run from it: network, files, other processes."""
IMPORT_EXTRAS = """
import importlib, re
from importlib.metadata import packages_distributions, requires
needed = {re.match(r"[\\w.-]+", need)[0].lower() for need in requires("noarkit") if "extra ==" in need}
for module, names in packages_distributions().items():
    if module.isidentifier() and not module.startswith("_") and needed & {name.lower() for name in names}:
        importlib.import_module(module)
        print(*names, sep="\\n")
"""
"""Imports what the extras need, and says of which distributions that is."""


def imported_by(said: str) -> set[str]:
    """The distributions of which modules were imported, as pyproject.toml names them."""
    return {str(canonicalize_name(name)) for name in said.split()} & needed_by_extras()


def needed_by_extras() -> set[str]:
    """What an installation with all extras has beside the core."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    return {
        str(canonicalize_name(Requirement(need).name)) for name in extras if name != "test" for need in extras[name]
    }


def built(folder: Path, *arguments: str) -> Path:
    """A wheelhouse of this checkout."""
    command = [sys.executable, "-m", "scripts.wheelhousing", str(folder), *arguments]
    finished = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stderr
    return folder


@pytest.fixture(scope="module")
def gathered(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Where wheels come from in place of an index: made again from what is installed here."""
    place = tmp_path_factory.mktemp("gathered") / "wheels"
    lock = repack(place, "noarkit[mysql]")
    return ["--from", str(place), "--lock", str(lock)]


@pytest.fixture(scope="module")
def house(gathered: list[str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheelhouse of the core and one extra."""
    return built(tmp_path_factory.mktemp("built") / "house", "--no-tests", "--extra", "mysql", *gathered)


@pytest.fixture
def copied(house: Path, tmp_path: Path) -> Iterator[Path]:
    """A copy that may be damaged."""
    yield Path(shutil.copytree(house, tmp_path / "house"))


def install(house: Path, target: Path, prefix: Sequence[str] = ()) -> subprocess.CompletedProcess[str]:
    """Installs as a person would, with settings around that would lead pip astray if it heard of them."""
    (target.parent / "pip.conf").write_text("[global]\nindex-url = http://127.0.0.1:9/simple\nno-deps = true\n")
    environment = {
        "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin",
        "HOME": str(target.parent),
        "PIP_CONFIG_FILE": str(target.parent / "pip.conf"),
        "PIP_NO_DEPS": "1",
        "PYTHONPATH": str(ROOT),
    }
    command = [*prefix, str(house / "install"), str(target)]
    return subprocess.run(command, cwd=target.parent, env=environment, capture_output=True, text=True, check=False)


def test_from_the_wheelhouse_alone_it_is_installed_and_runs_where_there_is_no_network(
    house: Path, tmp_path: Path
) -> None:
    done = install(house, tmp_path / "noarkit", alone([]))
    assert done.returncode == 0, done.stdout + done.stderr
    assert hashlib.sha256((house / "SHA256SUMS").read_bytes()).hexdigest() in done.stdout
    python, program = (tmp_path / "noarkit" / "bin" / name for name in ("python", "noarkit"))
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "TMPDIR": str(tmp_path)}
    seen = "import noarkit, socket; print(noarkit.__file__, [name for _, name in socket.if_nameindex()])"
    for command, said in (
        ([str(program), "version"], "noarkit "),
        ([str(python), "-c", seen], f"{tmp_path}/noarkit/lib"),
        ([str(python), "-c", seen], "['lo']"),
        ([str(python), str(ROOT / "scripts" / "demo.py")], "Nothing is lost, nothing is there twice."),
    ):
        told = subprocess.run(
            alone(command), cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        assert told.returncode == 0, told.stdout + told.stderr
        assert said in told.stdout


def test_the_same_input_gives_the_same_folder(house: Path, gathered: list[str], tmp_path: Path) -> None:
    again = built(tmp_path / "again", "--no-tests", "--extra", "mysql", *gathered)
    assert (again / "SHA256SUMS").read_text() == (house / "SHA256SUMS").read_text()
    lines = (line.partition("  ") for line in (house / "SHA256SUMS").read_text().splitlines())
    listed = {name: digest for digest, _, name in lines}
    files = {path.relative_to(house).as_posix(): path for path in house.rglob("*") if path.is_file()}
    assert listed.keys() == files.keys() - {"SHA256SUMS"}
    assert all(hashlib.sha256(files[name].read_bytes()).hexdigest() == digest for name, digest in listed.items())


def test_a_folder_that_is_there_is_left_alone(house: Path, gathered: list[str]) -> None:
    before = sorted(house.rglob("*"))
    command = [sys.executable, "-m", "scripts.wheelhousing", str(house), *gathered]
    assert subprocess.run(command, cwd=ROOT, capture_output=True, check=False).returncode == 2
    assert sorted(house.rglob("*")) == before


def test_what_cannot_be_gathered_is_told_and_nothing_is_left(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "scripts.wheelhousing", str(tmp_path / "made" / "house"), "--from", str(tmp_path)]
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert told.returncode == 1
    assert "nothing was made" in told.stderr and "Traceback" not in told.stderr
    assert list((tmp_path / "made").iterdir()) == []
    root = _wheel(tmp_path, "root", ["core"])
    with pytest.raises(KeyError, match="core"):
        closure({"root": root}, "root", [])


def test_every_wheel_is_pinned_with_its_hash_and_no_other_is_there(house: Path) -> None:
    wheels = read_wheels(house / "wheels")
    pins = (house / "requirements.txt").read_text().splitlines()
    assert pins == [wheel.pin for _, wheel in sorted(wheels.items())]
    assert {"noarkit", "lxml", "pymysql"} <= wheels.keys()
    assert not {"pytest", "mypy", "psycopg"} & wheels.keys()


@pytest.mark.parametrize("how", ["changed", "removed", "added", "script"])
def test_a_folder_that_is_not_as_it_was_made_installs_nothing(copied: Path, tmp_path: Path, how: str) -> None:
    wheel = next((copied / "wheels").glob("click-*.whl"))
    if how == "changed":
        _flip(wheel)
    elif how == "removed":
        wheel.unlink()
    elif how == "added":
        (copied / "wheels" / "extra-1.0-py3-none-any.whl").write_bytes(b"x")
    else:
        (copied / "requirements.txt").write_text("click\n")
    told = install(copied, tmp_path / "noarkit")
    assert told.returncode == 1
    assert "Nothing was installed." in told.stderr
    assert not (tmp_path / "noarkit").exists()


def test_a_python_that_the_wheels_are_not_for_is_told_so(copied: Path, tmp_path: Path) -> None:
    about = copied / "wheelhouse.toml"
    about.write_text(about.read_text().replace('python = "3.', 'python = "4.'))
    told = install(copied, tmp_path / "noarkit")
    assert told.returncode == 1
    assert 'python = "4.' in told.stderr
    assert not (tmp_path / "noarkit").exists()


def test_nothing_that_stands_is_installed_over(house: Path, tmp_path: Path) -> None:
    (tmp_path / "noarkit").mkdir()
    assert install(house, tmp_path / "noarkit").returncode == 1
    assert list((tmp_path / "noarkit").iterdir()) == []


def test_the_bill_of_materials_names_every_wheel_with_hash_licence_and_what_it_needs(house: Path) -> None:
    bill = json.loads((house / "sbom.cdx.json").read_text())
    wheels = read_wheels(house / "wheels")
    assert (bill["bomFormat"], bill["specVersion"], bill["version"]) == ("CycloneDX", "1.6", 1)
    assert re.fullmatch(r"urn:uuid:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", bill["serialNumber"])
    own, others = bill["metadata"]["component"], bill["components"]
    assert own["type"] == "application" and own["purl"] == wheels["noarkit"].purl
    assert [one["name"] for one in others] == sorted(wheels.keys() - {"noarkit"})
    for one in (own, *others):
        wheel = wheels[one["name"]]
        assert one["purl"] == one["bom-ref"] == f"pkg:pypi/{wheel.name}@{wheel.version}"
        assert one["hashes"] == [{"alg": "SHA-256", "content": wheel.sha256}]
        assert one["licenses"], one["name"]
    references = {one["bom-ref"] for one in (own, *others)}
    needs = {one["ref"]: set(one["dependsOn"]) for one in bill["dependencies"]}
    assert needs.keys() == references
    assert set().union(*needs.values()) == references - {own["bom-ref"]}
    assert wheels["markupsafe"].purl in needs[wheels["jinja2"].purl]


def test_what_only_tests_need_is_excluded_in_the_bill_and_reached_by_no_extra(tmp_path: Path) -> None:
    root = _wheel(tmp_path, "root", ["core", "db[fast]; extra == 'db'", "judge; extra == 'test'"])
    for name, needs in (("core", []), ("db", ["quick; extra == 'fast'"]), ("quick", ["core"]), ("judge", ["core"])):
        _wheel(tmp_path, name, needs, licence="" if name == "quick" else "MIT")
    wheels = read_wheels(tmp_path)
    assert closure(wheels, "root", []).keys() == {"root", "core"}
    runtime = closure(wheels, "root", ["db"])
    assert runtime.keys() == {"root", "core", "db", "quick"}
    told = json.loads(bill_of(wheels, root, runtime.keys(), ["db", "test"]))
    scopes = {one["name"]: one["scope"] for one in told["components"]}
    assert scopes == {"core": "required", "db": "required", "judge": "excluded", "quick": "required"}
    assert [one["name"] for one in told["components"] if "licenses" not in one] == ["quick"]


if DEEP:

    def test_a_wheel_whose_hash_is_not_the_pinned_one_is_refused_though_the_sums_agree(
        copied: Path, tmp_path: Path
    ) -> None:
        wheel = next((copied / "wheels").glob("click-*.whl"))
        before = hashlib.sha256(wheel.read_bytes()).hexdigest()
        _flip(wheel)
        sums = copied / "SHA256SUMS"
        sums.write_text(sums.read_text().replace(before, hashlib.sha256(wheel.read_bytes()).hexdigest()))
        told = install(copied, tmp_path / "noarkit")
        assert told.returncode == 1
        assert "DO NOT MATCH THE HASHES" in told.stderr
        assert not (tmp_path / "noarkit").exists()

    def test_extras_tests_style_types_and_the_demo_run_from_the_wheelhouse_of_the_index_without_a_network(
        tmp_path: Path,
    ) -> None:
        house = built(tmp_path / "house", "--extra", "all")
        shutil.unpack_archive(next(house.glob("*.tar.gz")), tmp_path)
        (source,) = (path for path in tmp_path.iterdir() if (path / "pyproject.toml").exists())
        environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "NOARKIT_WHEELHOUSE": str(house)}

        def run(*command: str) -> str:
            told = subprocess.run(
                alone([*command]), cwd=source, env=environment, capture_output=True, text=True, check=False
            )
            assert told.returncode == 0, told.stdout[-20_000:] + told.stderr[-5_000:]
            return told.stdout

        run(str(source / "scripts" / "demo"))
        python = str(source / ".venv" / "bin" / "python")
        assert imported_by(run(python, "-c", IMPORT_EXTRAS)) == needed_by_extras()
        collected = re.search(r"(\d+) tests collected", run(python, "-m", "pytest", "--collect-only", "-q", "--all"))
        assert collected is not None and int(collected[1]) > len(list(ROOT.glob("tests/**/test_*.py")))
        told = run(str(source / "scripts" / "test"), "-m", "not slow", *ROOMS)
        assert re.search(r"\d+ passed", told), told


def _flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def _wheel(folder: Path, name: str, needs: list[str], licence: str = "MIT", tag: str = "py3-none-any") -> Wheel:
    lines = ["Metadata-Version: 2.4", f"Name: {name}", "Version: 1.0", *(f"Requires-Dist: {need}" for need in needs)]
    lines += [f"License-Expression: {licence}"] if licence else []
    path = folder / f"{name}-1.0-{tag}.whl"
    with zipfile.ZipFile(path, "w") as packed:
        packed.writestr(f"{name}-1.0.dist-info/METADATA", "\n".join(lines) + "\n")
        packed.writestr(f"{name}-1.0.dist-info/WHEEL", f"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: {tag}\n")
    return read_wheel(path)


def test_a_folder_for_windows_holds_what_is_needed_there_and_names_what_is_lacking(tmp_path: Path) -> None:
    source, gathered = tmp_path / "source", tmp_path / "gathered"
    source.mkdir()
    needs = ["core", "native", "uvloop; sys_platform != 'win32'", "colorama; sys_platform == 'win32'"]
    root = read_wheel(_wheel(tmp_path, "root", [*needs, "new; python_version < '3.12'"]).path, WINDOWS.world)
    tags = {"core": "py3-none-any", "colorama": "py3-none-any", "native": "cp312-cp312-manylinux_2_28_x86_64"}
    wheels = {name: _wheel(source, name, [], tag=tag) for name, tag in tags.items()}
    index = Index([sys.executable, "-m", "pip"], ["--no-index", "--find-links", str(source)], tmp_path / "lock")
    pins = [f"{name}==1.0 \\\n    --hash=sha256:{wheel.sha256}\n" for name, wheel in wheels.items()]

    def gather_all() -> set[str]:
        shutil.rmtree(gathered, ignore_errors=True)
        gathered.mkdir()
        index.lock.write_text("".join(pins), "utf-8")
        gather(WINDOWS, root, [], index, gathered)
        return {path.name for path in gathered.iterdir()}

    with pytest.raises(WheelMissing) as missing:
        gather_all()
    assert missing.value.names == ("native",)
    there = _wheel(source, "native", [], tag="cp312-cp312-win_amd64")
    pins[-1] = pins[-1].replace(wheels["native"].sha256, there.sha256)
    assert gather_all() == {
        "core-1.0-py3-none-any.whl",
        "colorama-1.0-py3-none-any.whl",
        "native-1.0-cp312-cp312-win_amd64.whl",
    }
    pins[0] = pins[0].replace(wheels["core"].sha256, "0" * 64)  # the hash counts there as well
    with pytest.raises(WheelMissing, match="core"):
        gather_all()


def test_a_platform_is_named_with_its_python(tmp_path: Path) -> None:
    for words in (["--platform", "win_amd64"], ["--python", "3.12"], ["--platform", "win_amd64", "--python", "2.7"]):
        command = [sys.executable, "-m", "scripts.wheelhousing", str(tmp_path / "house"), *words]
        told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        assert told.returncode == 2 and "go together" in told.stderr
