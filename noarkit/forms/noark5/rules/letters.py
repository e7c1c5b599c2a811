"""Checks each case file and letter when it closes, and keeps what the journals are held against."""

from __future__ import annotations

from noarkit.forms.noark5.rules.keys import sorted_keys, text_key, whole_number
from noarkit.forms.noark5.rules.relations import check_rising
from noarkit.forms.noark5.rules.store import pack_id
from noarkit.forms.noark5.rules.titles import (
    HIDDEN_CLASS,
    HIDDEN_CLASS_TITLE,
    HIDDEN_FOLDER,
    HIDDEN_TITLE,
    SCREENED,
    hides_title,
    is_screened_by,
)
from noarkit.forms.noark5.rules.walk_state import Frame, WalkState

CLOSED_ENTRY = frozenset({"Arkivert", "Utgår"})
VOID = "Utgår"
SENT, RECEIVED, OTHER, ANSWERS = "|sent", "|received", "|other", "|answers"
"""What the groups in a letter leave with its values; no element has such a name."""
_HIDDEN_SENDER = "Skjerming navn avsender"
_HIDDEN_RECEIVER = "Skjerming navn mottaker"


def judge_case_file(state: WalkState, frame: Frame) -> None:
    """A case file."""
    values = frame.values
    row = (
        frame.at,
        pack_id(values.get("systemID", "")),
        whole_number(values.get("saksaar")),
        whole_number(values.get("sakssekvensnummer")),
        state.series_at,
        values.get("journalenhet", ""),
        text_key(values.get("tittel")),
        1 if hides_title(values, HIDDEN_FOLDER) else 0,
        text_key(values.get("mappeID")),
        *_class_of(frame),
    )
    state.store.add("cases", row)


def judge_letter(state: WalkState, frame: Frame, parent: Frame, status: str) -> None:
    """A letter."""
    values, inner = frame.values, frame.inner
    kind = values.get("journalposttype", "")
    if status and status not in CLOSED_ENTRY:
        state.hit("N323", frame.at, value=status)
    if status == VOID and inner.get("files"):
        state.hit("N326", frame.at)
    if not inner.get("party"):
        state.hit("N329", frame.at, value=kind)
    elif (kind == "Inngående dokument" and not inner.get("sender")) or (
        kind == "Utgående dokument" and not inner.get("receiver")
    ):
        state.hit("N327", frame.at, value=kind)
    enclosures = whole_number(values.get("antallVedlegg"))
    if enclosures is not None and enclosures != inner.get("Vedlegg", 0):
        state.hit("N336", frame.at, value=str(enclosures), found=inner.get("Vedlegg", 0))
    screened = values.get(SCREENED, "")
    sent_keys, received_keys = (values.get(name, "") for name in (SENT, RECEIVED))
    secret = (sent_keys if _HIDDEN_SENDER in screened else "") + (received_keys if _HIDDEN_RECEIVER in screened else "")
    state.store.add(
        "posts",
        (
            pack_id(values.get("systemID", "")),
            whole_number(values.get("journalaar")),
            whole_number(values.get("journalsekvensnummer")),
            whole_number(values.get("journalpostnummer")),
            values.get("journaldato", "")[:10],
            values.get("dokumentetsDato", "")[:10],
            text_key(values.get("tittel")),
            1 if hides_title(values, HIDDEN_TITLE) else 0,
            parent.at if parent.type == "saksmappe" else None,
            sorted_keys(bytes.fromhex(sent_keys + received_keys + values.get(OTHER, ""))),
            bytes.fromhex(secret),
            bytes.fromhex(values.get(ANSWERS, "")),
            text_key(values.get("registreringsID")),
            frame.at,
        ),
    )
    if parent.type == "saksmappe":
        check_rising(state, frame, parent, whole_number(values.get("journalpostnummer")))


def _class_of(frame: Frame) -> tuple[int | None, int | None, int, int]:
    """The class that a folder lies in: its id and its title as they are compared, and which of them are screened."""
    above: Frame | None = frame
    while above is not None and above.kind != "klasse":
        above = above.parent
    values = above.values if above is not None else {}
    hidden = (int(is_screened_by(values, codes)) for codes in (HIDDEN_CLASS, HIDDEN_CLASS_TITLE))
    return text_key(values.get("klasseID")), text_key(values.get("tittel")), next(hidden), next(hidden)
