"""Mails outside the case files go to the case whose number their subject names; what is in doubt stays and is told."""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import pytest

from noarkit.errors import PlanFault
from noarkit.events import ignore_event
from noarkit.recipes import read_recipe
from noarkit.records import MailAccount, SourceRecord
from noarkit.sources.files.case_names import numbers_named, read_form
from noarkit.sources.files.policy import FilePolicy
from noarkit.sources.files.source import FileTree

FORM = "{year:4}-{number} {title}"
CASES = [f"{year}/{year}-{number:04} Sak om {number}" for year in (2014, 2015) for number in range(1, 14)]


def mail(subject: str) -> bytes:
    """A mail of 2014 with a subject."""
    return (
        f"From: a@fjord.kommune.no\nTo: b@example.no\nDate: Tue, 04 Mar 2014 13:24:05 +0100\n"
        f"Message-ID: <{subject.replace(' ', '.').replace('/', '-')}@x>\nSubject: {subject}\n\nHei\n"
    ).encode()


def mailbox(*subjects: str) -> bytes:
    """A mailbox with a mail for each subject."""
    return b"".join(b"From a Tue Mar  4 13:24:05 2014\n" + mail(subject) + b"\n" for subject in subjects)


def lay_out(root: Path, files: Mapping[str, bytes]) -> FileTree:
    """The case folders, each with a file of its year, and these files."""
    for name, content in {**{f"{case}/brev.txt": b"x" for case in CASES}, **files}.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        moment = datetime(int(name[:4]) if name[:4].isdigit() else 2014, 5, 6, tzinfo=UTC).timestamp()
        os.utime(path, (moment, moment))
    return FileTree(root)


def filed(source: FileTree, **settings: object) -> tuple[dict[str, str], MailAccount | None]:
    """The folder that each mail lies in, by its subject, and the account of it."""
    own = {"mail": "letters", "mail_cases": "number", "case_level": 2, "case_name": FORM}
    fitted = source.fitted({**own, **settings})
    folders = {}
    for record in fitted.records(ignore_event):
        if isinstance(record, SourceRecord) and record.kind == "mail":
            fields, steps = record.fields["mail"], record.fields["folders"]
            assert isinstance(fields, Mapping) and isinstance(steps, list)
            folders[str(fields["subject"])] = "/".join(steps)
    return folders, fitted.mail_account()


@pytest.mark.parametrize(
    ("form", "text", "numbers"),
    [
        (FORM, "SV: Høring (sak 2014/7-3)", "2014/7"),
        (FORM, "[2014/0007] Høring", "2014/7"),
        (FORM, "Sak 2014/7 og 2015/12, igjen 2014/7", "2014/7 2015/12"),
        (FORM, "Møte 2014-03-12, og 2014/03/12", ""),
        (FORM, "Budsjett 2014-2017", ""),
        (FORM, "PS 2014/7 og FS-sak 2014/8", ""),
        (FORM, "VS: 2014/7", "2014/7"),
        (FORM, "Møte 14/7", ""),
        ("{year:2}-{number} {title}", "Møte 14/7, saksnr. 14/8", "2014/8"),
        ("{number}-{year:2} {title}", "Møte 7/14, arkivsak 8/14", "2014/8"),
        ("{number}-{year:4} {title}", "Om 123-2014", "2014/123"),
        ("{year:4}{number:5} {title}", "Ref 201400123, tlf 20140312", "2014/123"),
    ],
)
def test_a_number_in_a_running_text_is_told_from_dates_and_boards(form: str, text: str, numbers: str) -> None:
    assert " ".join(numbers_named(text, read_form(form))) == numbers


def test_each_mail_of_a_mailbox_goes_to_the_case_that_it_names(tmp_path: Path) -> None:
    content = mailbox("SV: veg (sak 2014/7)", "Ferie", "2015/0013 kloakk", "2014/99", "2014/1 og 2015/1")
    folders, account = filed(lay_out(tmp_path, {"E-post/Inn.mbox": content}))
    assert folders == {
        "SV: veg (sak 2014/7)": "2014/2014-0007 Sak om 7",
        "2015/0013 kloakk": "2015/2015-0013 Sak om 13",
        "Ferie": "E-post/Inn.mbox",
        "2014/99": "E-post/Inn.mbox",
        "2014/1 og 2015/1": "E-post/Inn.mbox",
    }
    assert account is not None
    assert (account.mails, account.by_number, account.no_number, account.unknown, account.several) == (5, 2, 1, 1, 1)
    assert [(mail.why, mail.numbers) for mail in account.unfiled] == [
        ("no_number", ""),
        ("unknown", "2014/99"),
        ("several", "2014/1, 2015/1"),
    ]


def test_a_filed_mail_says_of_its_case_what_the_files_in_it_say(tmp_path: Path) -> None:
    source = lay_out(tmp_path, {"Inn.mbox": mailbox("Om 2014/7")})
    settings = {"mail": "letters", "mail_cases": "number", "case_level": 2, "case_name": FORM}
    records = [item for item in source.fitted(settings).records(ignore_event) if isinstance(item, SourceRecord)]
    letter = next(record for record in records if record.kind == "mail")
    file = next(record for record in records if "2014-0007" in record.key)
    assert [letter.fields[name] for name in ("folders", "top", "case")] == [
        file.fields[name] for name in ("folders", "top", "case")
    ]
    assert letter.fields["folder"] == "Inn.mbox", "where it lies is still told"


def test_a_mail_stays_where_somebody_laid_it(tmp_path: Path) -> None:
    files = {
        "2014/2014-0003 Sak om 3/om.eml": mail("Om 2014/7"),
        "2014/2014-0003 Sak om 3/flere.mbox": mailbox("Om 2014/8"),
        "2014/Diverse/om.eml": mail("Om 2014/9"),
        "2014/Diverse/flere.mbox": mailbox("Om 2014/10"),
        "Inn/om.eml": mail("Om 2014/11"),
    }
    folders, account = filed(lay_out(tmp_path, files))
    assert folders == {
        "Om 2014/7": "2014/2014-0003 Sak om 3",
        "Om 2014/8": "2014/2014-0003 Sak om 3/flere.mbox",
        "Om 2014/9": "2014/Diverse",
        "Om 2014/10": "2014/2014-0010 Sak om 10",
        "Om 2014/11": "2014/2014-0011 Sak om 11",
    }
    assert account is not None and account.mails == 2


def test_a_number_that_two_folders_bear_decides_nothing_unless_one_is_left_out(tmp_path: Path) -> None:
    twin = "2014-7 Samme nummer"
    source = lay_out(tmp_path, {f"2014/{twin}/a.txt": b"x", "Inn.mbox": mailbox("Om 2014/7")})
    assert filed(source)[0] == {"Om 2014/7": "Inn.mbox"}
    assert filed(source, case_exceptions=[twin])[0] == {"Om 2014/7": "2014/2014-0007 Sak om 7"}


def test_mails_stay_and_a_mailbox_is_one_file_where_nobody_says_otherwise(tmp_path: Path) -> None:
    source = lay_out(tmp_path, {"Inn.mbox": mailbox("Om 2014/7")})
    assert filed(source, mail_cases="folder") == ({}, None)


def test_the_proposal_says_how_many_name_a_case(tmp_path: Path) -> None:
    subjects = [f"Om 2014/{number}" for number in range(1, 7)] + ["Ferie", "Kake"]
    text = lay_out(tmp_path, {"Inn.mbox": mailbox(*subjects)}).proposal(ignore_event)
    assert 'mail_cases = "number"' in text.splitlines()
    assert "# 8 messages in 1 mailbox were looked at: 6 have the number of a case folder in the subject" in text
    assert read_recipe(text).source_settings("files")["mail_cases"] == "number"


def test_the_proposal_asks_where_few_do_and_is_silent_where_none_does(tmp_path: Path) -> None:
    few = ["Om 2014/1", "Om 2014/2", "Om 2014/3", *(f"Kake {number}" for number in range(20))]
    text = lay_out(tmp_path / "a", {"Inn.mbox": mailbox(*few)}).proposal(ignore_event)
    assert '# mail_cases = "number"' in text.splitlines()
    assert "mail_cases" not in read_recipe(text).source_settings("files")
    none = lay_out(tmp_path / "b", {"Inn.mbox": mailbox("Kake")}).proposal(ignore_event)
    assert "mail_cases" not in none


def test_another_way_of_filing_is_refused() -> None:
    with pytest.raises(PlanFault):
        FilePolicy().with_settings({"mail_cases": "guess"})
