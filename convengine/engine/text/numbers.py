"""Numbers as people write them: 350,000, 1.5 million, $1,200.50, 350k (pipeline-1 10.4 (5), R10)."""

import re
from dataclasses import dataclass
from decimal import Decimal

_CURRENCY = (
    r"(?:[$€£¥₹]|(?:usd|eur|gbp|inr|jpy|chf|cad|aud|nzd|sek|nok|dkk|pln|cny|sgd|hkd|zar|brl|mxn|aed|rs"
    r"|dollars?|euros?|pounds?|rupees?|francs?|yen|bucks)\b\.?)"
)
_TIMES = {
    "k": 10**3, "thousand": 10**3, "m": 10**6, "mn": 10**6, "mio": 10**6, "million": 10**6, "millions": 10**6,
    "bn": 10**9, "billion": 10**9, "lakh": 10**5, "lakhs": 10**5, "lac": 10**5, "crore": 10**7, "crores": 10**7,
}  # fmt: skip
#: Grouped by comma; by two or more full stops; by full stops with a decimal comma; by blank or apostrophe; plain.
_DIGITS = (
    r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d{1,3}(?:\.\d{3}){2,}(?:,\d+)?|\d{1,3}(?:\.\d{3})+,\d{1,2}"
    r"|\d{1,3}(?:[ '’\u00a0\u202f]\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?"
)
_NUMBER = re.compile(
    rf"(?P<sign>[-+−]?)(?:(?P<before>{_CURRENCY})\s?(?P<inner>-?))?(?P<digits>{_DIGITS})(?!\d|[.,'’]\d)"
    rf"(?:\s?(?P<times>{'|'.join(sorted(_TIMES, key=len, reverse=True))})\b)?(?:\s?(?P<after>{_CURRENCY}))?",
    re.IGNORECASE,
)
#: One to three digits, a full stop, three digits: thousands to some people, a fraction to others.
_EITHER = re.compile(r"[1-9]\d{0,2}\.\d{3}")
_MAX_DIGITS = 15


@dataclass(frozen=True)
class Number:
    """A number in a text, with its position."""

    value: Decimal
    #: Its position with and without its currency.
    start: int
    end: int
    core: tuple[int, int]
    #: True when it has a currency.
    money: bool
    #: "k", "million" …, in lower case; else empty.
    times: str
    #: The digits as written, for ambiguous numbers.
    digits: str

    @property
    def either(self) -> bool:
        """True for 35.000, which is 35 to some people and 35,000 to others."""
        return _EITHER.fullmatch(self.digits) is not None


def number_at(text: str, position: int = 0) -> Number | None:
    """The number at a position; null for none, and for one of more than 15 digits."""
    match = _NUMBER.match(text, position)
    if match is None:
        return None
    plain = _plain(match["digits"])
    if sum(char.isdigit() for char in plain) > _MAX_DIGITS:
        return None
    times = (match["times"] or "").lower()
    value = Decimal(plain) * _TIMES.get(times, 1)
    negative = "-" in (match["sign"] + (match["inner"] or "")).replace("−", "-")
    return Number(
        -value if negative else value,
        match.start(),
        match.end(),
        (match.start("digits"), match.end("times") if match["times"] else match.end("digits")),
        bool(match["before"] or match["after"]),
        times,
        match["digits"],
    )


def read_number(text: str) -> Number | None:
    """The number of a whole text, or null."""
    trimmed = text.strip()
    number = number_at(trimmed)
    return number if number and number.end == len(trimmed) else None


def to_json_number(number: Number, kind: str) -> int | float | None:
    """The number as a JSON integer or number; null for an invalid integer, or an ambiguous number."""
    value = number.value
    whole = value == value.to_integral_value()
    if number.either and (kind == "integer" or number.digits.endswith("0")):
        return None
    if kind == "integer":
        return int(value) if whole else None
    return int(value) if whole else float(value)


def _plain(digits: str) -> str:
    """The digits without grouping, with a decimal point."""
    compact = re.sub(r"[ '’\u00a0\u202f]", "", digits)
    if compact.count(".") > 1 or re.search(r"\.\d{3},", compact):
        return compact.replace(".", "").replace(",", ".")
    return compact.replace(",", "")
