"""Checks each version of a document when it closes: its file, its format, and the conversions that made it."""

from __future__ import annotations

from noarkit.errors import UnsafePath
from noarkit.forms.noark5.rules.keys import algorithm_named, digest_key
from noarkit.forms.noark5.rules.relations import check_numbers
from noarkit.forms.noark5.rules.store import pack_id
from noarkit.forms.noark5.rules.values import formats
from noarkit.forms.noark5.rules.walk_state import Frame, WalkState
from noarkit.forms.noark5.spec import DOCUMENT_FOLDERS
from noarkit.model.conversions import checksums_in
from noarkit.safe.paths import checked_parts

_REGISTERED = ("fmt/", "x-fmt/", "av/")
_CONVERTED, _CONVERTED_SUM, _CONVERTED_AT = "|converted", "|converted-sum", "|converted-at"
"""What the last conversion of a version leaves with it: the format it made, the checksum it names, its date."""
_VARIANTS = {"Produksjonsformat": "P", "Arkivformat": "A", "P": "P", "A": "A"}


def judge_version(state: WalkState, frame: Frame, parent: Frame) -> None:
    """A version of a document, and the file it points at."""
    values = frame.values
    check_numbers(state, frame, parent)
    format_, series = values.get("format", "").lower(), state.series
    state.counts.add_each(("version", format_, series), lambda: (("N921", series), ("N923", format_)))
    path = _path(state, frame)
    if path is not None:
        suffix = _judge_format(state, frame, format_, path)
        made_as = _judge_conversion(state, frame, suffix, path)
        row = (
            path.encode("utf-8", "surrogatepass"),
            digest_key(values.get("sjekksum", "").strip()),
            algorithm_named(values.get("sjekksumAlgoritme", "")),
            values.get("filstoerrelse"),
            pack_id(values.get("systemID") or parent.values.get("systemID", "")),
            frame.at,
            suffix,
            made_as,
            parent.at,
            _VARIANTS.get(values.get("variantformat", "").strip(), ""),
            values.get("versjonsnummer", "").strip(),
        )
        state.store.add("objects", row)


def judge_conversion(state: WalkState, frame: Frame, parent: Frame) -> None:
    """A conversion of a document, and what it follows upon."""
    state.counts.add("N936", parent.kind)
    values = frame.values
    made_at, source = values.get("konvertertDato", ""), values.get("konvertertFraFormat", "").strip()
    checksums = checksums_in(values.get("konverteringskommentar", ""))
    earlier = parent.values.get(_CONVERTED)
    if earlier is not None and earlier != source:
        state.hit("N422", frame.at, value=source, found=earlier)
    before = parent.values.get(_CONVERTED_AT, "")
    if made_at[:10] < before[:10]:
        state.hit("N421", frame.at, value=made_at, found=before)
    parent.values[_CONVERTED_AT] = made_at
    parent.values[_CONVERTED] = values.get("konvertertTilFormat", "").strip()
    # the last one in the row made the file that is delivered
    parent.values[_CONVERTED_SUM] = checksums[1] if checksums is not None else ""


def _path(state: WalkState, frame: Frame) -> str | None:
    """The path of a document as it lies in the package, or None if it leads elsewhere."""
    path = frame.values.get("referanseDokumentfil", "").strip()
    if "\\" in path:
        state.hit("N413", frame.at, value=path)
        path = path.replace("\\", "/")
    path = path.removeprefix("./")
    if path.startswith("/") or ".." in path or ":" in path or "\0" in path:
        try:
            checked_parts(path)
        except UnsafePath as fault:
            state.hit("N005", frame.at, value=path, why=fault.data["why"])
            return None
    if path and path.partition("/")[0] not in DOCUMENT_FOLDERS:
        state.hit("N416", frame.at, value=path)
    return path or None


def _judge_format(state: WalkState, frame: Frame, format_: str, path: str) -> str:
    """Holds the stated format against the ending of the file, which is returned."""
    suffix = path.rpartition(".")[2].lower() if "." in path else ""
    if format_.startswith(_REGISTERED):
        if suffix not in formats().endings.get(format_, (suffix,)):
            state.hit("N415", frame.at, value=format_, path=path)
        else:
            state.registered += 1
    elif format_.lstrip(".") != suffix:
        state.hit("N407", frame.at, value=format_, path=path)
    return suffix.encode("utf-8", "replace").decode()


def _judge_conversion(state: WalkState, frame: Frame, suffix: str, path: str) -> str | None:
    """Holds what the last conversion says against the version. The format that it made, where the bytes may tell."""
    values = frame.values
    made_sum, checksum = values.get(_CONVERTED_SUM, ""), values.get("sjekksum", "").strip().lower()
    if made_sum and algorithm_named(values.get("sjekksumAlgoritme", "")) == "sha256" and checksum != made_sum:
        state.hit("N420", frame.at, value=made_sum, found=checksum)
    made_as = values.get(_CONVERTED, "")
    if not made_as.startswith(_REGISTERED):
        return None
    if suffix not in formats().endings.get(made_as, (suffix,)):
        state.hit("N419", frame.at, value=made_as, found=suffix, path=path)
        return None
    return made_as
