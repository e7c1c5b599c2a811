"""Keys and signatures; and what needs the extra says so where it is not installed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from noarkit.errors import SecretFault
from noarkit.safe.signing import SIGNATURE_BYTES, new_key_pair, read_public, read_signer
from noarkit.secrets import read_private_file
from tests.cli.elsewhere import environment
from tests.waiting import PATIENCE_S

WITHOUT = "import sys; sys.modules['cryptography'] = None; from noarkit.cli.main import run; run()"


def test_a_signature_is_good_for_one_message_and_one_key() -> None:
    private, public = new_key_pair()
    signer, key = read_signer(private, "a"), read_public(public, "a.pub")
    signature = signer.sign(b"message")
    assert len(signature) == SIGNATURE_BYTES
    assert signature == signer.sign(b"message")
    assert key.signed(signature, b"message")
    assert not key.signed(signature, b"massage")
    assert not key.signed(bytes([signature[0] ^ 1]) + signature[1:], b"message")
    assert not key.signed(b"", b"message")
    assert not read_public(new_key_pair()[1], "b.pub").signed(signature, b"message")
    assert signer.public.fingerprint == key.fingerprint != read_public(new_key_pair()[1], "b.pub").fingerprint


def test_a_private_key_is_its_owners_alone_but_where_the_service_manager_keeps_it(tmp_path: Path) -> None:
    key = tmp_path / "seal.key"
    key.write_bytes(new_key_pair()[0])
    key.chmod(0o600)
    assert read_private_file(key, {}) == key.read_bytes()
    key.chmod(0o440)
    with pytest.raises(SecretFault) as caught:
        read_private_file(key, {})
    assert caught.value.data["why"] == "secret-open"
    assert read_private_file(key, {"CREDENTIALS_DIRECTORY": str(tmp_path)}) == key.read_bytes()
    with pytest.raises(SecretFault):
        read_private_file(key, {"CREDENTIALS_DIRECTORY": str(tmp_path / "elsewhere")})
    with pytest.raises(SecretFault) as caught:
        read_private_file(tmp_path / "nowhere", {})
    assert caught.value.data["why"] == "not-there"


def test_without_the_extra_all_else_works_and_what_needs_it_says_so(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.txt").write_text("a")
    (tmp_path / "a.key").write_bytes(new_key_pair()[0])
    (tmp_path / "a.key").chmod(0o600)
    for words, code in (
        (("plan", "src", "-o", "run", "--pack", "b.zip", "--seal-key", "a.key"), 2),
        (("key", "new", "-o", "b.key"), 2),
        (("plan", "src", "-o", "run"), 0),
    ):
        done = subprocess.run(
            [sys.executable, "-c", WITHOUT, *words],
            env=environment(tmp_path),
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
        assert done.returncode == code, done.stderr
        assert ("noarkit[seal]" in done.stderr) is (code == 2)
    assert not (tmp_path / "b.key").exists()
