"""Mail: parties, dates, subjects and attachments from whatever bytes claim to be a mail."""

from __future__ import annotations

import email.policy
import tempfile
from collections.abc import Mapping
from email.message import EmailMessage
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from noarkit.documents.mail import read_head, read_mail, with_direction
from noarkit.documents.mailbox import spans
from noarkit.errors import PlanFault
from noarkit.events import ignore_event
from noarkit.graph.entity import SetAside, Skipped
from noarkit.records import SourceItem, SourceRecord
from noarkit.sources.files.policy import FilePolicy
from noarkit.sources.files.source import FileTree

FROM_LINE = b"From ola@example.no Mon Jan  6 12:00:00 2020\n"


def letter(**headers: str) -> EmailMessage:
    """A mail with two attachments, one of them a mail."""
    message = EmailMessage(policy=email.policy.SMTP)
    message["From"] = "Kåre Ås <kare@example.no>"
    message["To"] = '"Ola, N." <ola@example.no>, per@example.no'
    message["Cc"] = "Arkiv <post@example.no>"
    message["Subject"] = "Søknad om båtplass ved Skråbrygga, med en lang tittel som må brytes over flere linjer i hodet"
    message["Date"] = "Tue, 02 Jan 2024 13:24:05 +0100"
    message["Message-ID"] = "<en@example.no>"
    message["References"] = "<null@example.no> <to@example.no>"
    for name, value in headers.items():
        message[name.replace("_", "-")] = value
    message.set_content("Hei.\nFrom meg til deg.\n")
    message.add_attachment(b"%PDF-1.7 kart", maintype="application", subtype="pdf", filename="kårt.pdf")
    inner = EmailMessage(policy=email.policy.SMTP)
    inner["Subject"] = "Indre"
    inner.set_content("inni")
    message.add_attachment(inner)
    return message


def read(tmp_path: Path, policy: FilePolicy) -> list[SourceItem]:
    """What a tree yields."""
    return list(FileTree(tmp_path, policy).records(ignore_event))


def one(tmp_path: Path, policy: FilePolicy) -> SourceRecord:
    """The only record."""
    (record,) = read(tmp_path, policy)
    assert isinstance(record, SourceRecord)
    return record


def mail_of(record: SourceRecord) -> Mapping[str, object]:
    """What a record says of its mail."""
    told = record.fields["mail"]
    assert isinstance(told, dict)
    return told


def test_a_mail_tells_who_when_and_what() -> None:
    told = read_head(bytes(letter())).fields
    assert told["from"] == [{"name": "Kåre Ås", "address": "kare@example.no", "role": "from"}]
    assert told["to"] == [
        {"name": "Ola, N.", "address": "ola@example.no", "role": "to"},
        {"name": "per@example.no", "address": "per@example.no", "role": "to"},
    ]
    assert told["subject"] == letter()["Subject"]
    assert told["date"] == "2024-01-02T12:24:05.000Z"
    assert told["message_id"] == "<en@example.no>"
    assert told["references"] == ["<null@example.no>", "<to@example.no>"]
    parties = told["parties"]
    assert isinstance(parties, list)
    assert [party["role"] for party in parties] == ["from", "to", "to", "cc"]


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (b"Subject: bl\xe5b\xe6r", "blåbær"),
        (b"Subject: bl\xc3\xa5b\xc3\xa6r", "blåbær"),
        (b"Subject: =?iso-8859-1?q?bl=E5b=E6r?=", "blåbær"),
        (b"Subject: =?utf-8?b?YmzDpWI=?=\r\n =?utf-8?b?w6Zy?=", "blåbær"),
        (b"Subject: =?no-such-set?q?bl=E5?=", "blå"),
        (b"Subject: =?utf-8?b?%%%?=", "=?utf-8?b?%%%?="),
        (b"Subject: a\r\n\tb", "a b"),
        (b"Subject:", ""),
    ],
)
def test_subjects_are_read_in_whatever_way_they_were_written(raw: bytes, expected: str) -> None:
    assert read_head(raw + b"\r\nFrom: a@b.no\r\n\r\n").fields["subject"] == expected


@pytest.mark.parametrize("date", ["", "i går", "Tue, 99 Jan 2024 13:24:05 +0100", "Tue, 02 Jan 2024 99:99:99 +9999"])
def test_a_date_that_is_none_is_left_open_and_told(date: str) -> None:
    told = read_head(f"From: a@b.no\r\nDate: {date}\r\n\r\n".encode())
    assert told.fields["date"] is None
    assert told.defective


def test_attachments_are_told_apart_from_the_body() -> None:
    told = read_mail(bytes(letter()))
    assert [(part.number, part.name, part.media_type) for part in told.attachments] == [
        (1, "kårt.pdf", "application/pdf"),
        (2, "part-2", "message/rfc822"),
    ]
    assert told.attachments[0].payload == b"%PDF-1.7 kart"
    assert b"Subject: Indre" in told.attachments[1].payload
    assert not told.defective


def test_a_mail_is_one_file_whole_unless_told_otherwise(tmp_path: Path) -> None:
    (tmp_path / "a.eml").write_bytes(bytes(letter()))
    record = one(tmp_path, FilePolicy())
    assert (record.kind, len(record.contents)) == ("file", 1)
    assert mail_of(record)["subject"] == letter()["Subject"]
    assert record.fields["media_type"] == "message/rfc822"


def test_a_mail_taken_apart_has_its_attachments_beside_it(tmp_path: Path) -> None:
    (tmp_path / "a.eml").write_bytes(bytes(letter()))
    record = one(tmp_path, FilePolicy(mail="parts"))
    assert record.kind == "mail"
    assert [content.locator for content in record.contents] == ["a.eml", "a.eml//part/1", "a.eml//part/2"]
    assert [content.name for content in record.contents] == ["a.eml", "kårt.pdf", "part-2"]
    with FileTree(tmp_path).open(record.contents[1]) as stream:
        assert stream.read(5) + stream.read() == b"%PDF-1.7 kart"


def test_a_mail_too_large_to_take_apart_is_taken_whole_with_a_note(tmp_path: Path) -> None:
    (tmp_path / "a.eml").write_bytes(bytes(letter()))
    record = one(tmp_path, FilePolicy(mail="parts", mail_limit_bytes=100))
    assert len(record.contents) == 1
    assert [note.code for note in record.notes] == ["W212"]
    assert mail_of(record)["message_id"] == "<en@example.no>"


def test_what_only_its_name_calls_a_mail_stays_a_file(tmp_path: Path) -> None:
    (tmp_path / "a.eml").write_bytes(b"\x00\xffikke noe brev")
    record = one(tmp_path, FilePolicy(mail="parts"))
    assert (record.kind, record.fields["mail"]) == ("file", {})
    assert [note.code for note in record.notes] == ["W217"]


def test_a_mailbox_in_a_tree_is_a_file_unless_told_otherwise(tmp_path: Path) -> None:
    (tmp_path / "inn.mbox").write_bytes(FROM_LINE + bytes(letter()))
    assert one(tmp_path, FilePolicy()).kind == "file"


def test_a_mailbox_gives_one_record_for_each_mail(tmp_path: Path) -> None:
    first = bytes(letter()).replace(b"\r\n", b"\n")
    second = first.replace(b"en@example", b"annen@example")
    (tmp_path / "inn").write_bytes(FROM_LINE + first + b"\n" + FROM_LINE + second + b"\n" + FROM_LINE + first + b"\n")
    records = [item for item in read(tmp_path, FilePolicy(mail="messages")) if isinstance(item, SourceRecord)]
    assert [record.key for record in records] == [
        "inn//<en@example.no>",
        "inn//<annen@example.no>",
        "inn//<en@example.no>//2",
    ]
    fields = records[1].fields
    assert (fields["folder"], fields["top"], fields["name"]) == ("inn", "inn", "000002.eml")
    source = FileTree(tmp_path)
    for record, expected in zip(records, (first, second, first), strict=True):
        with source.open(record.contents[0]) as stream:
            assert stream.read() == expected


def test_the_keys_of_mails_outlive_a_tidied_mailbox(tmp_path: Path) -> None:
    mails = [bytes(letter()).replace(b"en@example", b"%d@example" % number) for number in range(3)]
    mails[2] = mails[2].replace(b"Message-ID", b"X-ID")

    def keys(some: list[bytes]) -> list[str]:
        (tmp_path / "inn.mbox").write_bytes(b"\n".join(FROM_LINE + mail for mail in some))
        return [item.key for item in read(tmp_path, FilePolicy(mail="messages")) if isinstance(item, SourceRecord)]

    assert keys(mails)[1:] == keys(mails[1:])


def test_what_is_no_mailbox_is_set_aside_and_an_empty_one_skipped(tmp_path: Path) -> None:
    (tmp_path / "a.mbox").write_bytes(b"ikke en postkasse\n" + FROM_LINE)
    (tmp_path / "b.mbox").write_bytes(b"")
    told = read(tmp_path, FilePolicy(mail="parts"))
    assert [(type(item), item.record_key) for item in told if isinstance(item, SetAside | Skipped)] == [
        (SetAside, "a.mbox"),
        (Skipped, "b.mbox"),
    ]


lines = st.one_of(
    st.sampled_from([b"", b"\r", FROM_LINE[:-1], b"From meg til deg", b"From x 1:00", b">From x", b"Hei", b"x" * 70]),
    st.binary(max_size=30).map(lambda line: line.replace(b"\n", b"")),
)


@settings(max_examples=200, deadline=None)
@given(st.lists(lines, max_size=30), st.integers(1, 50))
def test_a_mailbox_is_cut_alike_whatever_the_size_of_the_blocks(text: list[bytes], block_bytes: int) -> None:
    content = FROM_LINE + b"\n".join(text)
    with tempfile.TemporaryFile() as file:
        file.write(content)
        file.flush()
        cut = list(spans(file.fileno(), block_bytes=block_bytes))
        assert cut == list(spans(file.fileno()))
        kept = sum(span.length for span in cut) + len(FROM_LINE) * len(cut)
        assert cut[0].offset == len(FROM_LINE)
        assert kept <= len(content)
        between = [content[one.offset + one.length : other.offset] for one, other in pairwise(cut)]
        assert all(gap in (b"\n" + FROM_LINE, b"\r\n" + FROM_LINE) for gap in between)


@pytest.mark.parametrize("block_bytes", [7, 1000, 4099])
def test_a_line_within_a_mail_is_no_beginning_wherever_a_block_ends(block_bytes: int) -> None:
    content = FROM_LINE + (b"x\n" + FROM_LINE) * 200
    with tempfile.TemporaryFile() as file:
        file.write(content)
        file.flush()
        assert list(spans(file.fileno(), block_bytes=block_bytes)) == [(len(FROM_LINE), len(content) - len(FROM_LINE))]


HEADERS = "From To Cc Date Subject Message-ID References Content-Type Content-Disposition Content-Transfer-Encoding X"
headers = st.sampled_from(HEADERS.split())
values = st.one_of(
    st.binary(max_size=60),
    st.sampled_from(
        [
            b"multipart/mixed; boundary=B",
            b"multipart/mixed",
            b'multipart/related; boundary="B',
            b"message/rfc822",
            b"text/plain; charset=no-such",
            b"attachment; filename*=utf-8''%ff%00",
            b"attachment; filename*0*=x'y'z; filename*1=q",
            b'attachment; filename="=?utf-8?b?w6U=?="',
            b"base64",
            b"quoted-printable",
            b"x-uuencode",
            b"a@b (((((",
            b"=?utf-8?q?=ff=fe?= <a@b>",
            b"<a@b>, , ;:",
            b"Mon, 32 Foo 99999 25:61:61 +99999",
            b"=?" * 30,
        ]
    ),
)


@st.composite
def almost_mail(draw: st.DrawFn) -> bytes:
    """Bytes that are nearly a mail."""

    def head() -> bytes:
        pairs = draw(st.lists(st.tuples(headers, values), max_size=6))
        return b"".join(name.encode() + b": " + value + b"\r\n" for name, value in pairs)

    body = draw(
        st.lists(st.one_of(st.binary(max_size=50), st.just(b"\r\n--B\r\n"), st.just(b"\r\n--B--\r\n")), max_size=6)
    )
    pieces = [piece + (head() + b"\r\n" if piece == b"\r\n--B\r\n" else b"") for piece in body]
    return head() + b"\r\n" + b"".join(pieces)


@settings(max_examples=400, deadline=None)
@given(st.one_of(almost_mail(), st.binary(max_size=200)))
def test_no_bytes_make_the_reader_of_mail_stumble(content: bytes) -> None:
    for told in (read_head(content), read_mail(content)):
        if told.is_mail:
            assert {"subject", "from", "to", "date", "parties"} <= set(told.fields)
            str(told.fields).encode("utf-8")
        assert all(isinstance(part.payload, bytes) and part.name for part in told.attachments)


def test_a_mail_nested_beyond_reason_is_read_as_far_as_its_head() -> None:
    content = b"From: a@b.no\r\n" + b"Content-Type: message/rfc822\r\n\r\n" * 3000 + b"slutt"
    told = read_mail(content)
    assert told.fields["from"]


HEAD = b"From: a@b.no\r\nSubject: x\r\nMIME-Version: 1.0\r\n"
PART = b"--B\r\nContent-Type: application/pdf\r\n\r\nx\r\n"
NESTED = b"".join(b"Content-Type: multipart/mixed; boundary=B%d\r\n\r\n--B%d\r\n" % (i, i) for i in range(800))


@pytest.mark.parametrize(
    "body", [b"Content-Type: multipart/mixed; boundary=B\r\n\r\n" + PART * 100_000 + b"--B--\r\n", NESTED + b"x" * 99]
)
def test_a_mail_with_more_parts_than_people_send_is_taken_whole_and_told(tmp_path: Path, body: bytes) -> None:
    (tmp_path / "a.eml").write_bytes(HEAD + body)
    record = one(tmp_path, FilePolicy(mail="parts"))
    assert (record.kind, len(record.contents), mail_of(record)["subject"]) == ("mail", 1, "x")
    assert [note.code for note in record.notes] == ["W218"]


def test_attachments_are_the_bytes_that_were_sent_whatever_surrounds_them() -> None:
    body = (
        b"Content-Type: multipart/mixed; boundary=B\r\n\r\npreamble --B\r\n--B\r\nContent-Type: multipart/alternative;"
        b" boundary=BB\r\n\r\n--BB\r\n\r\ntext\r\n--BB\r\nContent-Type: text/html\r\n\r\n<p>\r\n--BB--\r\n--B\r\n"
        b"Content-Disposition: attachment; filename*0*=utf-8''k%C3%A5; filename*1=rt.bin\r\n"
        b"Content-Transfer-Encoding: base64\r\n\r\nAAEC\r\nAwQ=\r\n--B\r\nContent-Type: message/rfc822\r\n\r\n"
        b"Subject: inni\r\nContent-Type: multipart/mixed; boundary=C\r\n\r\n--C\r\n\r\nx\r\n--C--\r\n\r\n"
        b"--B--\r\nepilogue"
    )
    told = read_mail(HEAD + body)
    assert [(part.name, part.media_type) for part in told.attachments] == [
        ("kårt.bin", "text/plain"),
        ("part-2", "message/rfc822"),
    ]
    assert told.attachments[0].payload == b"\x00\x01\x02\x03\x04"
    assert told.attachments[1].payload.startswith(b"Subject: inni") and told.attachments[1].payload.endswith(
        b"--C--\r\n"
    )
    assert not told.defective
    assert read_mail(HEAD + body.replace(b"--B--", b"")).defective


OURS = ("fjord.example", "@fjordby.example")


@pytest.mark.parametrize(
    ("headers", "direction"),
    [
        ("From: a@example.no\r\nTo: post@fjord.example", "in"),
        ("From: a@post.fjord.example\r\nTo: b@example.no, c@fjord.example", "out"),
        ("From: a@fjordby.example\r\nTo: c@fjord.example", "internal"),
        ("From: a@notfjord.example\r\nTo: b@example.no", "in"),
        ("From: a@fjord.example", "out"),
        ("From: Kari\r\nTo: b@example.no", "out"),
        ("From: Kari\r\nTo: b@FJORD.example", "in"),
        ("Subject: x", ""),
    ],
)
def test_the_owners_domains_tell_which_way_a_mail_went(headers: str, direction: str) -> None:
    told = with_direction(read_head(headers.encode()).fields, OURS)
    assert told["direction"] == direction
    assert with_direction(read_head(headers.encode()).fields, ())["direction"] == ""


def test_the_recipes_own_domains_reach_the_records(tmp_path: Path) -> None:
    (tmp_path / "a.eml").write_bytes(bytes(letter()))
    source = FileTree(tmp_path).fitted({"kind": "files", "mail": "parts", "own_domains": ["example.no"]})
    (record,) = [item for item in source.records(ignore_event) if isinstance(item, SourceRecord)]
    assert mail_of(record)["direction"] == "internal"
    settings_of = FileTree(tmp_path).fitted({"own_domains": "example.no"}).identity.settings
    assert settings_of == {"own_domains": ("example.no",)}
    with pytest.raises(PlanFault):
        FileTree(tmp_path).fitted({"own_domains": [1]})
