"""Characters that cannot be seen, and could make a text read otherwise than it is: shown by their names."""

import re
import unicodedata

#: Overrides and isolates of the direction, characters without width, separators of lines, controls, tags, and letters
#: that are blank. Joiners between letters of emoji and of Indic and Persian texts stay.
_INVISIBLE = re.compile(
    "[\u202a-\u202e\u2066-\u2069\u200e\u200f\u061c\u200b\u2060-\u2064\u206a-\u206f\ufeff\u00ad\u180e\u034f\u2028\u2029"
    "\u115f\u1160\u3164\uffa0\U000e0000-\U000e007f\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]"
)
_SHORT = {
    "\u202a": "LRE",
    "\u202b": "RLE",
    "\u202c": "PDF",
    "\u202d": "LRO",
    "\u202e": "RLO",
    "\u2066": "LRI",
    "\u2067": "RLI",
    "\u2068": "FSI",
    "\u2069": "PDI",
    "\u200e": "LRM",
    "\u200f": "RLM",
    "\u061c": "ALM",
    "\u200b": "ZWSP",
    "\u2060": "WJ",
    "\ufeff": "BOM",
    "\u00ad": "SHY",
}


def reveal_invisible(text: str) -> str:
    """The text with each invisible character replaced by its name in brackets: `[RLO]`."""
    return _INVISIBLE.sub(_name_character, text)


def _name_character(match: re.Match[str]) -> str:
    char = match[0]
    name = _SHORT.get(char) or unicodedata.name(char, "")
    return f"[{name or f'U+{ord(char):04X}'}]"
