"""What a bag consists of: file names, versions, checksums, and how a line of a tag file is written and read.

Facts and pure functions; nothing here opens a file.
"""

from __future__ import annotations

import codecs
import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from noarkit.errors import UnsafePath
from noarkit.safe.paths import checked_parts

VERSIONS = ("0.93", "0.94", "0.95", "0.96", "0.97", "1.0")
WRITTEN_VERSION = "1.0"
ENCODING = "UTF-8"

DECLARATION = "bagit.txt"
INFO = "bag-info.txt"
OLD_INFO = "package-info.txt"
FETCH = "fetch.txt"
PAYLOAD = "data"
MAX_LINE = 32 * 1024
"""More letters than any path has, also where each is written as three."""
MOST_VALUE = 1024 * 1024
"""More letters than any value of the metadata has, however it is folded."""
MOST_INFO = 16 * 1024 * 1024
"""More letters than all of them have."""

HASHES: Mapping[str, str] = MappingProxyType(
    {
        "md5": "md5",
        "sha1": "sha1",
        "sha224": "sha224",
        "sha256": "sha256",
        "sha384": "sha384",
        "sha512": "sha512",
        "sha3224": "sha3_224",
        "sha3256": "sha3_256",
        "sha3384": "sha3_384",
        "sha3512": "sha3_512",
        "blake2b": "blake2b",
        "blake2b512": "blake2b",
        "blake2s": "blake2s",
        "blake2s256": "blake2s",
    }
)
"""How the algorithms of manifests are called here."""
DEFAULT_ALGORITHMS = ("sha512",)
WEAK = frozenset({"md5", "sha1"})

SYSTEM_FILES = frozenset({".ds_store", "thumbs.db", "desktop.ini", ".appledouble", "__macosx", ".spotlight-v100"})
SINGLE_LABELS = frozenset(
    {"payload-oxum", "bagging-date", "bag-size", "bag-group-identifier", "bag-count", "bagit-profile-identifier"}
)
"""Labels that should stand once; Payload-Oxum must not stand twice."""

_MANIFEST = re.compile(r"(tag)?manifest-([A-Za-z0-9_+-]+)\.txt")
_DECLARATION_LINES = (re.compile(r"BagIt-Version: (\d+)\.(\d+)"), re.compile(r"Tag-File-Character-Encoding: (\S+)"))
_LINE = re.compile(r"([^ \t]+)[ \t]+(.+)", re.DOTALL)
_FETCH_LINE = re.compile(r"(\S+)[ \t]+(\d+|-)[ \t]+(.+)", re.DOTALL)
_HEX = re.compile(r"[0-9A-Fa-f]+")
OXUM = "Payload-Oxum"
"""The label of `bag-info.txt` that states how many octets and files the payload has."""
_OXUM = re.compile(r"(\d+)\.(\d+)")
_ENCODED = re.compile(r"%(0[aAdD]|25)")
_TO_ENCODE = re.compile(r"[%\r\n]")
_ENCODINGS = re.compile(
    r"ascii|utf-8|utf-16(-[bl]e)?|utf-32(-[bl]e)?|iso8859-\d+|cp\d+|koi8-[rut]|mac-\w+|gb\w+|big5\w*|shift_jis\w*|euc_\w+"
)


@dataclass(frozen=True, slots=True)
class Declaration:
    """What `bagit.txt` says. `encoding` is a name that Python knows."""

    version: str
    encoding: str

    @property
    def encodes_paths(self) -> bool:
        """True if CR, LF and the percent sign are percent-encoded in paths."""
        return self.version == "1.0"

    @property
    def info_name(self) -> str:
        """What the file of metadata is called."""
        return OLD_INFO if self.version in ("0.93", "0.94", "0.95") else INFO


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line, or a whole tag file, that is not what it must be."""

    line: int
    why: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class ManifestLine:
    """A line of a manifest. `raw` is the path as it stands, before anything was decoded; `odd` tells of old habits."""

    line: int
    digest: str
    name: str
    raw: str
    odd: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Hole:
    """A line of `fetch.txt`: a payload file that lies elsewhere. `size_bytes` is what is claimed, if anything."""

    line: int
    url: str
    size_bytes: int | None
    name: str


def manifest_name(algorithm: str, *, tags: bool = False) -> str:
    """`manifest-sha512.txt`, or the manifest of tag files."""
    return f"{'tag' if tags else ''}manifest-{algorithm}.txt"


def manifest_of(name: str) -> tuple[str, bool] | None:
    """The algorithm as it is written, and whether tag files are listed; None for a name of no manifest."""
    match = _MANIFEST.fullmatch(name)
    return (match[2], match[1] is not None) if match else None


def is_normal(algorithm: str) -> bool:
    """True for an algorithm written as it must be: lower case, letters and digits alone."""
    return algorithm.isalnum() and algorithm == algorithm.lower()


def hash_name(algorithm: str) -> str | None:
    """What Python calls an algorithm; None for one that nobody here can compute."""
    return HASHES.get(re.sub(r"[^a-z0-9]", "", algorithm.lower()))


def digest_letters(hashlib_name: str) -> int:
    """How many letters the checksum of a hash has, by Python's name of it."""
    return hashlib.new(hashlib_name, usedforsecurity=False).digest_size * 2


def read_declaration(content: bytes) -> Declaration | BadLine:
    """What the two lines of `bagit.txt` say."""
    if content.startswith(codecs.BOM_UTF8):
        return BadLine(1, "byte-order-mark")
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        return BadLine(1, "not-utf-8")
    lines = lines_of(text)
    matches = [pattern.fullmatch(line) for pattern, line in zip(_DECLARATION_LINES, lines, strict=False)]
    for number, match in enumerate(matches, 1):
        if match is None:
            return BadLine(number, "malformed")
    if len(lines) != 2 or matches[0] is None or matches[1] is None:
        return BadLine(len(lines), "not-two-lines")
    version = f"{int(matches[0][1])}.{matches[0][2]}"
    if version not in VERSIONS:
        return BadLine(1, "unknown-version", version)
    encoding = known_encoding(matches[1][1])
    return Declaration(version, encoding) if encoding else BadLine(2, "unknown-encoding", matches[1][1][:40])


def known_encoding(name: str) -> str | None:
    """Python's name of a text encoding that tag files may have."""
    try:
        codec_name = codecs.lookup(name).name
    except (LookupError, ValueError):
        return None
    return codec_name if _ENCODINGS.fullmatch(codec_name) else None


def lines_of(text: str) -> list[str]:
    """Lines, ended by LF, CR or both, and by nothing else."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def encode_path(name: str) -> str:
    """A path as a manifest of version 1.0 has it."""
    return _TO_ENCODE.sub(lambda found: f"%{ord(found[0]):02X}", name)


def decode_path(path: str) -> str:
    """The path that `encode_path` wrote: each sign is decoded once."""
    return _ENCODED.sub(lambda found: chr(int(found[1], 16)), path) if "%" in path else path


def read_manifest(
    lines: Iterable[tuple[int, str]], declaration: Declaration, letters: int | None, *, tags: bool
) -> Iterator[ManifestLine | BadLine]:
    """The lines of a manifest; `letters` is the length of its checksums. Empty lines are nothing."""
    for number, line in lines:
        if line.strip(" \t") == "":
            continue
        yield _manifest_line(number, line, declaration, (letters, tags))


def _manifest_line(
    number: int, line: str, declaration: Declaration, expected: tuple[int | None, bool]
) -> ManifestLine | BadLine:
    match = _LINE.fullmatch(line)
    letters, tags = expected
    if match is None or not _HEX.fullmatch(match[1]):
        return BadLine(number, "malformed")
    if letters is not None and len(match[1]) != letters:
        return BadLine(number, "checksum-length")
    raw, odd = match[2], []
    if raw.startswith("*"):
        raw, odd = raw[1:], ["asterisk"]
    if raw.startswith("./"):
        raw = raw[2:]
        odd.append("dot-slash")
    name = decode_path(raw) if declaration.encodes_paths else raw
    wrong = path_fault(name)
    if wrong:
        return BadLine(number, wrong, name[:200])
    if name.startswith(PAYLOAD + "/") is tags:
        return BadLine(number, "payload-in-tag-manifest" if tags else "not-payload", name[:200])
    if tags and (manifest_of(name) or ("", False))[1]:
        return BadLine(number, "lists-tag-manifest", name[:200])
    if declaration.encodes_paths and "%" in _ENCODED.sub("", raw):
        odd.append("bare-percent")
    return ManifestLine(number, match[1].lower(), name, raw, tuple(odd))


def is_text(name: str) -> bool:
    """False for a name with bytes that are no letters: no manifest can list it."""
    if name.isascii():
        return True
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def path_fault(name: str) -> str | None:
    """Why a path of a manifest cannot be used; None for one that can. `path:` stands before a path that is unsafe."""
    try:
        parts = checked_parts(name)
    except UnsafePath as error:
        return f"path:{error.data['why']}"
    return None if "/".join(parts) == name else "not-plain"


def read_fetch(lines: Iterable[tuple[int, str]], declaration: Declaration) -> Iterator[Hole | BadLine]:
    """The lines of `fetch.txt`."""
    for number, line in lines:
        if line.strip(" \t") == "":
            continue
        match = _FETCH_LINE.fullmatch(line)
        if match is None:
            yield BadLine(number, "malformed")
            continue
        raw = match[3].removeprefix("./")
        name = decode_path(raw) if declaration.encodes_paths else raw
        wrong = path_fault(name) or ("" if name.startswith(PAYLOAD + "/") else "not-payload")
        size = None if match[2] == "-" else int(match[2][:19])
        yield BadLine(number, wrong, name[:200]) if wrong else Hole(number, match[1], size, name)


def read_info(lines: Iterable[tuple[int, str]]) -> Iterator[tuple[int, str, str] | BadLine]:
    """Line, label and value of each entry, folded lines joined by a blank. Ends where they are longer than any are."""
    number, label, pieces = 0, "", [""]
    of_value = of_all = 0
    for at, line in lines:
        folded = line[:1] in (" ", "\t")
        of_all += len(line) + 1
        of_value = of_value + len(line) + 1 if folded else 0
        if max(of_value - MOST_VALUE, of_all - MOST_INFO) > 0:
            yield BadLine(at, "too-large" if of_all > MOST_INFO else "endless-line", label[:40])
            return
        if folded and label:
            pieces.append(line.strip())
            continue
        if label:
            yield number, label, " ".join(pieces)
        name, colon, value = line.partition(":")
        label = "" if folded or not colon else name.strip()
        number, pieces = at, [value.strip()]
        if not label and (folded or line.strip()):
            yield BadLine(at, "malformed")
    if label:
        yield number, label, " ".join(pieces)


def write_info(info: Iterable[tuple[str, str]]) -> str:
    """The text of `bag-info.txt`; line breaks in values become blanks."""
    return "".join(f"{label}: {' '.join(value.split())}\n" for label, value in info)


def read_oxum(value: str) -> tuple[int, int] | None:
    """Octets and files of a Payload-Oxum; None for anything else."""
    match = _OXUM.fullmatch(value.strip())
    return (int(match[1][:19]), int(match[2][:19])) if match else None
