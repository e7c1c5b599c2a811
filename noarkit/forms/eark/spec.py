"""What an E-ARK package consists of: folders, namespaces, versions, profiles and vocabularies.

Facts only; reading, writing and judging packages happens elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal, get_args

from noarkit.forms.metadata import mets_model

Kind = Literal["sip", "aip", "dip"]
Version = Literal["2.0.4", "2.1.0", "2.2.0"]
KINDS: tuple[Kind, ...] = get_args(Kind)
VERSIONS: tuple[Version, ...] = get_args(Version)
WRITTEN_VERSIONS: tuple[Version, ...] = ("2.1.0", "2.2.0")
DEFAULT_VERSION: Version = "2.2.0"

# --- files and folders (CSIPSTR) ---
METS_FILE = "METS.xml"
METADATA = "metadata"
DESCRIPTIVE = "metadata/descriptive"
PRESERVATION = "metadata/preservation"
OTHER_METADATA = "metadata/other"
REPRESENTATIONS = "representations"
SCHEMAS = "schemas"
DOCUMENTATION = "documentation"
DATA = "data"
SUBMISSION = "submission"
PREMIS_FILE = "premis.xml"

# --- namespaces ---
METS, XLINK, CSIP, SIP = mets_model.METS, mets_model.XLINK, mets_model.CSIP, mets_model.SIP
XSI = "http://www.w3.org/2001/XMLSchema-instance"
PREMIS = "http://www.loc.gov/premis/v3"
PREMIS_2 = "info:lc/xmlns/premis-v2"
ERMS = "https://DILCIS.eu/XML/ERMS"

# --- profiles (CSIP6, SIP2, AIPM2, DIP2) ---
CSIP_PROFILE = "https://earkcsip.dilcis.eu/profile/E-ARK-CSIP.xml"
CSIP_PROFILE_2_2 = "https://earkcsip.dilcis.eu/profile/E-ARK-CSIP-v2-2-0.xml"
_SIP_PROFILE = "https://earksip.dilcis.eu/profile/E-ARK-SIP"
_AIP_PROFILE = "https://earkdip.dilcis.eu/profile/E-ARK-AIP"
_DIP_PROFILE = "https://earkdip.dilcis.eu/profile/E-ARK-DIP"
_OTHER_AIP_PROFILES = ("https://earkaip.dilcis.eu/profile/E-ARK-AIP", "https://earkcsip.dilcis.eu/profile/E-ARK-AIP")

PROFILES: Mapping[tuple[Kind, Version], tuple[str, ...]] = MappingProxyType(
    {
        ("sip", "2.0.4"): (f"{_SIP_PROFILE}.xml", f"{_SIP_PROFILE}-v2-0-4.xml"),
        ("sip", "2.1.0"): (f"{_SIP_PROFILE}.xml", f"{_SIP_PROFILE}-v2-1-0.xml"),
        ("sip", "2.2.0"): (f"{_SIP_PROFILE}-v2-2-0.xml",),
        **{
            ("aip", version): tuple(
                f"{base}{tail}"
                for tail in (f"-v{version.replace('.', '-')}.xml", ".xml")
                for base in (_AIP_PROFILE, *_OTHER_AIP_PROFILES)
            )
            for version in VERSIONS
        },
        **{
            ("dip", version): (f"{_DIP_PROFILE}.xml", f"{_DIP_PROFILE}-v{version.replace('.', '-')}.xml")
            for version in VERSIONS
        },
    }
)
"""The addresses a package of a kind and version may name as its profile; the first is the one that is written."""

_VERSION_IN_PROFILE = re.compile(r"-v(\d)-(\d)-(\d)\.xml$")


def version_of_profile(profile: str) -> str | None:
    """The version that a profile's address names, None if it names none: 2.0.4 and 2.1.0 share one.

    >>> version_of_profile("https://earksip.dilcis.eu/profile/E-ARK-SIP-v2-2-0.xml")
    '2.2.0'
    """
    match = _VERSION_IN_PROFILE.search(profile)
    return ".".join(match.groups()) if match else None


# --- vocabularies ---
PACKAGE_TYPES = ("SIP", "AIP", "DIP", "AIU", "AIC")
STATUSES = ("CURRENT", "SUPERSEDED")
NOTE_TYPES = ("SOFTWARE VERSION", "IDENTIFICATIONCODE")
RECORD_STATUSES = ("NEW", "SUPPLEMENT", "REPLACEMENT", "TEST", "VERSION", "DELETE", "OTHER")
ALT_RECORD_ID_TYPES = (
    "SUBMISSIONAGREEMENT",
    "PREVIOUSSUBMISSIONAGREEMENT",
    "REFERENCECODE",
    "PREVIOUSREFERENCECODE",
)
AGENT_ROLES = ("CREATOR", "EDITOR", "ARCHIVIST", "PRESERVATION", "DISSEMINATOR", "CUSTODIAN", "IPOWNER", "OTHER")
AGENT_TYPES = ("INDIVIDUAL", "ORGANIZATION", "OTHER")
STRUCT_MAP_TYPE = "PHYSICAL"
STRUCT_MAP_LABEL = "CSIP"
LABEL_METADATA = "Metadata"
LABEL_DOCUMENTATION = "Documentation"
LABEL_SCHEMAS = "Schemas"
LABEL_REPRESENTATIONS = "Representations"
LABEL_DATA = "Data"
LABELS = (LABEL_METADATA, LABEL_DOCUMENTATION, LABEL_SCHEMAS, LABEL_REPRESENTATIONS)

CONTENT_CATEGORIES = (
    "Textual works – Print",
    "Textual works – Digital",
    "Textual works – Electronic Serials",
    "Digital Musical Composition (score-based representations)",
    "Musical Scores - Print",
    "Musical Scores - Digital",
    "Photographs – Print",
    "Photographs – Digital",
    "Other Graphic Images – Print",
    "Other Graphic Images – Digital",
    "Microforms",
    "Audio – On Tangible Medium (digital or analog)",
    "Audio – Media-independent (digital)",
    "Motion Pictures – Digital and Physical Media",
    "Video – File-based and Physical Media",
    "Software",
    "Software and Video Games",
    "Email",
    "Datasets",
    "Geospatial Data",
    "Geographic Information System (GIS) - Vector Data",
    "GIS Raster and Georeferenced Images",
    "GIS Vector and Raster Combined",
    "Non-GIS Cartographic",
    "2D and 3D Computer Aided Design",
    "Design (schematics, architectural drawings) - Print",
    "Scanned 3D Objects (output from photogrammetry scanning)",
    "Databases",
    "Websites",
    "Web Archives",
    "Collection",
    "Event",
    "Image",
    "Interactive resource",
    "Moving image",
    "Sound",
    "Still image",
    "Text",
    "Physical object",
    "Service",
    "Mixed",
    "Other",
)  # the dashes are the list's own: now long, now short
ERMS_CATEGORY = "Dataset"
"""What CITS ERMS asks for as category, though the list has it in the plural."""

CONTENT_TYPES = (
    "ERMS",
    "SIARD1",
    "SIARD2",
    "SIARDDK",
    "GeoData",
    "citscarchival_v1_0",
    "cscarchival_v1_0",
    "citserms_v2_1",
    "citserms_v3_0",
    "citspremis_v1_0",
    "cspremis_v1_0",
    "citsehpj_v1_0",
    "citsehpj_v2_0",
    "citsehcr_v1_0",
    "citssiard_v1_0",
    "citsgeospatial_v3_0",
    "cits3dpm_v1_0",
    "MIXED",
    "OTHER",
)
"""Content information types (CSIP4, CSIP62) of the vocabulary."""

CONTENT_TYPES_OF_SCHEMA = (
    *(name for name in CONTENT_TYPES if name not in ("citscarchival_v1_0", "cscarchival_v1_0")),
    "citcarchival_v1_0",
    "citsarchival_v1_0",
    "csarchival_v1_0",
)
"""What the published extension schema takes: it spells the archival ones otherwise than the vocabulary does."""

CONTENT_TYPES_MET = ("CITS_SIARD",)
"""Names that stand in a specification's text and in packages, and in no vocabulary."""

ERMS_TYPES = ("ERMS", "citserms_v2_1", "citserms_v3_0")
SIARD_TYPES = ("SIARD1", "SIARD2", "SIARDDK", "citssiard_v1_0", "CITS_SIARD")
ARCHIVAL_TYPES = (
    "citscarchival_v1_0",
    "cscarchival_v1_0",
    "citcarchival_v1_0",
    "citsarchival_v1_0",
    "csarchival_v1_0",
)

# --- METS lists (version 1.12) ---
MD_TYPES = (
    "MARC",
    "MODS",
    "EAD",
    "DC",
    "NISOIMG",
    "LC-AV",
    "VRA",
    "TEIHDR",
    "DDI",
    "FGDC",
    "LOM",
    "PREMIS",
    "PREMIS:OBJECT",
    "PREMIS:AGENT",
    "PREMIS:RIGHTS",
    "PREMIS:EVENT",
    "TEXTMD",
    "METSRIGHTS",
    "ISO 19115:2003 NAP",
    "EAC-CPF",
    "LIDO",
    "OTHER",
)
LOC_TYPES = ("ARK", "URN", "URL", "PURL", "HANDLE", "DOI", "OTHER")
CHECKSUM_TYPES = (
    "Adler-32",
    "CRC32",
    "HAVAL",
    "MD5",
    "MNP",
    "SHA-1",
    "SHA-256",
    "SHA-384",
    "SHA-512",
    "TIGER",
    "WHIRLPOOL",
)
HASHES: Mapping[str, str] = MappingProxyType(
    {"MD5": "md5", "SHA-1": "sha1", "SHA-256": "sha256", "SHA-384": "sha384", "SHA-512": "sha512"}
)
"""Those that can be calculated, by the names that hashlib knows."""

WRITTEN_CHECKSUM = "SHA-256"
