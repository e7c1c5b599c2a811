"""Faults of a source: of one item, or of the place itself."""

from __future__ import annotations

from noarkit.errors.base import NoarkitError


class SourceFault(NoarkitError):
    """One item of the source cannot be taken; it is set aside and the run goes on. Data: key, why."""

    code = "F200"
    exit_code = 3


class ItemUnreadable(SourceFault):
    """No right to read the item."""

    code = "F201"


class ItemVanished(SourceFault):
    """The item is gone since it was planned."""

    code = "F202"


class ItemChanged(SourceFault):
    """Other size, time or content than planned, or changed while it was read."""

    code = "F203"


class ItemNotAFile(SourceFault):
    """A device, FIFO or socket."""

    code = "F204"


class ItemTooNew(SourceFault):
    """Changed so recently that it may still be written to."""

    code = "F205"


class ItemMalformed(SourceFault):
    """A file, row or message that cannot be read as what it claims to be."""

    code = "F206"


class ItemRefused(SourceFault):
    """The site's own check (a command) refused the item. Data: key, why, exit."""

    code = "F207"


class ItemGone(ItemVanished):
    """A service says that it no longer has the item (404, 410). Data: key, service."""

    code = "F208"


class RecipeFault(SourceFault):
    """The recipe does not fit this record. Data: key, line, why."""

    code = "F220"


class IdentityNumberFound(SourceFault):
    """A national identity number in a title or open field, where the recipe sets such records aside."""

    code = "F221"


class KeyTwice(SourceFault):
    """The key of the record, or of something it makes, is taken by another. Data: what."""

    code = "F222"


class ParentMissing(SourceFault):
    """What the record shall hang under is not in the plan. Data: what."""

    code = "F223"


class FieldWrong(SourceFault):
    """A type or field that the model does not know, or not so. Data: type, field, why, line."""

    code = "F224"


class CodeUnknown(SourceFault):
    """A code that is not in the code list. Data: type, field, line."""

    code = "F225"


class StructureWrong(SourceFault):
    """Things that may not stand together, or something that lacks a part it must have. Data: type, why, line."""

    code = "F226"


class ClassWrong(SourceFault):
    """No class, or a class that has classes under it. Data: type, why, line."""

    code = "F227"


class LinkDangling(SourceFault):
    """A link to something that is not in the plan. Data: type, why, line."""

    code = "F228"


class SourceGone(SourceFault):
    """The root of the source is gone, or too much of it changed since the plan. Data: where, why."""

    code = "F290"
    exit_code = 8


class SourceAway(SourceFault):
    """A source that does not answer now: a server that is down, a connection that broke. Data: where, why."""

    code = "F291"
    exit_code = 5
    transient = True


class SourceDenied(SourceFault):
    """A source that does not let us in, or not so far. Data: where, why."""

    code = "F292"
    exit_code = 6
