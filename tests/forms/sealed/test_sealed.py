"""A sealed package is refused for whatever was done to it, wherever and however little, and read where nothing was."""

from __future__ import annotations

import io
import json
import os
import shutil
import stat
import struct
import subprocess
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from noarkit.errors import ConfigFault, HostileInput, ItemChanged, NoarkitError, PackageFault, SealBroken, UsageFault
from noarkit.forms.container.building import File, SkipFile
from noarkit.forms.sealed.read import is_sealed, open_sealed
from noarkit.forms.sealed.spec import FILES, SEAL, SIGNATURE, Kind, Seal, SealedFile, read_seal
from noarkit.forms.sealed.write import SealOrder, seal_package
from noarkit.safe.digest import Readable
from noarkit.safe.signing import PublicKey, Signer, new_key_pair, read_public, read_signer

DEEP = os.environ.get("NOARKIT_DEEP") == "1"
FORMS = ("made", "made.zip", "made.tar")
CONTENTS = {
    "noarkit-plan/plan.json": b'{"sha256": "00"}\n',
    "documents/0/1": b"",
    "documents/0/2": b"a letter",
    "documents/0/3": os.urandom(3000),
    "documents/1/1000": b"a letter",
}
PRIVATE, PUBLIC = new_key_pair()
OTHERS = new_key_pair()


def signer() -> Signer:
    return read_signer(PRIVATE, "seal.key")


def trusted(content: bytes = PUBLIC) -> list[PublicKey]:
    return [read_public(OTHERS[1], "other.pub"), read_public(content, "seal.pub")]


def file_of(name: str, content: bytes) -> File:
    @contextmanager
    def opened() -> Iterator[Readable]:
        yield io.BytesIO(content)

    return name, opened, len(content), "the same"


def made(target: Path, contents: dict[str, bytes] = CONTENTS, kind: Kind = "bundle", by: Signer | None = None) -> Path:
    order = SealOrder(target, kind, "id-1", "2026-11-22T04:00:00Z", by or signer(), {"user": "kari"})
    seal_package((file_of(*one) for one in contents.items()), order, lambda listed: {"names": sum(1 for _ in listed)})
    return target


def proven(path: Path, keys: list[PublicKey] | None = None, kind: Kind = "bundle") -> dict[str, bytes]:
    """What is in it, once all of it was proven."""
    with open_sealed(path, keys if keys is not None else trusted(), kind) as sealed:
        sealed.prove()
        found = {}
        for listed in sealed.files():
            with sealed.open(listed.name) as content:
                found[listed.name] = b"".join(iter(lambda: content.read(700), b""))  # read at once
        return found


def refused(path: Path, keys: list[PublicKey] | None = None) -> str:
    """Why it is refused."""
    with pytest.raises((PackageFault, HostileInput)) as caught:
        proven(path, keys)
    assert caught.value.exit_code == 4
    return str(caught.value.data.get("why"))


@pytest.fixture(scope="module")
def templates(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    place = tmp_path_factory.mktemp("sealed")
    return {name: made(place / name) for name in FORMS}


@pytest.mark.parametrize("name", FORMS)
def test_what_was_sealed_is_read_as_it_was_and_is_for_its_owner_alone(name: str, tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        path = made(tmp_path / name)
    finally:
        os.umask(old)
    assert proven(path) == CONTENTS
    assert is_sealed(path)
    places = [path, *path.rglob("*")] if path.is_dir() else [path]
    assert {stat.S_IMODE(one.stat().st_mode) for one in places} <= {0o600, 0o700}
    assert [one.name for one in tmp_path.iterdir()] == [name]
    with open_sealed(path, trusted(), "bundle") as sealed:
        seal = sealed.seal
    assert (seal.files, seal.size_bytes, seal.statement, seal.by) == (5, 3033, {"names": 5}, {"user": "kari"})


@pytest.mark.parametrize("name", FORMS)
def test_the_same_files_sealed_again_are_the_same_bytes(name: str, tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    one, two = made(tmp_path / "a" / name), made(tmp_path / "b" / name)
    if one.is_file():
        assert one.read_bytes() == two.read_bytes()
    else:
        assert all(place.read_bytes() == (two / place.relative_to(one)).read_bytes() for place in files_of(one))


def files_of(folder: Path) -> list[Path]:
    return sorted(place for place in folder.rglob("*") if place.is_file())


@pytest.mark.parametrize("name", ["made.zip", "made.tar"])
@settings(max_examples=1000 if DEEP else 40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_bit_of_an_archive_file_that_is_turned_is_seen(
    name: str, templates: dict[str, Path], tmp_path: Path, data: st.DataObject
) -> None:
    content = bytearray(templates[name].read_bytes())
    bit = data.draw(st.integers(0, len(content) * 8 - 1))
    content[bit // 8] ^= 1 << bit % 8
    path = tmp_path / name
    path.write_bytes(content)
    assert is_sealed(path)
    refused(path)


@pytest.mark.parametrize("name", ["made.zip", "made.tar"])
def test_bits_of_an_archive_file_from_its_first_to_its_last_are_held_to_what_was_sealed(
    name: str, templates: dict[str, Path], tmp_path: Path
) -> None:
    whole, path = templates[name].read_bytes(), tmp_path / name
    for bit in range(0, len(whole) * 8, 7 if DEEP else 331):
        content = bytearray(whole)
        content[bit // 8] ^= 1 << bit % 8
        path.write_bytes(content)
        refused(path)


@pytest.mark.parametrize("place", range(3))
def test_a_directory_that_tells_of_sizes_nothing_can_have_is_refused(
    place: int, templates: dict[str, Path], tmp_path: Path
) -> None:
    content = bytearray(templates["made.zip"].read_bytes())
    content[content.rfind(struct.pack("<HH", 1, 24)) + 4 + 8 * place + 7] |= 0x80
    path = tmp_path / "made.zip"
    path.write_bytes(content)
    assert refused(path) == "broken-archive-file"


@settings(max_examples=1000 if DEEP else 25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_bit_of_any_file_of_a_folder_that_is_turned_is_seen(
    templates: dict[str, Path], tmp_path: Path, data: st.DataObject
) -> None:
    path = tmp_path / "made"
    shutil.rmtree(path, ignore_errors=True)
    shutil.copytree(templates["made"], path)
    place = data.draw(st.sampled_from([one for one in files_of(path) if one.stat().st_size]))
    content = bytearray(place.read_bytes())
    bit = data.draw(st.integers(0, len(content) * 8 - 1))
    content[bit // 8] ^= 1 << bit % 8
    place.write_bytes(content)
    refused(path)


def test_a_file_that_is_taken_from_a_folder_is_missed_and_the_rest_is_no_plain_folder(
    templates: dict[str, Path], tmp_path: Path
) -> None:
    assert len(list(files_of(templates["made"]))) > 2
    for place in files_of(templates["made"]):
        path = tmp_path / "made"
        shutil.rmtree(path, ignore_errors=True)
        shutil.copytree(templates["made"], path)
        (path / place.relative_to(templates["made"])).unlink()
        assert is_sealed(path)
        assert refused(path) == "seal-removed"


@pytest.mark.parametrize("odd", ["file", "empty", "link", "beside-the-plan"])
def test_whatever_is_added_to_a_folder_is_seen(odd: str, templates: dict[str, Path], tmp_path: Path) -> None:
    path = tmp_path / "made"
    shutil.copytree(templates["made"], path)
    if odd == "link":
        (path / "documents" / "9").symlink_to(path / "documents" / "0" / "2")
    elif odd == "beside-the-plan":
        (path / "noarkit-plan" / "graph.db-wal").write_bytes(b"more")
    else:
        (path / "documents" / "9").write_bytes(b"" if odd == "empty" else b"more")
    assert refused(path) == "seal-added"


def test_what_is_seen_without_reading_all_of_it_is_seen_when_it_is_opened(
    templates: dict[str, Path], tmp_path: Path
) -> None:
    """A run that goes on proves each document as it reads it; names, sizes and the list are held to the seal before."""

    def harmed(harm: Callable[[Path], object]) -> str:
        path = tmp_path / "made"
        shutil.rmtree(path, ignore_errors=True)
        shutil.copytree(templates["made"], path)
        harm(path)
        with pytest.raises(SealBroken) as caught, open_sealed(path, trusted(), "bundle"):
            pass
        return str(caught.value.data["why"])

    assert harmed(lambda path: (path / "documents/0/1").unlink()) == "seal-removed"
    assert harmed(lambda path: (path / "documents/0/9").touch()) == "seal-added"
    assert harmed(lambda path: (path / "documents/0/2").write_bytes(b"short")) == "seal-changed"
    listed = (templates["made"] / FILES).read_bytes()
    known = listed.index(b'"sha256":"') + 10
    for other in (
        listed[:known] + b"0" * 64 + listed[known + 64 :],  # another checksum
        listed.replace(b"documents/0/1", b"documents/0/7"),
        b"\n".join(reversed(listed.splitlines())) + b"\n",
    ):
        assert harmed(lambda path, other=other: (path / FILES).write_bytes(other)) == "seal-list"  # type: ignore[misc]


def test_files_that_change_places_or_names_are_seen(templates: dict[str, Path], tmp_path: Path) -> None:
    swapped, renamed = tmp_path / "swapped", tmp_path / "renamed"
    for path in (swapped, renamed):
        shutil.copytree(templates["made"], path)
    first, second = swapped / "documents/0/2", swapped / "documents/0/3"
    held = first.read_bytes()
    first.write_bytes(second.read_bytes())
    second.write_bytes(held)
    assert refused(swapped) == "seal-changed"
    (renamed / "documents/0/2").rename(renamed / "documents/0/4")
    assert refused(renamed) in ("seal-added", "seal-removed")


def test_two_files_of_one_size_that_change_places_are_seen(tmp_path: Path) -> None:
    path = made(tmp_path / "made", {"documents/0/1": b"for Kari", "documents/0/2": b"for Olav"})
    first, second = path / "documents/0/1", path / "documents/0/2"
    first.write_bytes(b"for Olav")
    second.write_bytes(b"for Kari")
    assert refused(path) == "seal-changed"


@pytest.mark.parametrize("name", [SEAL, SIGNATURE, FILES])
def test_what_seals_another_package_does_not_seal_this(name: str, templates: dict[str, Path], tmp_path: Path) -> None:
    path = tmp_path / "made"
    shutil.copytree(templates["made"], path)
    other = made(tmp_path / "other", {"documents/0/1": b"another"})
    shutil.copy(other / name, path / name)
    assert refused(path) in ("seal-signature", "seal-list")


@pytest.mark.parametrize("name", FORMS)
def test_a_package_of_another_key_and_one_without_a_key_are_refused(name: str, tmp_path: Path) -> None:
    path = made(tmp_path / name, by=read_signer(OTHERS[0], "other.key"))
    assert proven(path) == CONTENTS  # both keys are trusted there
    assert refused(path, [read_public(PUBLIC, "seal.pub")]) == "seal-stranger"
    assert refused(path, []) == "seal-stranger"


@pytest.mark.parametrize("name", ["made.zip", "made.tar"])
def test_an_archive_file_that_was_cut_short_anywhere_is_refused(
    name: str, templates: dict[str, Path], tmp_path: Path
) -> None:
    whole, path = templates[name].read_bytes(), tmp_path / name
    for length in {1, 100, *range(512, len(whole), 700), len(whole) - 1}:
        path.write_bytes(whole[:length])
        assert is_sealed(path) or length < 60
        refused(path)
    path.write_bytes(whole + b"\0")
    refused(path)


def test_a_zip_that_was_packed_anew_with_a_further_file_is_refused(templates: dict[str, Path], tmp_path: Path) -> None:
    path = tmp_path / "made.zip"
    shutil.copy(templates["made.zip"], path)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("noarkit-bundle/documents/9/9", b"more")
    assert refused(path) == "seal-added"
    with zipfile.ZipFile(templates["made.zip"]) as old, zipfile.ZipFile(path, "w") as new:
        for name in old.namelist():
            new.writestr(name, old.read(name))
    assert refused(path) == "seal-packing"


def test_a_receipt_does_not_pass_for_a_bundle(tmp_path: Path) -> None:
    path = made(tmp_path / "made.zip", kind="receipt")
    assert refused(path) == "seal-is-receipt"
    assert proven(path, kind="receipt") == CONTENTS


def test_a_seal_of_a_later_version_or_none_at_all_says_so() -> None:
    seal = json.loads(Seal("bundle", "i", "now", "k", SealedFile(FILES, 0, ""), 0, 0).content())
    changes = (
        ({"version": 2}, "unknown-version"),
        ({"format": "x"}, "seal-unreadable"),
        ({"files": "x"}, "seal-unreadable"),
    )
    for change, why in changes:
        with pytest.raises(SealBroken) as caught:
            read_seal(json.dumps({**seal, **change}).encode(), "x")
        assert caught.value.data["why"] == why
    for content in (b"", b"[]", b"{", b"\xff"):
        with pytest.raises(SealBroken):
            read_seal(content, "x")


def test_a_tar_gz_is_not_made_for_it_cannot_be_read_where_it_lies(tmp_path: Path) -> None:
    with pytest.raises(UsageFault) as caught:
        made(tmp_path / "made.tar.gz")
    assert caught.value.data["what"] == "seal-form"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", FORMS)
def test_a_source_that_leaves_a_file_out_leaves_no_trace_of_it_and_one_that_fails_is_gone_on_with(
    name: str, tmp_path: Path
) -> None:
    @contextmanager
    def left_out() -> Iterator[Readable]:
        raise SkipFile
        yield io.BytesIO()

    broken = [True]

    class Failing(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            if broken[0]:
                raise ItemChanged(key="x", why="size")
            return super().read(size)

    @contextmanager
    def failing() -> Iterator[Readable]:
        yield Failing(b"late")

    files: list[File] = [
        file_of("a", b"1"),
        ("b", left_out, 4, "same"),
        file_of("c", b"3"),
        ("d", failing, 4, "same"),
    ]
    order = SealOrder(tmp_path / name, "bundle", "i", "now", signer())
    with pytest.raises(ItemChanged):
        seal_package(iter(files), order, lambda listed: {})
    assert not (tmp_path / name).exists()
    broken[0] = False
    assert seal_package(iter(files), order, lambda listed: {}).resumed is (name == "made")
    assert proven(tmp_path / name) == {"a": b"1", "c": b"3", "d": b"late"}


def test_a_key_pair_is_what_openssl_takes_for_one(tmp_path: Path, templates: dict[str, Path]) -> None:
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("there is no openssl on this machine")
    (tmp_path / "seal.pub").write_bytes(PUBLIC)
    folder = templates["made"]
    line = [openssl, "pkeyutl", "-verify", "-pubin", "-inkey", str(tmp_path / "seal.pub"), "-rawin"]
    told = subprocess.run(
        [*line, "-in", str(folder / SEAL), "-sigfile", str(folder / SIGNATURE)], capture_output=True, text=True
    )
    assert "Signature Verified Successfully" in told.stdout + told.stderr
    subprocess.run([openssl, "genpkey", "-algorithm", "ed25519", "-out", str(tmp_path / "theirs.key")], check=True)
    theirs = read_signer((tmp_path / "theirs.key").read_bytes(), "theirs.key")
    assert theirs.public.signed(theirs.sign(b"x"), b"x")
    subprocess.run([openssl, "genpkey", "-algorithm", "ed448", "-out", str(tmp_path / "odd.key")], check=True)
    with pytest.raises(ConfigFault) as caught:
        read_signer((tmp_path / "odd.key").read_bytes(), "odd.key")
    assert caught.value.data["why"] == "key-kind"


@pytest.mark.parametrize(
    ("content", "reads", "why"),
    [
        (PUBLIC, read_signer, "key-public"),
        (PRIVATE, read_public, "key-private"),
        (b"", read_signer, "seal-no-key"),
        (b"", read_public, "seal-no-key"),
        (PRIVATE[:60], read_signer, "seal-no-key"),
    ],
    ids=["public-to-sign", "private-to-prove", "nothing-to-sign", "nothing-to-prove", "half-to-sign"],
)
def test_a_file_that_is_not_the_key_that_is_wanted_says_what_it_is(
    content: bytes, reads: Callable[[bytes, str], object], why: str
) -> None:
    with pytest.raises(ConfigFault) as caught:
        reads(content, "there")
    assert caught.value.data["why"] == why


def test_nothing_of_a_key_is_ever_shown() -> None:
    body = PRIVATE.split(b"\n")[1].decode()
    broken = PRIVATE.replace(body[:10].encode(), b"!!!!!!!!!!")
    with pytest.raises(NoarkitError) as caught:
        read_signer(broken, "there")
    trace = "".join(str(part) for part in (caught.value, caught.value.__cause__, repr(signer()), repr(trusted())))
    assert body[12:] not in trace
