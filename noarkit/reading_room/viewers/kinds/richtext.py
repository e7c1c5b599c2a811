"""Rich Text Format as readable text, paragraph by paragraph."""

from __future__ import annotations

from noarkit.documents.rtf import rtf_text
from noarkit.reading_room.viewers.job import Reading
from noarkit.reading_room.viewers.kinds.blocks import BlockList, blocks_page
from noarkit.reading_room.viewers.kinds.findings import findings_of
from noarkit.reading_room.viewers.port import Rendering


def show_rich_text(reading: Reading) -> Rendering:
    """A page of the text of a document."""
    notes = findings_of(reading)
    text_blocks = BlockList()
    for line in rtf_text(reading.job.document).split("\n"):
        text_blocks.add("paragraph", line)
    return blocks_page(reading, text_blocks, notes)
