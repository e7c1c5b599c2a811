"""Formats amounts from whole minor units and a currency with an exponent of its own. Never a float."""

from __future__ import annotations

from collections.abc import Mapping

# digits after the decimal point; two for currencies not listed here
_EXPONENTS = {
    **dict.fromkeys(
        [
            "BIF",
            "CLP",
            "DJF",
            "GNF",
            "ISK",
            "JPY",
            "KMF",
            "KRW",
            "PYG",
            "RWF",
            "UGX",
            "UYI",
            "VND",
            "VUV",
            "XAF",
            "XOF",
            "XPF",
        ],
        0,
    ),
    **dict.fromkeys(["BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND"], 3),
}


def format_amount(value: object) -> str:
    """Formats an amount for people: `1234.50 NOK`.

    >>> format_amount({"currency": "ISK", "minors": 1500}), format_amount({"currency": "KWD", "minors": -1500})
    ('1500 ISK', '-1.500 KWD')
    """
    if not isinstance(value, Mapping) or not isinstance(value.get("minors"), int):
        return ""
    currency = str(value.get("currency") or "")
    minors, figures = int(value["minors"]), _EXPONENTS.get(currency, 2)
    sign, digits = "-" if minors < 0 else "", str(abs(minors)).rjust(figures + 1, "0")
    amount = f"{digits[:-figures]}.{digits[-figures:]}" if figures else digits
    return f"{sign}{amount} {currency}".strip()
