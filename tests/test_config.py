"""Flag before environment before profile before file before default, and each value knows its origin."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from noarkit.config import SETTINGS, Config, Sources, flatten, load, user_folder
from noarkit.errors import ConfigFault, SecretOnTheLine
from noarkit.safe.toml import parse_toml
from noarkit.service_names import is_service

TEXT = """# a site
lang = "nb"
profile = "test"

[archive]
url = "https://archive.example.org/rms/api/public/"
client_id = "loader"
client_secret = { file = "/run/secret" }

[archive.tls]
ca = "/etc/ca.pem"

[profiles.test.archive]
url = "https://test.example.org/rms/api/public"
transaction_deadline_s = 5

[profiles.night]
zone = "UTC"

[connections.standin]
url = "http://127.0.0.1:9000"
"""


def read(tmp_path: Path, text: str = TEXT, **more: object) -> Config:
    """A config of this text."""
    (tmp_path / "noarkit.toml").write_text(text)
    return load(Sources(folder=tmp_path, environment={"HOME": str(tmp_path / "home")}, is_service=is_service, **more))  # type: ignore[arg-type]  # named by the test


def test_without_anything_the_defaults_hold(tmp_path: Path) -> None:
    config = load(Sources(folder=tmp_path, environment={"HOME": str(tmp_path)}))
    assert (config.archive.url, config.zone, config.lang) == (None, "Europe/Oslo", "en")
    assert config.archive.transaction_deadline_s == 60.0
    assert {str(origin) for origin in config.origins.values()} == {"default"}


def test_a_profile_stands_before_the_file_and_the_file_before_the_default(tmp_path: Path) -> None:
    config = read(tmp_path)
    place = tmp_path / "noarkit.toml"
    assert config.archive.url == "https://test.example.org/rms/api/public"
    assert str(config.origins["archive.url"]) == f"profile {place}:14"
    assert config.archive.client_id == "loader"
    assert str(config.origins["archive.client_id"]) == f"file {place}:7"
    assert str(config.origins["archive.tls.ca"]) == f"file {place}:11"
    assert str(config.origins["archive.proxy"]) == "default"
    assert config.archive.transaction_deadline_s == 5.0


def test_flag_and_environment_stand_before_all(tmp_path: Path) -> None:
    environment = {"NOARKIT_ARCHIVE": "http://env:1", "NOARKIT_ZONE": "UTC", "NOARKIT_CLIENT_ID": ""}
    (tmp_path / "noarkit.toml").write_text(TEXT)
    config = load(Sources(flags={"archive.url": "http://flag:2"}, environment=environment, folder=tmp_path))
    assert (config.archive.url, str(config.origins["archive.url"])) == ("http://flag:2", "flag archive.url")
    assert (config.zone, str(config.origins["zone"])) == ("UTC", "environment NOARKIT_ZONE")
    assert config.archive.client_id == "loader", "an empty variable says nothing"


def test_a_profile_may_be_named_at_the_edge(tmp_path: Path) -> None:
    config = read(tmp_path, profile="night")
    assert (config.profile, config.zone) == ("night", "UTC")
    assert config.archive.url == "https://archive.example.org/rms/api/public"


def test_a_profile_nobody_wrote_is_a_fault_with_a_proposal(tmp_path: Path) -> None:
    with pytest.raises(ConfigFault) as fault:
        read(tmp_path, profile="nihgt")
    assert fault.value.data == {"where": "nihgt", "why": "no-such-profile", "proposal": "night"}


def test_the_folder_stands_before_the_user(tmp_path: Path) -> None:
    mine = tmp_path / "home" / ".config" / "noarkit"
    mine.mkdir(parents=True)
    (mine / "noarkit.toml").write_text('zone = "UTC"\nlang = "en"\n')
    config = read(tmp_path)
    assert (config.lang, config.zone) == ("nb", "UTC")
    assert str(config.origins["zone"]) == f"file {mine / 'noarkit.toml'}:1"


def test_a_named_file_stands_alone_and_must_exist(tmp_path: Path) -> None:
    read(tmp_path)
    other = tmp_path / "other.toml"
    other.write_text('zone = "UTC"\n')
    assert load(Sources(folder=tmp_path, file=other)).lang == "en"
    with pytest.raises(ConfigFault, match="not-there"):
        load(Sources(folder=tmp_path, file=tmp_path / "none.toml"))


@pytest.mark.parametrize(
    ("text", "line", "key", "proposal"),
    [
        ('[archive]\nurl = "http://a"\nclient_di = "x"\n', 3, "archive.client_di", "archive.client_id"),
        ('zoen = "UTC"\n', 1, "zoen", "zone"),
        ("\n[archvie]\n", 2, "archvie", None),
        ("[archive.tls]\nverify = false\n", 2, "archive.tls.verify", None),
        ("[profiles.a.archive]\n\nurll = 'http://a'\n", 3, "profiles.a.archive.urll", "archive.url"),
        ("[profiles.a]\nprofiles = 1\n", 2, "profiles.a.profiles", None),
    ],
)
def test_an_unknown_key_is_a_fault_with_its_line(
    tmp_path: Path, text: str, line: int, key: str, proposal: str | None
) -> None:
    with pytest.raises(ConfigFault) as fault:
        read(tmp_path, text)
    data = fault.value.data
    assert (data["where"], data["key"]) == (f"{tmp_path / 'noarkit.toml'}:{line}", key)
    assert proposal is None or data["proposal"] == proposal


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('[archive]\nurl = "ftp://a"', "not-an-address"),
        ('[archive]\nurl = "http://a:x"', "not-an-address"),
        ("[archive]\nurl = 3", "not-text"),
        ("[archive]\nclient_id = ' '", "not-text"),
        ("[archive]\nstall_timeout_s = -1", "not-seconds"),
        ("[archive]\nstall_timeout_s = true", "not-seconds"),
        ("[archive]\nstall_timeout_s = nan", "not-seconds"),
        ("[archive]\nclient_secret = 'hush'", "secret-inline"),
        ("[archive]\nclient_secret = { file = 'a', env = 'b' }", "secret-form"),
        ("[archive]\nplain_http = 'maybe'", "not-yes-or-no"),
        ("[archive]\nplain_http = 1", "not-yes-or-no"),
        ("zone = 'Mars/Base'", "no-such-zone"),
        ("zone = '../../etc/passwd'", "no-such-zone"),
        ("lang = 'sv'", "no-such-language"),
        ("[connections]\na = 1", "not-a-table"),
        ("archive = 1", "not-a-table"),
        ("[profiles]\na = 1", "not-a-table"),
        ("[archive.url]\nx = 1", "not-text"),
        ("[archive\n", "not-toml"),
    ],
)
def test_a_value_that_cannot_be_used_is_a_fault(tmp_path: Path, text: str, why: str) -> None:
    with pytest.raises(ConfigFault) as fault:
        read(tmp_path, text)
    assert fault.value.data["why"] == why
    assert str(tmp_path / "noarkit.toml") in str(fault.value.data["where"])


def test_a_password_in_an_address_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SecretOnTheLine) as fault:
        read(tmp_path, '[archive]\nproxy = "http://me:hush@proxy:3128"')
    assert "hush" not in str(fault.value)


def test_a_person_sees_every_key_and_no_secret(tmp_path: Path) -> None:
    config = read(tmp_path)
    shown = {key: value for key, value, _ in flatten(config)}
    assert set(shown) == {setting.key for setting in SETTINGS}
    assert shown["archive.client_secret"] == "*** (file /run/secret)"
    assert shown["archive.proxy"] == ""


def test_a_secret_of_the_environment_is_kept_as_its_place(tmp_path: Path) -> None:
    config = load(Sources(folder=tmp_path, environment={"NOARKIT_CLIENT_SECRET": "hush", "HOME": str(tmp_path)}))
    assert config.archive.client_secret is not None
    assert "hush" not in repr(config)
    assert config.archive.client_secret.read({"NOARKIT_CLIENT_SECRET": "hush"}).reveal() == "hush"


def test_connections_are_kept_as_they_stand(tmp_path: Path) -> None:
    assert read(tmp_path).connections == {"standin": {"url": "http://127.0.0.1:9000"}}


def test_a_config_can_be_handed_to_another_process(tmp_path: Path) -> None:
    config = read(tmp_path)
    assert pickle.loads(pickle.dumps(config.archive)) == config.archive  # noqa: S301  # our own bytes


def test_the_users_folder_follows_the_system() -> None:
    assert user_folder({"XDG_CONFIG_HOME": "/x"}, "linux") == Path("/x/noarkit")
    assert user_folder({"HOME": "/h"}, "linux") == Path("/h/.config/noarkit")
    assert user_folder({"APPDATA": "/roaming"}, "win32") == Path("/roaming/noarkit")


def test_lines_are_found_in_all_the_ways_toml_writes_keys() -> None:
    text = '\ufeffa.b = 1\n["c d".e] # note\n\'f\' = """\nx = 1\n"""\n[[g]]\nh=1\n[[g]]\nh=2\n'.lstrip("\ufeff")
    document = parse_toml(text, Path("t"))
    assert list(document.dotted_keys()) == ["a", "a.b", "c d", "c d.e", "c d.e.f", "g", "g.h", "g.h"]
    assert [document.where(key) for key in ("a.b", "c d.e.f", "g.h", "g.none", "none")] == [
        "t:1",
        "t:3",
        "t:7",
        "t:6",
        "t",
    ]


def test_connections_of_a_service_come_from_every_file_and_the_nearest_tells_of_each(tmp_path: Path) -> None:
    home, folder = tmp_path / "home" / ".config" / "noarkit", tmp_path / "here"
    for place, text in (
        (home, '[connections.crm.main]\napi_url = "far"\nclient_id = "c"\n[connections.crm.other]\napi_url = "o"\n'),
        (folder, '[connections.crm.main]\napi_url = "near"\n'),
    ):
        place.mkdir(parents=True)
        (place / "noarkit.toml").write_text(text)
    config = load(Sources(folder=folder, environment={"HOME": str(tmp_path / "home")}))
    assert config.connections["crm"] == {"main": {"api_url": "near"}, "other": {"api_url": "o"}}


def test_a_database_and_the_connections_of_a_service_are_told_apart(tmp_path: Path) -> None:
    config = read(tmp_path, '[connections.cases]\nurl = "postgresql://r@h/c"\n[connections.crm.main]\napi_url = "x"\n')
    assert dict(config.connections["cases"]) == {"url": "postgresql://r@h/c"}
    assert dict(config.connections["crm"]) == {"main": {"api_url": "x"}}
    for text, why, line in (
        ('[connections.crm]\nurl = "postgresql://r@h/c"\n', "connection-without-name", 2),
        ('[connections.crm.main]\napi_url = "x"\n[connections.crm]\nurl = "y"\n', "connection-without-name", 4),
        ('[connections.cmr.main]\napi_url = "x"\n', "connection-to-nothing", 1),
        ('[connections.cases]\npassword = { file = "/p" }\n', "connection-to-nothing", 2),
    ):
        with pytest.raises(ConfigFault) as told:
            read(tmp_path, text)
        assert (told.value.data["why"], str(told.value.data["where"]).rpartition(":")[2]) == (why, str(line))


def test_where_nobody_says_what_a_service_is_a_table_of_tables_is_one(tmp_path: Path) -> None:
    (tmp_path / "noarkit.toml").write_text(
        '[connections.own.main]\nkey = "x"\n[connections.cases]\nurl = "sqlite:///x"\n'
    )
    config = load(Sources(folder=tmp_path, environment={"HOME": str(tmp_path / "home")}))
    assert config.connections == {"own": {"main": {"key": "x"}}, "cases": {"url": "sqlite:///x"}}
