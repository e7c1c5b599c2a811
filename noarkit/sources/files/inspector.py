"""Looks into files while the walk stands at them: media type, PUID, and what a mail says of itself."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from typing import NamedTuple, Self

from noarkit.documents import detect, mail, mailbox, outlook
from noarkit.documents.detect import MediaTypes
from noarkit.documents.mail import Mail
from noarkit.documents.office_type import UNTOLD, office_type
from noarkit.documents.properties import saved_at
from noarkit.errors import SourceFault
from noarkit.graph.entity import Content, Note, SetAside, Skipped
from noarkit.records import SourceItem, SourceRecord
from noarkit.safe.descriptors import read_at
from noarkit.safe.spill import KeySet
from noarkit.sources.files import folders, policy
from noarkit.sources.files.codecs import unaccepted_codec
from noarkit.sources.files.conditions import conditions
from noarkit.sources.files.file_filter import FoundFile
from noarkit.sources.files.names import key_of
from noarkit.sources.files.policy import CODEC, FilePolicy
from noarkit.sources.files.puids import Puids
from noarkit.sources.files.records import RecordMaker
from noarkit.sources.files.streams import WITHIN
from noarkit.sources.files.walk import EmptyFolder

_MAILBOXES = frozenset({"mbox", "mbx"})
_LONGEST_IDENTIFIER = 250


class Findings(NamedTuple):
    """What is found in a file that is no mail: its media type and PUID, the codes of what stands in the way, and when
    it says that it was saved."""

    media_type: str | None
    puid: str | None
    notes: tuple[str, ...]
    saved: str | None


Look = Findings | tuple[SourceItem, ...] | None
"""What a look into a file gives: findings, items where they are made of what it holds, None for a file of mails."""


class Inspector:
    """Makes the records of files by what they hold. Use as a context: it may have a worker process."""

    def __init__(self, maker: RecordMaker, file_policy: FilePolicy, media_types: MediaTypes | None = None) -> None:
        self._maker = maker
        self._policy = file_policy
        self._media_types = (media_types or MediaTypes()) if file_policy.media_types else None
        self._closing = ExitStack()
        self._puids = self._closing.enter_context(Puids()) if file_policy.puids else None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self._closing.close()

    def sibling(self) -> Inspector:
        """Another one for a child process that was forked: it shares what was read of signatures."""
        return Inspector(self._maker, self._policy, self._media_types)

    def items(self, file: FoundFile) -> Iterator[SourceItem]:
        """The record of a file, or those of the mails in it; set aside where it cannot be read."""
        if not self.must_open(file):
            yield self._maker.file(file)
            return
        yield from self.items_of(file, self.look(file))

    def plain(self, item: EmptyFolder | SetAside | Skipped) -> SourceItem:
        """What becomes of an item of the walk that is no file."""
        return self._maker.folder(item) if isinstance(item, EmptyFolder) else item

    def must_open(self, file: FoundFile) -> bool:
        """True if the name of a file and what the system says of it are not enough."""
        file_policy = self._policy
        if file_policy.media_types or file_policy.puids or file_policy.mail != "file" or file_policy.reads_documents:
            return True
        return _ext(file.name) in detect.MAIL_FILES

    def look(self, file: FoundFile) -> Look:
        """Opens a file and looks. Nothing that the file holds is a fault: it is set aside."""
        key = file.folder.key + key_of(file.name)
        try:
            with _Opened(file, key) as descriptor:
                return self._look(file, key, descriptor)
        except SourceFault as fault:
            return (SetAside(key, fault.code, fault.data),)

    def items_of(self, file: FoundFile, look: Look) -> Iterator[SourceItem]:
        """The items of a file that was looked at. The handle of its folder is needed for a file of mails alone."""
        if isinstance(look, Findings):
            yield self._record(file, look)
        elif look is not None:
            yield from look
        else:
            yield from self._mails_in(file)

    def _look(self, file: FoundFile, key: str, descriptor: int) -> Look:
        ext, size = _ext(file.name), file.status.st_size
        findings, head = self._findings(descriptor, key, ext, size)
        if self._policy.cuts_mailboxes and (ext in _MAILBOXES or detect.looks_like_mailbox(head)):
            return None
        if ext == "msg" or findings.media_type == outlook.MEDIA_TYPE:
            return (self._outlook(self._record(file, findings), descriptor, size),)
        if ext == "eml" or self._is_mail(head, ext, findings.media_type):
            with folders.faults(key):
                return (self._mail(self._record(file, findings), descriptor, 0, size),)
        return findings

    def _findings(self, descriptor: int, key: str, ext: str, size: int) -> tuple[Findings, bytes]:
        media_type, notes, saved = None, tuple[Note, ...](), None
        with folders.faults(key):
            head = read_at(descriptor, detect.HEAD_BYTES, 0)
            if self._media_types:
                media_type = self._media_types.of(head, ext)
                better, notes = conditions(descriptor, size, head)
                if better is None and media_type in UNTOLD:
                    better = office_type(descriptor, size, head)
                media_type = better or media_type
                if unaccepted_codec(descriptor, size, ext):
                    notes = (*notes, CODEC)
            if self._policy.reads_documents:
                saved = saved_at(descriptor, size, head)
        puid = self._puids.of(descriptor, ext, head) if self._puids else None
        return Findings(media_type, puid, tuple([note.code for note in notes]), saved), head

    def _record(self, file: FoundFile, findings: Findings) -> SourceRecord:
        media_type, puid, codes, saved = findings
        record = self._maker.file(file, media_type=media_type, puid=puid, saved=saved)
        return replace(record, notes=(*record.notes, *map(Note, codes))) if codes else record

    def _mails_in(self, file: FoundFile) -> Iterator[SourceItem]:
        """The mails of a mailbox, one by one."""
        key = file.folder.key + key_of(file.name)
        try:
            with _Opened(file, key) as descriptor:
                findings, _ = self._findings(descriptor, key, _ext(file.name), file.status.st_size)
                yield from self._mailbox(self._record(file, findings), descriptor)
        except SourceFault as fault:
            yield SetAside(key, fault.code, fault.data)

    def _is_mail(self, head: bytes, ext: str, media_type: str | None) -> bool:
        """True for a mail whatever its name; where single mails become letters, a saved web page (.mht) is none."""
        if self._policy.mail == "letters" and ext in detect.SAVED_PAGES:
            return False
        return media_type == detect.MAIL or (self._policy.mail != "file" and detect.looks_like_mail(head, ext))

    def _mail(self, record: SourceRecord, descriptor: int, offset: int, length: int) -> SourceRecord:
        """The record with what the mail says; a file that is no mail stays a file."""
        with_parts = self._extracts_parts(length)
        content = read_at(descriptor, length if with_parts else min(length, mail.HEAD_BYTES), offset)
        return self._with_mail(record, mail.read_mail(content) if with_parts else mail.read_head(content), length)

    def _outlook(self, record: SourceRecord, descriptor: int, length: int) -> SourceRecord:
        """The record with what an Outlook message says; one that cannot be read stays a file."""
        if length > self._policy.mail_limit_bytes:
            return replace(record, notes=(*record.notes, policy.MAIL_TOO_LARGE))
        with os.fdopen(os.dup(descriptor), "rb") as file:
            message = outlook.read_message(file, include_parts=self._extracts_parts(length))
        return self._with_mail(record, message, length, outlook.MEDIA_TYPE)

    def _extracts_parts(self, length: int) -> bool:
        return self._policy.mail in ("letters", "parts") and length <= self._policy.mail_limit_bytes

    def _with_mail(
        self, record: SourceRecord, message: Mail, length: int, media_type: str | None = None
    ) -> SourceRecord:
        notes = list(self._mail_notes(message, length))
        if not message.is_mail:
            return replace(record, notes=(*record.notes, *notes))
        fields = {**record.fields, "mail": mail.with_direction(message.fields, self._policy.own_domains)}
        main = record.contents[0]
        if media_type and self._media_types:
            fields["media_type"] = media_type
            main = replace(main, media_type=media_type)
        return replace(
            record,
            kind="file" if self._policy.mail == "file" else "mail",
            fields=fields,
            contents=(main, *self._attachments(record, message)),
            notes=(*record.notes, *notes),
        )

    def _mail_notes(self, message: Mail, length: int) -> Iterator[Note]:
        if self._policy.mail in ("letters", "parts") and length > self._policy.mail_limit_bytes:
            yield policy.MAIL_TOO_LARGE
        if message.too_complex:
            yield policy.MAIL_TOO_COMPLEX
        if not message.is_mail:
            yield policy.MAIL_UNREADABLE
        elif message.defective:
            yield policy.MAIL_DEFECTS
        if message.within:
            yield Note(policy.MAIL_WITHIN, {"count": message.within})

    def _attachments(self, record: SourceRecord, message: Mail) -> Iterator[Content]:
        mail_content = record.contents[0]
        for attachment in message.attachments:
            media_type = attachment.media_type
            if media_type == "application/octet-stream" and self._media_types:
                media_type = self._media_types.of(
                    attachment.payload[: detect.HEAD_BYTES], _ext(attachment.name.encode())
                )
            locator = f"{mail_content.locator}{WITHIN}part/{attachment.number}"
            yield Content(
                locator, attachment.name, len(attachment.payload), mail_content.modified_ns, None, media_type, None
            )

    def _mailbox(self, record: SourceRecord, descriptor: int) -> Iterator[SourceItem]:
        """One record for each mail. Its key is its Message-ID within the mailbox, so that it outlives a tidying up."""
        number = 0
        size = os.fstat(descriptor).st_size
        with KeySet() as names:
            for number, span in enumerate(_spans(record.key, descriptor), start=1):
                head = mail.header_block(read_at(descriptor, min(span.length, mail.HEAD_BYTES), span.offset))
                name = _identity(head)
                times = names.count_up(name)
                key = f"{record.key}{WITHIN}{name}" + (f"{WITHIN}{times}" if times > 1 else "")
                yield self._mail(_mailbox_record(record, key, number, span), descriptor, span.offset, span.length)
        if not number and size:
            yield SetAside(record.key, "F206", {"key": record.key, "why": "no mailbox"})
        elif not number:
            yield Skipped(record.key, policy.SKIPPED_NO_MAIL)


class _Opened:
    """A file that is open as long as a block lasts; a class, since a generator takes three times as long."""

    __slots__ = ("_descriptor", "_file", "_key")

    def __init__(self, file: FoundFile, key: str) -> None:
        self._file = file
        self._key = key

    def __enter__(self) -> int:
        folder, name, _, _, through_link = self._file
        with folders.faults(self._key):
            self._descriptor = folders.open_file(name, folder.handle, key=self._key, follow=through_link)
        return self._descriptor

    def __exit__(self, *exc: object) -> None:
        os.close(self._descriptor)


def _spans(key: str, descriptor: int) -> Iterator[mailbox.Span]:
    with folders.faults(key):
        yield from mailbox.spans(descriptor)


def _identity(head: bytes) -> str:
    message_id = mail.read_head(head).fields.get("message_id", "")
    if isinstance(message_id, str) and 0 < len(message_id) <= _LONGEST_IDENTIFIER:
        return key_of(message_id.encode("utf-8", "replace")).replace("/", "%2F")
    return f"head-{hashlib.sha256(head).hexdigest()[:32]}"


def _mailbox_record(record: SourceRecord, key: str, number: int, span: mailbox.Span) -> SourceRecord:
    """The mailbox's record made that of one of its mails; the mailbox is then a folder."""
    fields = record.fields
    name = f"{number:06}.eml"
    path, folders_above = str(fields["path"]), _strings(fields["parts"])
    return replace(
        record,
        key=key,
        fields={
            **fields,
            "path": f"{path}/{name}",
            "parts": [*folders_above, name],
            "folder": path,
            "folders": folders_above,
            "top": folders_above[0],
            "name": name,
            "stem": name[:-4],
            "ext": "eml",
            "depth": len(folders_above),
            "size": span.length,
            "media_type": detect.MAIL,
            "puid": None,
        },
        contents=(
            replace(
                record.contents[0],
                locator=f"{record.contents[0].locator}{WITHIN}{span.offset}+{span.length}",
                name=name,
                size_bytes=span.length,
                media_type=detect.MAIL,
                puid=None,
            ),
        ),
    )


def _strings(value: object) -> list[str]:
    return [str(item) for item in value] if isinstance(value, list) else []


def _ext(name: bytes) -> str:
    stem, _, ext = name.rpartition(b".")
    return ext.lower().decode("ascii", "replace") if stem else ""
