"""Which files hold secrets of noarkit: they are left out of whatever is read, converted, listed or searched.

A walk judges names first (`may_hold_secrets`), so that of a million files few are opened for it; then the first bytes
decide (`holds_secrets`). A file of the same name that holds no secret is a file like any other. A zip or tar with
such a member is one itself, since it would be taken whole.
"""

from __future__ import annotations

import io
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tarfile import TarFile
from tempfile import TemporaryFile
from typing import BinaryIO, cast

from noarkit.errors import HostileInput, PackageFault
from noarkit.safe import zipped
from noarkit.safe.descriptors import NO_TERMINAL, NO_WAITING, is_plain_file, open_descriptor
from noarkit.safe.digest import BLOCK_BYTES, Readable
from noarkit.safe.unpack import BROKEN, Form, StrictReader, expand_stream, form_of_head

CLIENTS_FILE = "clients.toml"
"""The clients of an embedded archive, with their secrets; it lies in the archive's folder, and in its backups."""
SKIPPED_SECRETS = "a file with secrets of noarkit"
"""Why a source skips such a file."""
HEAD_BYTES = 64 * 1024

_NAMES = re.compile(rb"client|noarkit|grant|webhook|\.toml|\.key|\.secret", re.IGNORECASE)
_ARCHIVES = re.compile(rb"\.(?:zip|tar(?:\.\w+)?|t[bgx]z2?)\Z", re.IGNORECASE)
_SERVICE_SECRET = re.compile(rb".*-(?:crm|spend|appsec|features)-.*\.secret", re.IGNORECASE | re.DOTALL)
_ACCOUNT = re.compile(rb"^\s*\[(?:clients|users)\.", re.M)
_ACCOUNT_SECRET = re.compile(rb"^\s*(?:secret|password)\s*=", re.M)
# a config names where a secret lies; one that has the secret itself is refused, and is a secret all the same
_CONFIG = re.compile(rb"^\s*\[(?:archive|connections|profiles?|operations)\b", re.M)
_PLAIN_SECRET = re.compile(
    rb"""^\s*"?[\w.-]*(?:secret|password|passphrase|token)s?"?\s*=\s*\[?\s*["']""", re.M | re.IGNORECASE
)
_PRIVATE_KEY = re.compile(rb"\s*-----BEGIN (?:EC |RSA )?PRIVATE KEY-----")
_STORES = ((b'"access_token"', b'"renew_at"'), (b'"secret_before"', b'"secret"'))


def may_hold_secrets(name: bytes) -> bool:
    """True for the name of a file that is worth a look."""
    return _NAMES.search(name) is not None or _ARCHIVES.search(name) is not None


def holds_secrets(name: bytes, head: bytes) -> bool:
    """True for a file that begins with these bytes and holds secrets of noarkit: clients of an archive, grants and
    webhooks of connections, a private key, a config with a secret in it."""
    if _PRIVATE_KEY.match(head) or _SERVICE_SECRET.fullmatch(name):
        return True
    if _ACCOUNT.search(head) and _ACCOUNT_SECRET.search(head):
        return True
    if _CONFIG.search(head) and _PLAIN_SECRET.search(head):
        return True
    return any(all(member in head for member in members) for members in _STORES)


def reads_secrets(name: bytes, file: Readable, *, with_members: bool = True) -> bool:
    """True for a file, open at its beginning, that holds secrets itself or, as a zip or tar, in a member of it."""
    head = file.read(HEAD_BYTES)
    if holds_secrets(name, head):
        return True
    form = form_of_head(head) if with_members and _ARCHIVES.search(name) else None
    if form is None:
        return False
    with _seekable(head, file) as whole:
        try:
            return any(holds_secrets(os.fsencode(member), begin) for member, begin in _heads(whole, form))
        except (*BROKEN, HostileInput, PackageFault):
            return False  # whoever reads it will say what is wrong with it


@contextmanager
def _seekable(head: bytes, file: Readable) -> Iterator[BinaryIO]:
    """A file of which the head was read, from its beginning on: itself, or what it unpacks to where it is packed."""
    if isinstance(file, io.BufferedReader):
        file.seek(0)
        yield file
        return
    with TemporaryFile() as whole:
        whole.write(head)
        while block := file.read(BLOCK_BYTES):
            whole.write(block)
        whole.seek(0)
        yield cast(BinaryIO, whole)  # Windows wraps it


def _heads(whole: BinaryIO, form: Form) -> Iterator[tuple[str, bytes]]:
    """The first bytes of the members whose names are worth a look."""
    if form == "zip":
        entries = [entry for entry in zipped.entries(whole) if not entry.encrypted and _is_member(entry.name)]
        for entry in entries:
            content = zipped.open_entry(whole, entry.name, entry.packing, entry.size_bytes)
            yield entry.name.rpartition("/")[2], content.read(HEAD_BYTES)
        return
    with TarFile(fileobj=StrictReader(expand_stream(whole, form)), mode="r") as archive:
        while (info := archive.next()) is not None:
            archive.members.clear()  # type: ignore[attr-defined]  # the library keeps every header it ever read
            source = archive.extractfile(info) if info.isreg() and _is_member(info.name) else None
            if source is not None:
                yield info.name.rpartition("/")[2], source.read(HEAD_BYTES)


def _is_member(name: str) -> bool:
    return _NAMES.search(os.fsencode(name.rpartition("/")[2])) is not None


def is_secret_file(name: bytes, open_file: Callable[[], int], *, look: bool = False, with_members: bool = True) -> bool:
    """True if a file holds secrets; `open_file` answers with a descriptor of it, and is called only where its name, or
    `look`, makes that worthwhile. What cannot be read is told by whoever reads it."""
    if not look and not may_hold_secrets(name):
        return False
    try:
        descriptor = open_file()
    except OSError:
        return False
    with os.fdopen(descriptor, "rb") as file:
        try:
            return is_plain_file(descriptor) and reads_secrets(name, file, with_members=with_members)
        except OSError:
            return False


def is_secret_path(path: Path, *, with_members: bool = False) -> bool:
    """True for a file that somebody names, whatever it is called, or the link that leads to one. A zip or tar is one
    only `with_members`: others look into it, and leave these out."""
    flags = os.O_RDONLY | NO_WAITING | NO_TERMINAL
    name = os.fsencode(path.name)
    return is_secret_file(name, lambda: open_descriptor(path, flags), look=True, with_members=with_members)
