"""Whole numbers in texts from outside: Python reads no number of very many digits, and a column holds no large one."""

#: The largest numbers of columns.
INTEGER, BIG_INTEGER = 2**31 - 1, 2**63 - 1
_MOST_DIGITS = len(str(BIG_INTEGER))


def parse_whole_number(text: str, largest: int = BIG_INTEGER) -> int | None:
    """The number that a text of ASCII digits writes; None for another text, and for a larger number."""
    if not (text.isascii() and text.isdecimal()) or len(text) > _MOST_DIGITS:
        return None
    number = int(text)
    return number if number <= largest else None
