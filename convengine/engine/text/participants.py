"""How participants are found: by parts of their name or number, as people type them.

Names are compared without case and accents; phone numbers without blanks, plus, leading zeros and separators.
"""

import re
import unicodedata

from convengine.engine.text.compare import fold

#: Maximum length of an indexed part, and maximum parts of one participant.
LONGEST, MOST = 40, 80
#: A part inside of a word is indexed if it has at least this many characters.
SHORTEST = 3
#: The last digits of a phone number, which are the same with and without the code of the country.
_LOCAL_DIGITS = 8
_WORD = re.compile(r"[^\W_]+")
#: A phone number, perhaps with the name of a server behind it.
_PHONE = re.compile(r"(\+?[\s()./-]*\d[\d\s()./-]*)(?:@.*)?", re.DOTALL)


def read_phone(text: str) -> str:
    """The digits of a phone number without leading zeros; blank for another text."""
    match = _PHONE.fullmatch(text.lstrip())
    digits = re.sub(r"\D", "", match[1]) if match else ""
    return unicodedata.normalize("NFKC", digits).lstrip("0") if len(digits) >= SHORTEST else ""


def list_parts(participant: str) -> list[str]:
    """The parts by which a participant is found: each word, and what remains of it from any position on."""
    words = [word for word in (read_phone(participant), *_WORD.findall(fold(participant))) if word]
    inner = (word[start : start + LONGEST] for word in words for start in range(1, len(word) - SHORTEST + 1))
    return list(dict.fromkeys((*(word[:LONGEST] for word in words), *inner)))[:MOST]


def list_terms(text: str) -> list[str]:
    """The searched parts of what somebody typed; all must occur. The longest comes first."""
    phone = read_phone(text)
    terms = [phone] if phone else _WORD.findall(fold(text))
    return sorted({term[:LONGEST] for term in terms}, key=lambda term: (-len(term), term))


def list_local_terms(text: str) -> list[str]:
    """The end of a phone number, for a participant whose number is stored without the code of the country."""
    phone = read_phone(text)
    return [phone[-_LOCAL_DIGITS:]] if len(phone) > _LOCAL_DIGITS else []


def has_all(participant: str, terms: list[str]) -> bool:
    """True if all parts occur in a participant's name."""
    whole = f"{fold(participant)} {read_phone(participant)}"
    return all(term in whole for term in terms)
