"""What was changed in the archive of the receiver: the sender accepts it by name, just as it is, and the receipt closes
the case; anything else keeps it open."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from noarkit.airgap.acceptance import FINDINGS
from noarkit.forms.sealed.read import open_sealed
from noarkit.forms.sealed.write import SealOrder, seal_package
from noarkit.safe.signing import read_public
from tests.airgap.gap import Gap, Items, Said, forged, plain_file

pytestmark = pytest.mark.usefixtures("one_archive")
CHANGED_MS = 2**41


def write(gap: Gap, statement: str, *values: object) -> None:
    """Changes the receiver's archive beneath it."""
    assert gap.archive is not None
    with closing(sqlite3.connect(gap.archive.data_dir / "archive.db")) as db, db:
        assert db.execute(statement, values).rowcount == 1


def newest_record(gap: Gap, below: int = 2**62) -> tuple[int, str]:
    assert gap.archive is not None
    with closing(sqlite3.connect(gap.archive.data_dir / "archive.db")) as db:
        number, uuid = db.execute("SELECT max(id), uuid FROM o_abstraktregistrering WHERE id < ?", (below,)).fetchone()
    return int(number), str(uuid)


def retitle(gap: Gap, title: str) -> None:
    """Another user gives the newest record another title, always at the same moment."""
    number, uuid = newest_record(gap)
    write(gap, "UPDATE o_abstraktregistrering SET tittel = ? WHERE id = ?", title, number)
    columns = "object_id, system_id, type, revision_type, modified_ms, modified_by, modified_by_user_id"
    row = (
        number,
        uuid,
        "Basisregistrering",
        "UPDATE",
        CHANGED_MS,
        "Per",
        "per",
        "tittel",
        json.dumps({"tittel": title}),
    )
    write(
        gap, f"INSERT INTO change_log ({columns}, modified_field, new_value) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", *row
    )


def damage_a_file(gap: Gap) -> None:
    """The newest file that was loaded has other bytes of the same length."""
    assert gap.archive is not None
    with closing(sqlite3.connect("there/run.db")) as db:
        (sha256,) = db.execute("SELECT sha256 FROM entity WHERE sha256 IS NOT NULL ORDER BY n DESC LIMIT 1").fetchone()
    stored = next(path for path in gap.archive.data_dir.rglob(f"*{sha256[8:]}*") if path.is_file())
    stored.chmod(0o600)
    stored.write_bytes(b"X" + stored.read_bytes()[1:])


def ask(gap: Gap) -> None:
    """Loads a bundle, has a title changed by another user, and asks the sender to accept that."""
    assert gap.pack() == 0 and gap.load() == 0, gap.err
    retitle(gap, "another")
    assert gap.answer("there", "receipt.zip", "--request-out", "request.zip") == 3, gap.out
    assert "request.zip. It asks for 1 finding to be accepted" in gap.out, gap.out
    assert not Path("receipt.zip").exists()


def accept(gap: Gap, *keys: str, by: str = "Kari Nordmann") -> int:
    words = [word for key in keys for word in ("--accept", key)]
    sealing = ("--seal-key", gap.key("a"), "--trust-key", gap.public("b"))
    return gap.run("approve", "run", "--request", "request.zip", *words, "--by", by, "-o", "answer.zip", *sealing)


def findings_of(gap: Gap) -> list[dict[str, object]]:
    """What the sender is asked, as `approve --request` lists it."""
    assert gap.run("approve", "run", "--request", "request.zip", "--trust-key", gap.public("b"), "--json") == 0, gap.err
    lines = [json.loads(line) for line in gap.out.splitlines()]
    return [line for line in lines if line["event"] == "finding_for_sender"]


def receipt(gap: Gap, answer: str = "answer.zip") -> int:
    return gap.answer("there", "receipt.zip", "--acceptance", answer, "--trust-key", gap.public("a"))


def test_what_the_sender_accepts_by_name_closes_the_case_and_nothing_that_only_says_so(gap: Gap) -> None:
    ask(gap)
    (finding,) = findings_of(gap)
    assert finding["code"] == "V501" and "Basisregistrering.tittel: per" in str(finding["detail"])
    assert accept(gap, "nobody's") == 2 and accept(gap, str(finding["key"]), by=" ") == 2
    assert not Path("answer.zip").exists()
    assert accept(gap, str(finding["key"])) == 0, gap.err
    assert receipt(gap) == 0, gap.out
    assert "The receipt says: verified, with 1 finding accepted by Kari Nordmann." in gap.out
    lies: tuple[Said, ...] = ({"acceptance": "another"}, {"by": "Per"}, {"count": 2}, {"count": 0})
    for number, lie in enumerate(lies):

        def change(_items: Items, statement: Said, lie: Said = lie) -> None:
            accepted = statement["accepted"]
            assert isinstance(accepted, dict)
            accepted.update(lie)

        assert gap.close("run", str(forged(Path("receipt.zip"), Path(f"forged{number}"), gap, change))) == 7, lie
        assert gap.status()["state"] == "sealed"
    for page in Path("run").glob("delivered-*"):
        page.unlink()
    assert gap.close() == 0, gap.err
    assert "1 finding accepted by Kari Nordmann" in gap.out and gap.status()["state"] == "delivered"
    (page,) = Path("run").glob("delivered-*.html")
    assert "1 finding, by Kari Nordmann" in page.read_text("utf-8")


def test_a_damaged_document_is_counted_as_accepted_and_never_as_arrived(gap: Gap) -> None:
    assert gap.pack() == 0 and gap.load() == 0, gap.err
    damage_a_file(gap)
    assert gap.answer("there", "receipt.zip", "--request-out", "request.zip") == 7
    keys = [str(finding["key"]) for finding in findings_of(gap)]
    assert accept(gap, *keys) == 0, gap.err
    assert receipt(gap) == 0, gap.out
    assert gap.close() == 0, gap.err
    assert "Documents that arrived with the checksum they were sent with: 2 of 2" in gap.out


def test_one_finding_more_or_another_value_is_not_accepted_with_the_rest(gap: Gap) -> None:
    ask(gap)
    assert accept(gap, *(str(finding["key"]) for finding in findings_of(gap))) == 0, gap.err
    another_number, _ = newest_record(gap, below=newest_record(gap)[0])
    write(gap, "UPDATE o_abstraktregistrering SET tittel = tittel || '!' WHERE id = ?", another_number)
    assert receipt(gap) == 7, gap.out
    assert not Path("receipt.zip").exists() and "No receipt was made" in gap.out
    write(gap, "UPDATE o_abstraktregistrering SET tittel = rtrim(tittel, '!') WHERE id = ?", another_number)
    retitle(gap, "yet another")  # by the same user, at the same moment
    assert receipt(gap) == 3, gap.out
    assert not Path("receipt.zip").exists() and "No receipt was made" in gap.out


def test_an_acceptance_is_refused_that_the_sender_of_this_bundle_did_not_seal(gap: Gap) -> None:
    ask(gap)
    assert accept(gap, *(str(finding["key"]) for finding in findings_of(gap))) == 0, gap.err
    key = read_public(gap.public("a").read_bytes(), "a")
    with open_sealed(Path("answer.zip"), (key,), "acceptance") as sealed, sealed.open(FINDINGS) as content:
        findings, statement = content.read(1_000_000), dict(sealed.seal.statement)

    def seal(name: str, side: str, **changes: object) -> str:
        order = SealOrder(Path(name), "acceptance", "x", "2026-11-22T04:00:00+00:00", gap.signer(side))
        seal_package(iter([plain_file(FINDINGS, findings)]), order, lambda listed: {**statement, **changes})
        return name

    whole = Path("answer.zip").read_bytes()
    Path("touched.zip").write_bytes(whole.replace(b"Kari", b"Karl"))
    for name in (
        "touched.zip",
        "request.zip",
        seal("receiver", "b"),
        seal("bundle", "a", bundle="another"),
        seal("archive", "a", identity="another"),
        seal("nobody", "a", by=" "),
    ):
        assert (
            gap.answer(
                *("there", "receipt.zip", "--acceptance", name, "--trust-key", gap.public("a")),
                *("--trust-key", gap.public("b")),
            )
            == 4
        ), name
        assert not Path("receipt.zip").exists()
    assert receipt(gap, seal("honest", "a")) == 0, gap.err
