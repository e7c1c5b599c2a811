"""The profile `lenient` switch by switch, what strict archives refuse, and business metadata that nobody was shown."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import unquote

import pytest

from noarkit.archive.values import Save
from noarkit.archive.wire import transaction_body
from noarkit.errors import ConfigFault
from noarkit.manual.chapters import chapter_source
from noarkit.server.settings import PROFILES, Settings, read_settings
from noarkit.words.texts import LANGUAGES
from tests.server.calls.scene import entry_actions, make_scene
from tests.server.conftest import Archive
from tests.server.wire import Wire, document, link, save, small_archive

MEETING = {"tittel": "T", "saksbehandler": "S", "administrativEnhet": "AE", "moeteregistreringstype": "MS"}


def test_a_profile_sets_what_it_names_and_the_file_goes_before_it(tmp_path: Path) -> None:
    (tmp_path / "server.toml").write_text('profile = "lenient"\nquery_limit = 7')
    assert read_settings(tmp_path) == Settings(**{**PROFILES["lenient"], "profile": "lenient", "query_limit": 7})  # type: ignore[arg-type]  # as the table has them
    (tmp_path / "server.toml").write_text('profile = "loose"')
    with pytest.raises(ConfigFault):
        read_settings(tmp_path)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_manual_names_every_switch_and_no_other(lang: str) -> None:
    text = chapter_source("embedded-archive", lang)
    rows = [line for line in text.splitlines() if line.startswith("| `")]
    named = [name for row in rows for name in re.findall(r"`([a-z_]+)`", row.split("|")[1])]
    assert sorted(named) == sorted(Settings.__dataclass_fields__)
    assert "[users.NAME]" in text


def test_a_journal_post_stands_in_a_plain_folder_where_that_is_allowed(archive_with: Callable[..., Archive]) -> None:
    strict, lenient = make_scene(archive_with()), make_scene(archive_with(profile="lenient"))
    assert strict.wire.transaction(*entry_actions(strict.ids["folder"])).status == 400
    assert lenient.wire.transaction(*entry_actions(lenient.ids["folder"])).status == 200


def test_a_page_holds_a_thousand_where_that_is_allowed(archive: Archive, archive_with: Callable[..., Archive]) -> None:
    asked = {"type": "Mappe", "limit": 1000}
    assert archive.wire.call("POST", "query", asked).status == 400
    lenient = archive_with(profile="lenient").wire
    assert lenient.call("POST", "query", asked).status == 200
    assert lenient.call("POST", "query", asked | {"limit": 1001}).status == 400


def named(wire: Wire, sent: str, **fields: object) -> tuple[int, str]:
    """The status and the name of a version of a file that was uploaded under a name, saved with more fields."""
    about = {"Content-Disposition": f"attachment; filename*=utf-8''{sent}"}
    uploaded = str(wire.call("POST", "upload", b"x", headers=about).json()["id"])
    actions = document("@d", "@v", small_archive(wire)["@record"], uploaded)
    actions[2]["fields"] = {**actions[2]["fields"], **fields}  # type: ignore[dict-item]  # an object
    reply = wire.transaction(*actions)
    saved = reply.json()["saved"] if reply.status == 200 else {}
    return reply.status, saved["@v"]["fields"]["filnavn"] if isinstance(saved, dict) and saved else ""


def test_a_file_name_is_settable_and_keeps_its_blanks_where_that_is_allowed(
    archive: Archive, archive_with: Callable[..., Archive]
) -> None:
    lenient = archive_with(profile="lenient").wire
    assert named(archive.wire, "%20%20a.txt") == (200, "a.txt")
    assert named(lenient, "%20%20a.txt") == (200, unquote("%20%20a.txt"))
    assert named(archive.wire, "a.txt", filnavn="b.txt") == (400, "")
    assert named(archive.wire, "a.txt", filnavn="a.txt") == (200, "a.txt")
    assert named(lenient, "a.txt", filnavn="b.txt") == (200, "b.txt")


def test_a_version_gets_another_file_name_where_that_is_allowed(archive_with: Callable[..., Archive]) -> None:
    for profile, status in (("strict", 400), ("lenient", 200)):
        wire = archive_with(profile=profile).wire
        ids = small_archive(wire, str(wire.upload(b"x", "a.txt").json()["id"]))
        assert wire.transaction(save("Dokumentversjon", ids["@version1"], filnavn="b.txt")).status == status


def test_a_meeting_record_stands_in_a_meeting_folder_alone_where_a_switch_says_so(
    archive_with: Callable[..., Archive],
) -> None:
    for only, status in ((True, 400), (False, 200)):
        wire = archive_with(meeting_records_in_folders_only=only).wire
        series = small_archive(wire)["@series"]
        wire.call("PUT", "code-lists/administrativEnhet/AE", {"name": "Unit"})
        lists = wire.call("GET", "code-lists?field=moeteregistreringstype").json()["results"]
        code = lists[0]["values"][0]["code"]  # type: ignore[index]  # a list of lists
        made = save("Moeteregistrering", "@m", **MEETING | {"moeteregistreringstype": code})
        ways = (
            [made, link("Moeteregistrering", "@m", "refArkivdel", series)],
            [made, link("Arkivdel", series, "refRegistrering", "@m")],
        )
        assert [wire.transaction(*actions).status for actions in ways] == [status, status]


METADATA = {"staff": {"title": {"values": ["Chief"]}}}


def with_metadata(wire: Wire, **fields: object) -> str:
    """A folder that has business-specific metadata."""
    wire.call("PUT", "bsm-registry/group/staff", {"groupName": "Staff"})
    wire.call("PUT", "bsm-registry/group/staff/field/title", {"fieldName": "Title", "fieldType": "string"})
    folder = small_archive(wire)["@folder"]
    wire.saved(save("Mappe", folder, virksomhetsspesifikkeMetadata=METADATA, **fields))
    return folder


def read(wire: Wire, folder: str, *, public: bool) -> dict[str, object]:
    """The fields of a folder."""
    asked = {"type": "Mappe", "limit": 1, "query": "id=@i", "parameters": {"@i": folder}, "publicUse": public}
    results = wire.call("POST", "query", asked).json()["results"]
    return results[0]["fields"]  # type: ignore[no-any-return, index]  # a list of objects


@pytest.mark.parametrize("public", [True, False])
def test_what_a_client_reads_and_saves_takes_no_metadata_away(fresh_archive: Archive, public: bool) -> None:
    wire = fresh_archive.wire
    wire.call("PUT", "code-lists/skjerming/X", {"name": "X", "authority": "A"})
    folder = with_metadata(wire, skjerming="X")
    # as Java's client does: it echoes what it read, and sends an empty object where it read no metadata
    echoed = {"virksomhetsspesifikkeMetadata": {}} | read(wire, folder, public=public)
    assert (echoed["virksomhetsspesifikkeMetadata"] == {}) is public
    wire.saved(save("Mappe", folder, **echoed | {"beskrivelse": "changed"}))
    kept = read(wire, folder, public=False)
    assert kept["beskrivelse"] == "changed"
    assert kept["virksomhetsspesifikkeMetadata"] == {"staff": {"title": {"type": "string", "values": ["Chief"]}}}


def test_metadata_that_everyone_sees_is_taken_away_by_an_empty_object_and_any_by_null(fresh_archive: Archive) -> None:
    wire = fresh_archive.wire
    wire.call("PUT", "code-lists/skjerming/X", {"name": "X", "authority": "A"})
    open_one, screened_one = with_metadata(wire), with_metadata(wire, skjerming="X")
    wire.saved(save("Mappe", open_one, virksomhetsspesifikkeMetadata={}))
    wire.saved(save("Mappe", screened_one, virksomhetsspesifikkeMetadata=None))
    assert all(
        "virksomhetsspesifikkeMetadata" not in read(wire, each, public=False) for each in (open_one, screened_one)
    )


@pytest.mark.parametrize(("object_id", "is_sent"), [("17", False), ("@new", True)])
def test_our_own_client_never_empties_the_metadata_of_what_is_there(object_id: str, is_sent: bool) -> None:
    saving = Save("Mappe", object_id, {"tittel": "T", "virksomhetsspesifikkeMetadata": {}})
    body = transaction_body([saving])
    assert (b"virksomhetsspesifikkeMetadata" in body) is is_sent
    full = Save("Mappe", object_id, {"virksomhetsspesifikkeMetadata": METADATA})
    assert b"Chief" in transaction_body([full])
