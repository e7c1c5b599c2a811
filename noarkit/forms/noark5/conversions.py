"""A conversion that a version carries, as the elements of `konvertering`."""

from __future__ import annotations

from collections.abc import Mapping

from noarkit.forms.noark5.moments import Moments
from noarkit.model.conversions import Conversion, comment_text

ELEMENT = "konvertering"


def conversion_elements(conversion: Conversion, moments: Moments) -> Mapping[str, str] | None:
    """The elements of a conversion in their order, by name; None where it does not say when it was made."""
    try:
        made_at = moments.local(conversion.made_at)
    except ValueError:
        return None
    return {
        "konvertertDato": made_at,
        "konvertertAv": conversion.made_by,
        "konvertertFraFormat": conversion.source_format,
        "konvertertTilFormat": conversion.result_format,
        "konverteringsverktoey": conversion.tool,
        "konverteringskommentar": comment_text(conversion),
    }
