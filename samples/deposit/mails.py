"""The mails of the share: single ones in two forms, and a mailbox of two hundred."""

from __future__ import annotations

import random
from datetime import UTC, datetime
from email.message import EmailMessage
from email.utils import format_datetime

from samples.deposit import documents
from samples.deposit.listing import Case, Share
from samples.files.outlook import message

OWN = "saetre.kommune.no"
CITIZENS = tuple(
    (name, f"{name.split(' ')[0].lower()}@example.no")
    for name in ("Ola Nordmann", "Kari Nes", "Nils Holm", "Tor Berg", "Eva Li", "Jon Moe")
)
_OFFICE = ("Postmottak", f"post@{OWN}")
_NEIGHBOUR = ("Per Nabo", "per@example.no")
MESSAGES, NUMBERED, WITH_PDF, DAMAGED = 200, 187, 50, 3
_SUBJECTS = (
    *("SV: {title} (sak {ident})", "Sak {year}/{number:04}: {title}"),
    *("{title}, saksnr. {ident}", "VS: {ident} {title}"),
)
_OTHERS = ("Påminnelse om møtet", "Ferietid", "Nytt telefonnummer", "Takk for sist")


def letter(subject: str, citizen: tuple[str, str], day: datetime, way: str) -> bytes:
    """A mail that came in (I), went out (U), or passed between two citizens (X)."""
    return bytes(_mail(subject, citizen, day, way))


def outlook_letter(subject: str, citizen: tuple[str, str], day: datetime, way: str) -> bytes:
    """The same as Outlook saves it."""
    sender, receiver = _parties(citizen, way)
    return message(subject, sender, [(*receiver, 1)], day, f"Hei, det gjelder {subject}.")


def fill_mailbox(share: Share, chance: random.Random, part: int = 1) -> bytes:
    """The mailbox, or a part of it: which case each mail names in its subject, if any, is noted in the share."""
    messages = MESSAGES // part
    content, cases = b"", list(share.cases.values())
    numbered = set(chance.sample(range(messages), NUMBERED // part))
    with_pdf = set(chance.sample(range(messages), WITH_PDF // part))
    damaged = set(chance.sample(sorted(set(range(messages)) - with_pdf), DAMAGED))
    for index in range(messages):
        case = chance.choice(cases) if index in numbered else None
        year = case.year if case else chance.choice([each.year for each in cases])
        day = datetime(year, chance.randrange(1, 12), chance.randrange(1, 28), 9, index % 60, tzinfo=UTC)
        way = "IU"[index % 2]
        mail = _mail(_subject(case, index), CITIZENS[index % len(CITIZENS)], day, way)
        mail["Message-ID"] = f"<{index}.{year}@{OWN}>"
        if index in with_pdf:
            pdf = documents.pdf(f"Vedlegg {index}", day)
            mail.add_attachment(pdf, maintype="application", subtype="pdf", filename=f"Vedlegg {index}.pdf")
            mail.set_boundary(f"part-{index}")
        written = bytes(mail)
        if index in damaged:
            written = written.replace(b"\nDate: ", b"\nSubject: Enda et emne\nDate: ", 1)
        share.messages.append((case.ident if case else None, year))
        share.message_ways[way] += 1
        content += f"From post@{OWN} {day:%a %b %d %H:%M:%S %Y}\n".encode() + written.rstrip(b"\n") + b"\n\n"
    share.attachments = len(with_pdf)
    return content


def _subject(case: Case | None, index: int) -> str:
    if case is None:
        return _OTHERS[index % len(_OTHERS)]
    return _SUBJECTS[index % len(_SUBJECTS)].format(
        title=case.title, ident=case.ident, year=case.year, number=case.number
    )


def _mail(subject: str, citizen: tuple[str, str], day: datetime, way: str) -> EmailMessage:
    sender, receiver = _parties(citizen, way)
    mail = EmailMessage()
    mail["From"], mail["To"] = f"{sender[0]} <{sender[1]}>", f"{receiver[0]} <{receiver[1]}>"
    mail["Subject"], mail["Date"] = subject, format_datetime(day)
    mail.set_content(f"Hei, det gjelder {subject}.\n", charset="utf-8")
    return mail


def _parties(citizen: tuple[str, str], way: str) -> tuple[tuple[str, str], tuple[str, str]]:
    return {"I": (citizen, _OFFICE), "U": (_OFFICE, citizen), "X": (citizen, _NEIGHBOUR)}[way]
