"""What must hold of a document that is kept as it is: a right name is no proof that its bytes can be used."""

from __future__ import annotations

import codecs
import shutil
import subprocess
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import orjson

from noarkit.copies.port import Failure, Finding
from noarkit.copies.reasons import Reason
from noarkit.documents.damage import ENCRYPTED, MOST_UNPACKED, opens
from noarkit.documents.encodings import is_encoded_twice
from noarkit.documents.pictures import PictureUnreadable, open_picture
from noarkit.errors import PackageFault, UnsafeXml
from noarkit.safe.children import child_environment
from noarkit.safe.html import HtmlReader
from noarkit.safe.pdfa import judge_pdfa
from noarkit.safe.xml import free_element, stream
from noarkit.sources.files.codecs import UNKNOWN, VIDEO_ENDINGS, unaccepted_codec

Verdict = tuple[Finding, ...] | Failure
"""Nothing, or what a person should know, where it holds; why it does not otherwise."""

_CHUNK = 1024 * 1024
_MOST_JSON = 256 * 1024 * 1024
_MOST_HTML = 64 * 1024 * 1024
_STORED_OR_DEFLATED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_TIFF_COMPRESSION = 259
# none, CCITT run lengths, G3, G4, LZW, deflate in both its numbers, PackBits
_TIFF_COMPRESSIONS = frozenset({1, 2, 3, 4, 5, 8, 32946, 32773})
_CODECS = frozenset({"h264", "ffv1", "mpeg2video", "jpeg2000", "mpeg1video"})
_PROBE_S = 60.0
_FLAVOURS: Mapping[str, str] = {"fmt/95": "1a", "fmt/354": "1b", "fmt/476": "2a", "fmt/477": "2b", "fmt/478": "2u"}
"""What a PDF claims to be, by its PRONOM identifier."""


def check_as_delivered(path: Path, how: str, puid: str | None = None) -> Verdict:
    """Whether a document can be kept as it is. `how` is what its rule asks (`validate`), `puid` what it is.

    Raises `OSError`.
    """
    return _pdfa(path, puid) if how == "pdfa" else _CHECKS[how](path)


def _pdfa(path: Path, puid: str | None) -> Verdict:
    verdict = judge_pdfa(path, _FLAVOURS.get(puid or ""))
    if verdict.state == "fail":
        return Failure(Reason.NOT_VALID, {"rules": list(verdict.rules), "state": verdict.state})
    return () if verdict.passed else (Finding("claimed-only", {"rules": list(verdict.rules)}),)


def _opens(path: Path) -> Verdict:
    """Every member of a zipped document can be read, and has the checksum that it is stored with."""
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
    except (zipfile.BadZipFile, ValueError):
        return Failure(Reason.DAMAGED)
    if sum(member.file_size for member in members) > MOST_UNPACKED:
        return Failure(Reason.BOMB)
    if any(member.flag_bits & ENCRYPTED for member in members):
        return Failure(Reason.PASSWORD)
    return () if opens(path) else Failure(Reason.DAMAGED)


def _utf8(path: Path) -> Verdict:
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        with path.open("rb") as file:
            while chunk := file.read(_CHUNK):
                text = decoder.decode(chunk)
                if "\0" in text:
                    return Failure(Reason.WRONG_FORMAT, {"wanted": "utf-8", "is": "binary"})
                if is_encoded_twice(text):  # a person decides, over a copy
                    return Failure(Reason.WRONG_FORMAT, {"wanted": "utf-8", "is": "another encoding"})
            decoder.decode(b"", final=True)
    except UnicodeDecodeError as error:
        return Failure(Reason.WRONG_FORMAT, {"wanted": "utf-8", "is": "another encoding", "at": error.start})
    return ()


def _xml(path: Path) -> Verdict:
    """It is well-formed; one with a document type, which is never read here, is told as not checked."""
    try:
        for _, element in stream(path, ("end",)):
            free_element(element)
    except UnsafeXml:
        return (Finding("not-checked", {"how": "xml"}),)
    except PackageFault as fault:
        return Failure(Reason.DAMAGED, {"line": fault.data.get("line", 0)})
    return ()


def _json(path: Path) -> Verdict:
    if path.stat().st_size > _MOST_JSON:
        return (Finding("not-checked", {"how": "json"}),)
    try:
        orjson.loads(path.read_bytes())
    except orjson.JSONDecodeError as error:
        return Failure(Reason.DAMAGED, {"at": error.pos})
    return ()


def _zip(path: Path) -> Verdict:
    """A ZIP as ISO/IEC 21320-1 has it: stored or deflated, never encrypted, and every member whole."""
    try:
        with zipfile.ZipFile(path) as archive:
            odd = {member.compress_type for member in archive.infolist()} - set(_STORED_OR_DEFLATED)
    except (zipfile.BadZipFile, ValueError):
        return Failure(Reason.DAMAGED)
    if odd:
        return Failure(Reason.WRONG_FORMAT, {"wanted": "zip", "is": f"compression {min(odd)}"})
    return _opens(path)


class _References(HtmlReader):
    """Collects what a page would fetch when it is shown."""

    _FETCHED: Mapping[str, tuple[str, ...]] = {
        **{tag: ("src",) for tag in ("script", "iframe", "frame", "embed", "audio", "video", "source", "track")},
        **{"img": ("src", "srcset"), "input": ("src",), "object": ("data",), "body": ("background",)},
        "image": ("href", "xlink:href"),
    }

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.count = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        names = self._FETCHED.get(tag, ())
        if tag == "link" and "stylesheet" in (values.get("rel") or "").lower():
            names = ("href",)
        for name in names:
            value = (values.get(name) or "").strip().lower()
            if value and not value.startswith(("data:", "#", "about:")):
                self.count += 1


def _self_contained(path: Path) -> Verdict:
    if path.stat().st_size > _MOST_HTML:
        return Failure(Reason.TOO_LARGE)
    references = _References()
    references.feed(path.read_bytes().decode("utf-8", "replace"))
    references.close()
    return Failure(Reason.EXTERNAL_CONTENT, {"count": references.count}) if references.count else ()


def _image(path: Path) -> Verdict:
    try:
        with open_picture(path) as picture:
            picture.load()
    except PictureUnreadable as error:
        return Failure(Reason(error.reason))
    return ()


def _tiff(path: Path) -> Verdict:
    """Every page can be decoded, and is compressed in a way that does not lose anything."""
    try:
        with open_picture(path) as picture:
            for frame in range(int(getattr(picture, "n_frames", 1))):
                picture.seek(frame)
                compression = getattr(picture, "tag_v2", {}).get(_TIFF_COMPRESSION, 1)
                if compression not in _TIFF_COMPRESSIONS:
                    return Failure(Reason.WRONG_FORMAT, {"wanted": "tiff", "is": f"compression {compression}"})
                picture.load()
    except PictureUnreadable as error:
        return Failure(Reason(error.reason))
    return ()


def _codec_by_bytes(path: Path) -> Verdict:
    suffix = path.suffix[1:].lower()
    if suffix not in VIDEO_ENDINGS:
        return (Finding("codec-unknown", {}),)
    with path.open("rb") as file:
        codec = unaccepted_codec(file.fileno(), path.stat().st_size, suffix)
    if codec == UNKNOWN:
        return (Finding("codec-unknown", {}),)
    return Failure(Reason.WRONG_FORMAT, {"wanted": "codec", "is": codec}) if codec else ()


def _codec(path: Path) -> Verdict:
    """The codec of a video, which no PRONOM identifier tells; by its own bytes where there is no `ffprobe`, and told as
    unknown where these do not say."""
    program = shutil.which("ffprobe")
    if program is None:
        return _codec_by_bytes(path)
    command = [program, "-v", "error", "-select_streams", "v", "-show_entries", "stream=codec_name", "-of", "csv=p=0"]
    try:
        completed = subprocess.run(  # noqa: S603  # a program of the system, without a shell
            [*command, f"file:{path}"],
            capture_output=True,
            stdin=subprocess.DEVNULL,
            env=child_environment(),
            timeout=_PROBE_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return (Finding("codec-unknown", {}),)
    names = {
        line.strip().rstrip(",") for line in completed.stdout.decode("ascii", "replace").splitlines() if line.strip()
    }
    if completed.returncode or not names:
        return Failure(Reason.DAMAGED)
    return Failure(Reason.WRONG_FORMAT, {"wanted": "codec", "is": min(names - _CODECS)}) if names - _CODECS else ()


_CHECKS: Mapping[str, Callable[[Path], Verdict]] = {
    "opens": _opens,
    "utf-8": _utf8,
    "xml": _xml,
    "json": _json,
    "zip": _zip,
    "self-contained": _self_contained,
    "image": _image,
    "tiff": _tiff,
    "codec": _codec,
}
