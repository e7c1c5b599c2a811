"""A secret is read only from where it may lie, and shows itself nowhere."""

from __future__ import annotations

import copy
import logging
import pickle
import sys
import traceback
from pathlib import Path

import pytest

from noarkit.errors import SecretFault
from noarkit.secrets import Secret, SecretSource, secret_source

CANARY = "canary-7f3a"


def private(path: Path, text: str, mode: int = 0o600) -> Path:
    """A file with a mode."""
    path.write_text(text)
    path.chmod(mode)
    return path


def test_a_secret_shows_itself_nowhere(caplog: pytest.LogCaptureFixture) -> None:
    secret = Secret(CANARY)
    logging.getLogger().warning("%s %r", secret, secret)
    shown = f"{secret} {secret!r} {secret:>20} {[secret]} {caplog.text}"
    assert CANARY not in shown
    assert "***" in shown
    assert secret.reveal() == CANARY


def test_a_secret_is_not_passed_on() -> None:
    with pytest.raises(TypeError):
        pickle.dumps(Secret(CANARY))
    with pytest.raises(TypeError):
        copy.copy(Secret(CANARY))
    with pytest.raises(TypeError):
        hash(Secret(CANARY))


def test_secrets_are_equal_by_value_and_to_nothing_else() -> None:
    assert Secret("blå") == Secret("blå")
    assert Secret("a") != Secret("b")
    assert Secret("a") != "a"


def test_where_a_secret_lies_can_be_passed_on() -> None:
    source = SecretSource("env", ("X",), "noarkit.toml:3")
    assert pickle.loads(pickle.dumps(source)) == source  # noqa: S301  # our own bytes


def test_a_secret_comes_from_a_private_file_without_its_line_end(tmp_path: Path) -> None:
    path = private(tmp_path / "s", CANARY + "\r\nsecond line\n")
    assert secret_source({"file": str(path)}, "x").read({}) == Secret(CANARY)


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o610])
def test_a_file_that_others_may_read_is_refused(tmp_path: Path, mode: int) -> None:
    path = private(tmp_path / "s", CANARY, mode)
    with pytest.raises(SecretFault) as fault:
        SecretSource("file", (str(path),)).read({})
    assert fault.value.data == {"where": str(path), "why": "secret-open", "mode": f"{mode:04o}"}


def test_a_secret_comes_from_a_command_a_credential_or_a_variable(tmp_path: Path) -> None:
    private(tmp_path / "token", CANARY, 0o444)
    told = f"import sys; print({CANARY!r}); print('noise', file=sys.stderr)"
    for source, environment in (
        ({"command": [sys.executable, "-c", told]}, {}),
        ({"credential": "token"}, {"CREDENTIALS_DIRECTORY": str(tmp_path)}),
        ({"env": "MINE"}, {"MINE": CANARY}),
    ):
        assert secret_source(source, "x").read(environment).reveal() == CANARY


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ({"file": "/no/such/file"}, "not-there"),
        ({"file": "/"}, "not-there"),
        ({"command": ["/no/such/command"]}, "not-there"),
        ({"command": [sys.executable, "-c", f"print('{CANARY}'); raise SystemExit(3)"]}, "command-failed"),
        ({"command": [sys.executable, "-c", ""]}, "secret-empty"),
        ({"command": [sys.executable, "-c", "import sys; sys.stdout.buffer.write(b'\\xff')"]}, "not-text"),
        ({"credential": "token"}, "no-credentials-directory"),
        ({"env": "NOBODY_SETS_THIS"}, "not-set"),
    ],
)
def test_a_secret_that_cannot_be_had_says_why_and_never_what(source: dict[str, object], why: str) -> None:
    with pytest.raises(SecretFault) as fault:
        secret_source(source, "x").read({})
    assert fault.value.data["why"] == why
    assert CANARY not in "".join(traceback.format_exception(fault.value, chain=True)).split("Traceback")[-1]
    assert CANARY not in str(fault.value)


@pytest.mark.parametrize("name", ["../token", "a/b", "/etc/passwd"])
def test_a_credential_is_a_plain_name(tmp_path: Path, name: str) -> None:
    private(tmp_path / "token", CANARY)
    (tmp_path / "d").mkdir()
    with pytest.raises(SecretFault):
        SecretSource("credential", (name,)).read({"CREDENTIALS_DIRECTORY": str(tmp_path / "d")})


def test_a_secret_in_the_config_itself_is_refused() -> None:
    with pytest.raises(SecretFault) as fault:
        secret_source(CANARY, "noarkit.toml:4")
    assert fault.value.data == {"where": "noarkit.toml:4", "why": "secret-inline"}


@pytest.mark.parametrize(
    "entry",
    [
        7,
        {},
        {"file": ""},
        {"file": 3},
        {"file": ["a"]},
        {"file": "a", "env": "b"},
        {"command": "a b"},
        {"command": []},
        {"command": ["a", 1]},
        {"vault": "x"},
    ],
)
def test_a_source_of_another_form_is_refused(entry: object) -> None:
    with pytest.raises(SecretFault) as fault:
        secret_source(entry, "noarkit.toml:4")
    assert fault.value.data["why"] == "secret-form"
