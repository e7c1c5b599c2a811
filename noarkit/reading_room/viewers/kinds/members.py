"""What lies in a zip or tar file: names, sizes and days, each file to be looked at in its turn.

The list is that of `safe.unpack`: an archive file that tries something (paths that lead out of it, links, more bytes
than it could hold) is refused with the code of the fault.
"""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import islice
from pathlib import Path

from noarkit.errors import NoarkitError
from noarkit.reading_room.viewers.job import Job, Reading, Refusal
from noarkit.reading_room.viewers.port import Line, Member, Members, Rendering
from noarkit.reading_room.viewers.signs import line_of
from noarkit.safe.unpack import Member as PackedFile
from noarkit.safe.unpack import UnpackLimits, stream_members

MEMBERS_IN_PAGE = 200
_MOST_COUNTED = 100_000
_LIMITS = UnpackLimits(members=2_000_000)
_MOST_BYTES = 1024 * 1024 * 1024


def show_members(reading: Reading) -> Rendering:
    """A page of the files of an archive file."""
    job = reading.job
    first = (job.page - 1) * MEMBERS_IN_PAGE
    members: list[Member] = []
    total = 0
    try:
        for member, _ in islice(stream_members(job.document, limits=_LIMITS, twins=True), _MOST_COUNTED):
            total += 1
            if first < total <= first + MEMBERS_IN_PAGE:
                members.append(_member_of(total, member))
    except NoarkitError as fault:
        raise Refusal("fault", fault=fault.code, why=str(fault.data.get("why", ""))) from fault
    pages = max(1, -(-total // MEMBERS_IN_PAGE))
    if job.page > pages:
        raise Refusal("no-such-page", page=job.page, pages=pages)
    return Rendering(reading.detected, Members(first + 1, tuple(members)), job.page, pages, job.page < pages)


def write_member(job: Job, target: Path) -> Line:
    """Writes one file of an archive file and says its name. Raises `Refusal` for one that is not there or too large."""
    try:
        for number, (member, content) in enumerate(stream_members(job.document, limits=_LIMITS, twins=True), start=1):
            if number == job.number:
                if member.size_bytes > _MOST_BYTES:
                    raise Refusal("too-large", limit=_MOST_BYTES)
                with target.open("wb") as file:
                    for block in content:
                        file.write(block)
                return line_of(member.name, 400)
    except NoarkitError as fault:
        raise Refusal("fault", fault=fault.code, why=str(fault.data.get("why", ""))) from fault
    raise Refusal("no-such-part", number=job.number)


def _member_of(number: int, member: PackedFile) -> Member:
    day = ""
    if member.modified_s is not None and 0 <= member.modified_s < 2**35:
        day = f"{datetime.fromtimestamp(member.modified_s, UTC):%Y-%m-%d}"
    return Member(number, line_of(member.name, 400), "", member.size_bytes, day)
