"""The program that reads a document: in a sandbox without network, with limits on time, memory and what it writes.

It is asked for one thing by a line of JSON among its arguments, and answers with `answer.json` in the folder that it
may write. Whatever a document does to a library, the answer is what is shown or a code; the worst is no answer.
"""

from __future__ import annotations

import errno
import importlib
import logging
import sys
import warnings
from pathlib import Path

from noarkit.documents.refusal import DocumentRefused
from noarkit.errors import NoarkitError
from noarkit.reading_room.viewers.detection import detect_file
from noarkit.reading_room.viewers.job import Job, Reading, Refusal
from noarkit.reading_room.viewers.port import Answer, Detected, Line, Note, Rendering
from noarkit.reading_room.viewers.wire import pack, unpack

ANSWER = "answer.json"
PART = "part"
_KINDS = "noarkit.reading_room.viewers.kinds."
_BY_FORMAT = {
    **dict.fromkeys(("csv", "tsv"), ("tables", "show_table")),
    **dict.fromkeys(("xlsx", "ods"), ("workbooks", "show_workbook")),
    **dict.fromkeys(("docx", "odt", "odp"), ("prose", "show_writing")),
    "json": ("data", "show_json"),
    "html": ("markup", "show_page"),
    "pptx": ("slides", "show_slides"),
    "rtf": ("richtext", "show_rich_text"),
    "mbox": ("mail", "show_mailbox"),
}
_BY_KIND = {
    "pdf": ("pdf", "show_pdf"),
    "picture": ("pictures", "show_picture"),
    "text": ("text", "show_text"),
    "mail": ("mail", "show_mail"),
    "members": ("members", "show_members"),
    "media": ("plain", "show_media"),
    "facts": ("plain", "show_facts"),
}
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def main() -> None:
    """Does what the last argument asks for."""
    warnings.simplefilter("ignore")
    logging.disable()
    job = unpack(sys.argv[-1].encode("utf-8", "surrogateescape"), Job)
    answer = answer_to(job)
    Path(job.outputs, ANSWER).write_bytes(pack(answer))


def answer_to(job: Job) -> Answer:
    """What is made of a document. Never raises for what the document does."""
    detected: Detected | None = None
    try:
        detected = detect_file(job.document, job.name, job.stated_type)
        reading = Reading(job, detected)
        if job.task == "puid":
            return Answer(None, detected=detected, puid=_puid_of(job))
        if job.task == "part":
            return Answer(None, detected=detected, part_name=_write_part(reading))
        return Answer(_rendering(reading), detected=detected)
    except Refusal as refusal:
        return Answer(None, refusal.note, detected)
    except DocumentRefused as refused:
        return Answer(None, Note(str(refused.reason)), detected)
    except NoarkitError as fault:
        return Answer(None, Note("fault", {"fault": fault.code, "why": str(fault.data.get("why", ""))}), detected)
    except MemoryError:
        return Answer(None, Note("memory"), detected)
    except RecursionError:
        return Answer(None, Note("nested"), detected)
    except OSError as error:
        return Answer(None, Note("output" if error.errno in _NO_ROOM else "damaged"), detected)
    except Exception as error:  # noqa: BLE001  # a library may raise anything for a document
        return Answer(None, Note("damaged", {"error": type(error).__name__}), detected)


def _rendering(reading: Reading) -> Rendering | None:
    job = reading.job
    if job.task == "thumbnail":
        _draw_thumbnail(reading)
        return None
    module, function = _BY_FORMAT.get(reading.detected.format) or _BY_KIND[reading.detected.kind]
    rendering: Rendering = getattr(importlib.import_module(_KINDS + module), function)(reading)
    return rendering


def _puid_of(job: Job) -> str:
    """What PRONOM calls a format, by the bytes alone: the document has no name here."""
    import pygfried

    matches = pygfried.identify(job.path, True)["files"][0]["matches"]
    match = next((match for match in matches if match["id"] not in ("", "UNKNOWN")), None)
    if match is None:
        return ""
    return " ".join(str(match[name]) for name in ("id", "format", "version") if match[name])


def _write_part(reading: Reading) -> Line:
    """Writes the document within this one that is asked for, and says what it is called."""
    from noarkit.reading_room.viewers.kinds import mail, members

    target = reading.job.folder / PART
    if reading.detected.kind == "mail":
        return mail.write_attachment(reading, target)
    if reading.detected.format == "mbox":
        return mail.write_mail(reading, target)
    if reading.detected.kind == "members":
        return members.write_member(reading.job, target)
    raise Refusal("no-such-part", number=reading.job.number)


def _draw_thumbnail(reading: Reading) -> None:
    from noarkit.reading_room.viewers.kinds import pdf, pictures

    if reading.detected.kind == "pdf":
        pdf.draw_thumbnail(reading.job)
    elif reading.detected.kind == "picture":
        pictures.draw_thumbnail(reading.job)
    else:
        raise Refusal("no-thumbnail")
