"""What noarkit itself keeps is what it is for every command, and its secrets go nowhere, whatever is asked."""

from __future__ import annotations

import ast
import hashlib
import json
import re
import shlex
import shutil
import sqlite3
import zipfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

import noarkit
from noarkit import places
from noarkit.cli.main import main
from noarkit.copies.store import DATABASE as COPIES_DATABASE
from noarkit.copies.store import CopyStore
from noarkit.forms.sealed.spec import SEAL
from noarkit.places import own_kind, recognise
from noarkit.safe.secret_files import SKIPPED_SECRETS
from noarkit.safe.toml import load_toml
from noarkit.server import DATABASE_FILE, LOGS_FILE
from noarkit.server.safekeeping.manifest import BACKUP_FILE, UNFINISHED_FILE
from tests.package_code import MODULES, PACKAGE, modules_with, nodes_of, text_of

READERS = (
    ("scan", "PLACE"),
    ("plan", "PLACE", "-o", "made"),
    ("ingest", "PLACE", "-o", "made", "--archive", "embedded:other", "--dry-run"),
    ("recipe", "new", "PLACE", "-o", "made"),
    ("convert", "PLACE", "--as", "bagit", "-o", "made"),
    ("derive", "PLACE", "-o", "made"),
)
LOOKERS = (("ls", "PLACE"), ("search", "PLACE", "brev"), ("show", "PLACE", "x"), ("get", "PLACE", "x", "-o", "made"))
JUDGES = (("validate", "PLACE"), ("compare", "PLACE", "PLACE"))
KINDS = ("run", "archive", "backup", "sealed", "copies", "secrets")
GRANT = '{"access_token": "very-secret-token", "ends_at": 1.0, "renew_at": 1.0, "refresh_token": "very-secret-too"}'


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one place of each kind, by its name, that the commands of noarkit made."""
    folder = tmp_path_factory.mktemp("kept")
    source = folder / "mapper"
    source.mkdir()
    (source / "brev.txt").write_text("Kjære arkiv")
    noarkit.plan(source, folder / "run")
    noarkit.ingest(folder / "run", archive=f"embedded:{folder / 'archive'}", workers=0)
    noarkit.backup(folder / "archive", folder / "backup")
    with closing(CopyStore.open(folder / "copies", create=True)):
        pass
    (folder / "sealed").mkdir()
    (folder / "sealed" / SEAL).write_text("{}")
    shutil.copy(folder / "archive" / "clients.toml", folder / "secrets")
    return folder


@pytest.fixture
def secrets(kept: Path) -> tuple[bytes, ...]:
    """What must never be found anywhere: the secrets of the clients, and of a grant."""
    clients = load_toml((kept / "archive" / "clients.toml").read_text("utf-8"))["clients"]
    assert isinstance(clients, dict)
    return (*(str(client["secret"]).encode() for client in clients.values()), b"very-secret")


@pytest.fixture
def workplace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to work in."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path


def is_meant(line: tuple[str, ...], kind: str) -> bool:
    """True for what a command is there for: a run is looked into and loaded, a bundle is received."""
    if kind == "run":
        return line in LOOKERS or line[0] == "ingest"
    return kind == "sealed" and line[0] in ("plan", "ingest")


REFUSED = [(line, kind) for line in (*READERS, *LOOKERS, *JUDGES) for kind in KINDS if not is_meant(line, kind)]


@pytest.mark.parametrize(("line", "kind"), REFUSED, ids=[f"{line[0]}-{kind}" for line, kind in REFUSED])
def test_what_noarkit_keeps_is_no_source_and_no_package_to_any_command(
    line: tuple[str, ...], kind: str, kept: Path, workplace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = str(kept / kind)
    before = sorted(kept.rglob("*"))
    assert main([place if word == "PLACE" else word for word in line], {}) == 2
    err = capsys.readouterr().err
    assert "F101" in err and place in err
    assert re.search("noarkit (extract|browse|help|serve|ingest) ", err), "the command that is meant"
    assert not Path("made").exists()
    assert sorted(kept.rglob("*")) == before


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_is_the_same_through_a_link(kind: str, kept: Path, workplace: Path) -> None:
    Path("link").symlink_to(kept / kind)
    assert recognise("link").kind == recognise(kept / kind).kind == kind


def test_the_command_that_is_advised_for_an_archive_extracts_it(
    kept: Path, workplace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["plan", str(kept / "archive"), "-o", "made"], {}) == 2
    advised = re.search(r"noarkit (extract .*)", capsys.readouterr().err)
    assert advised is not None
    assert main(shlex.split(advised[1]), {}) in (0, 3)
    assert Path("archive-extract/arkivstruktur.xml").is_file()


@pytest.mark.parametrize("kind", ["run", "archive", "backup", "copies"])
def test_read_as_files_it_is_files_without_the_secrets(
    kind: str, kept: Path, workplace: Path, secrets: tuple[bytes, ...]
) -> None:
    assert main(["plan", str(kept / kind), "-o", "run", "--source-kind", "files"], {}) in (0, 3)
    assert main(["convert", str(kept / kind), "-o", "bag", "--as", "bagit", "--source-kind", "files"], {}) in (0, 3)
    assert not leaks(workplace, secrets)


def leaks(folder: Path, secrets: tuple[bytes, ...]) -> list[str]:
    """The files below a folder in which a secret stands."""
    files = [path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]
    return [str(path) for path in files if any(secret in path.read_bytes() for secret in secrets)]


def trees(kept: Path) -> Iterator[tuple[str, Path]]:
    """Trees of files in which secrets lie, by what is odd about each; they lie in folders of their own."""
    for name in ("archive", "backup"):
        tree = Path(f"in-{name}/tree")
        tree.mkdir(parents=True)
        (tree / "brev.txt").write_text("Kjære arkiv")
        shutil.copytree(kept / name, tree / "saker" / name)
        yield f"{name} in it", tree
    tree = Path("in-others/tree")
    (tree / "gammel").mkdir(parents=True)
    (tree / "brev.txt").write_text("Kjære arkiv")
    (tree / "gammel/crm-oslo.grant.json").write_text(GRANT)
    shutil.copy(kept / "archive/clients.toml", tree / "gammel/clients (kopi).toml.bak")
    (tree / "noarkit.toml").write_text('[archive]\nurl = "https://x"\nclient_secret = "very-secret"\n')
    (tree / "seal.key").write_text("-----BEGIN PRIVATE KEY-----\nvery-secret\n-----END PRIVATE KEY-----\n")
    (tree / "lenke").symlink_to((kept / "archive/clients.toml").resolve())
    yield "others", tree

    tree = Path("in-packed/tree")
    tree.mkdir(parents=True)
    (tree / "brev.txt").write_text("Kjære arkiv")
    shutil.make_archive("in-packed/tree/sikkerhetskopi", "zip", kept / "archive")
    shutil.make_archive("in-packed/tree/gammel", "gztar", kept / "archive")
    with zipfile.ZipFile("in-packed/tree/nøkler.ZIP", "w") as file:
        file.writestr("jobb/seal.key", "-----BEGIN PRIVATE KEY-----\nvery-secret\n-----END PRIVATE KEY-----\n")
    shutil.make_archive("in-packed/tree/åpent", "zip", "in-others/tree", "brev.txt")
    yield "packed", tree


COUNTS = {"archive in it": 1, "backup in it": 1, "others": 4, "packed": 3}


@pytest.mark.parametrize("kind", [None, "files"])
def test_secrets_in_a_tree_go_nowhere_and_are_named(
    kind: str | None, kept: Path, workplace: Path, secrets: tuple[bytes, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    for n, (odd, tree) in enumerate(trees(kept)):
        out = Path(f"out-{n}")
        out.mkdir()
        kinds = ["--source-kind", kind] if kind else []
        assert noarkit.scan(tree, source_kind=kind).skipped[SKIPPED_SECRETS] == COUNTS[odd]
        assert (
            main(["ingest", str(tree), "-o", str(out / "run"), "--archive", f"embedded:{out / 'to'}", *kinds], {}) == 0
        )
        assert main(["convert", str(tree), "--as", "bagit", "-o", str(out / "bag"), *kinds], {}) in (0, 3)
        listed = Path(f"{out}/bag.set-aside.csv").read_text("utf-8")
        assert listed.count(';"secrets"') == COUNTS[odd], listed
        assert leaks(out, secrets) == []
    assert not any(secret.decode() in "".join(capsys.readouterr()) for secret in secrets)


def test_secrets_reached_through_a_link_that_is_followed_go_nowhere(
    kept: Path, workplace: Path, secrets: tuple[bytes, ...]
) -> None:
    tree = dict(trees(kept))["others"]
    assert main(["recipe", "new", str(tree), "-o", "recipe.toml"], {}) == 0
    text = Path("recipe.toml").read_text("utf-8")
    Path("recipe.toml").write_text(text.replace("[source]\n", '[source]\nlinks = "follow"\n', 1))
    assert main(["ingest", str(tree), "-o", "run", "--recipe", "recipe.toml", "--archive", "embedded:to"], {}) == 0
    assert leaks(Path("to"), secrets) == leaks(Path("run"), secrets) == []
    assert "lenke;a file with secrets" in Path("run/skipped.csv").read_text("utf-8").replace('"', "")


@pytest.mark.parametrize("form", ["zip", "tar", "gztar"])
def test_an_archive_file_with_secrets_in_it_is_given_to_nobody_and_what_else_is_in_it_can_be_seen(
    form: str, kept: Path, workplace: Path, capsys: pytest.CaptureFixture[str], secrets: tuple[bytes, ...]
) -> None:
    place = shutil.make_archive("sikkerhetskopi", form, kept / "archive")
    before = Path(place).read_bytes()
    for line in READERS:
        for kind in ([], ["--source-kind", "files"]):
            if not kind or line[0] not in ("recipe", "derive"):
                assert main([*(place if word == "PLACE" else word for word in line), *kind], {}) == 2, line
    assert "F101" in capsys.readouterr().err
    assert main(["ls", place], {}) == 0
    assert main(["get", place, "/", "-o", "got"], {}) != 0
    assert not Path("made").exists() and not Path("got").exists() and Path(place).read_bytes() == before


def test_a_package_does_not_carry_an_archive_file_with_secrets_in_it(kept: Path, workplace: Path) -> None:
    tree = dict(trees(kept))["packed"]
    assert main(["convert", str(tree), "--as", "bagit", "-o", "clean"], {}) in (0, 3)
    assert sorted(path.name for path in Path("clean/data").iterdir()) == ["brev.txt", "åpent.zip"]
    bag = Path("bag/data")
    bag.mkdir(parents=True)
    for name in ("brev.txt", "sikkerhetskopi.zip"):
        shutil.copy(tree / name, bag / name)
    Path("bag/bagit.txt").write_text("BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n")
    lines = [f"{hashlib.sha512(path.read_bytes()).hexdigest()}  data/{path.name}\n" for path in bag.iterdir()]
    Path("bag/manifest-sha512.txt").write_text("".join(lines))
    for packed in ("bag", shutil.make_archive("bag", "zip", ".", "bag")):
        assert noarkit.scan(Path(packed)).skipped[SKIPPED_SECRETS] == 1
        assert main(["convert", packed, "--as", "eark-sip", "-o", f"{Path(packed).name}.sip"], {}) in (0, 3)
        assert [path.name for path in Path(f"{Path(packed).name}.sip").rglob("*.zip")] == []


@pytest.mark.parametrize("packed", [False, True])
def test_looking_into_a_tree_shows_no_secrets(
    packed: bool, kept: Path, workplace: Path, secrets: tuple[bytes, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    (tree,) = (tree for odd, tree in trees(kept) if odd == "archive in it")
    place, ref = tree, "saker/archive/clients.toml"
    if packed:
        place = Path("tree.zip")
        with zipfile.ZipFile(place, "w") as file:
            for path in sorted(path for path in tree.rglob("*") if path.is_file()):
                file.write(path, path.relative_to(tree).as_posix())
    assert main(["ls", str(place)], {}) == 0
    assert main(["get", str(place), ref, "-o", "got"], {}) != 0
    main(["search", str(place), "integration"], {})
    shown = "".join(capsys.readouterr())
    assert not Path("got").exists() and not any(secret.decode() in shown for secret in secrets)
    catalogues = [path for path in (*workplace.rglob("*.db"), *workplace.rglob("*catalogue*")) if path.is_file()]
    assert catalogues and not any(secret in path.read_bytes() for path in catalogues for secret in secrets)


def test_a_bag_that_was_filled_with_secrets_before_gives_them_to_nobody(
    kept: Path, workplace: Path, secrets: tuple[bytes, ...]
) -> None:
    data = Path("bag/data")
    data.mkdir(parents=True)
    shutil.copy(kept / "archive/clients.toml", data / "clients.toml")
    (data / "brev.txt").write_text("hei")
    Path("bag/bagit.txt").write_text("BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n")
    digests = {name: hashlib.sha512((data / name).read_bytes()).hexdigest() for name in ("brev.txt", "clients.toml")}
    lines = "".join(f"{digest}  data/{name}\n" for name, digest in digests.items())
    Path("bag/manifest-sha512.txt").write_text(lines)
    assert noarkit.scan(Path("bag")).skipped[SKIPPED_SECRETS] == 1
    assert main(["ingest", "bag", "-o", "run", "--archive", "embedded:to"], {}) == 0
    assert main(["convert", "bag", "--as", "eark-sip", "-o", "sip"], {}) in (0, 3)
    assert [leaks(Path(name), secrets) for name in ("run", "to", "sip")] == [[], [], []]


def test_a_file_of_that_name_without_secrets_is_a_record(workplace: Path) -> None:
    Path("mapper").mkdir()
    Path("mapper/clients.toml").write_text('[customer]\nname = "Kari"\n')
    Path("mapper/noarkit.toml").write_text('[archive]\nclient_secret = { env = "SECRET" }\n')
    Path("mapper/grant.json").write_text('{"amount": 4000}')
    assert noarkit.scan(Path("mapper")).records == 3


def test_a_folder_of_records_that_has_a_plan_of_its_own_is_no_run(workplace: Path) -> None:
    Path("mapper").mkdir()
    Path("mapper/plan.json").write_text('{"rooms": 4}')
    Path("mapper/archive.db").write_bytes(b"none of ours")
    assert own_kind(Path("mapper")) is None
    assert noarkit.scan(Path("mapper")).records == 2


def test_what_is_left_of_a_plan_that_was_never_frozen_is_a_run_without_its_plan(kept: Path, workplace: Path) -> None:
    shutil.copytree(kept / "run", "run")
    Path("run/plan.json").unlink()
    place = recognise("run")
    assert (place.kind, place.missing) == ("run", "plan.json")


def test_the_names_are_those_that_the_server_gives() -> None:
    assert (places.ARCHIVE_FILE, places.LOGS_FILE) == (DATABASE_FILE, LOGS_FILE)
    assert places.BACKUP_FILES == (BACKUP_FILE, UNFINISHED_FILE)
    assert places.COPIES_FILE == COPIES_DATABASE


def test_a_sqlite_file_is_a_database_to_every_command_and_told(
    workplace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with closing(sqlite3.connect("saker.db")) as db:
        db.executescript("CREATE TABLE sak (id INTEGER PRIMARY KEY, tittel TEXT); INSERT INTO sak VALUES (1, 'brev')")
    assert noarkit.scan("saker.db").source_kind == "database"
    lines = [
        ["scan", "saker.db"],
        ["plan", "saker.db", "-o", "run"],
        ["ingest", "saker.db", "-o", "loaded", "--archive", "embedded:to"],
        ["recipe", "new", "saker.db", "-o", "recipe.toml"],
        ["convert", "saker.db", "--as", "siard", "-o", "saker.siard"],
        ["ls", "saker.db"],
    ]
    for line in lines:
        capsys.readouterr()
        assert main(line, {}) == 0, (line, capsys.readouterr().err)
        assert "is an SQLite database, and it is read table by table" in capsys.readouterr().err, line
    assert 'kind = "database"' in Path("recipe.toml").read_text("utf-8")
    assert main(["verify", "loaded", "--archive", "embedded:to"], {}) == 0
    for line in (["convert", "saker.db", "--as", "bagit", "-o", "bag"], ["validate", "saker.db"]):
        assert main(line, {}) == 2
        assert "noarkit convert saker.db --as siard -o saker.siard" in capsys.readouterr().err
    assert main(["convert", "saker.db", "--as", "bagit", "-o", "bag", "--source-kind", "files"], {}) == 0
    assert Path("bag/data/saker.db").read_bytes() == Path("saker.db").read_bytes()
    assert noarkit.scan("saker.db", source_kind="files").records == 1


def test_in_a_folder_a_sqlite_file_is_a_file(workplace: Path) -> None:
    Path("mapper").mkdir()
    with closing(sqlite3.connect("mapper/saker.db")) as db:
        db.execute("CREATE TABLE sak (id)")
    assert noarkit.scan("mapper").records == 1


@pytest.mark.parametrize("form", ["zip", "tar"])
def test_a_plain_archive_file_is_one_document_to_every_command_and_told(
    form: str, workplace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("mapper").mkdir()
    for name in ("a.txt", "b.txt"):
        Path("mapper", name).write_text(name)
    path = Path(shutil.make_archive("saker", form, "mapper"))
    assert noarkit.scan(path).records == 1
    assert main(["ls", str(path), "--json"], {}) == 0
    items = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [item["title"] for item in items if item["event"] == "item"] == [path.name]
    assert main(["convert", str(path), "--as", "bagit", "-o", "bag"], {}) == 0
    assert Path("bag/data", path.name).read_bytes() == path.read_bytes()
    sentences = set()
    looks = ("ls PLACE", "search PLACE a.txt", "get PLACE / -o got", "browse PLACE --static copy")
    for words in ("scan PLACE", "plan PLACE -o run", "recipe new PLACE -o r", *looks):
        capsys.readouterr()
        assert main([str(path) if word == "PLACE" else word for word in words.split()], {}) == 0, words
        sentences |= set(re.findall(r"[^\n]*one document[^\n]*", capsys.readouterr().err)) or {words}
    assert len(sentences) == 1, sentences
    assert Path("got").read_bytes() == path.read_bytes()


@pytest.mark.parametrize("mark", ["[Content_Types].xml", "mimetype"])
def test_a_document_that_is_kept_in_a_zip_is_a_file(mark: str, workplace: Path) -> None:
    members = {
        "[Content_Types].xml": {"[Content_Types].xml": "<Types/>", "word/document.xml": "<w/>"},
        "mimetype": {"mimetype": "application/vnd.oasis.opendocument.text", "content.xml": "<o/>"},
    }
    with zipfile.ZipFile("brev", "w") as file:
        for name, content in members[mark].items():
            file.writestr(name, content)
    assert recognise("brev").kind == "file"


def test_nobody_else_recognises_what_noarkit_keeps() -> None:
    """The names of marks stand where they are written and in the owner alone."""
    writers = {
        "plan.json": ("loading", "retention", "airgap"),
        "archive.db": ("server",),
        "backup.json": ("server",),
        "clients.toml": ("safe/secret_files.py", "server"),
        "derive.db": ("copies",),
        "noarkit-seal.json": ("forms/sealed",),
        "SQLite format 3": ("documents", "reading_room/viewers"),
    }
    elsewhere = []
    for path in modules_with(*writers):
        name = path.relative_to(PACKAGE).as_posix()
        texts = [
            node.value.decode("latin-1") if isinstance(node.value, bytes) else node.value
            for node in nodes_of(path)
            if isinstance(node, ast.Constant) and isinstance(node.value, str | bytes)
        ]
        for mark, rooms in writers.items():
            is_named = any(text == mark or (text.startswith(mark) and len(text) < len(mark) + 3) for text in texts)
            if is_named and name != "places.py" and not name.startswith(rooms):
                elsewhere.append(f"{name}: {mark}")
    assert elsewhere == []


def test_nobody_asks_for_the_form_of_a_place_but_the_owner_and_the_forms() -> None:
    asking = {
        path.relative_to(PACKAGE).as_posix()
        for path in MODULES
        if re.search(r"\b(?:detect_form|detect_place)\b|import is_sealed|read import .*\bis_sealed\b", text_of(path))
    }
    assert {name for name in asking if not name.startswith("forms/")} == {
        "places.py",
        "airgap/sealing.py",  # what it wrote itself
        "api/converting.py",  # whether a package is whole, before it is carried over
        "catalogue/places/forms.py",  # packages within packages
        "extraction/databases.py",
        "extraction/payload.py",
    }
