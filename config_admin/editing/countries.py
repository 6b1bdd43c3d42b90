"""Countries: chosen by name, stored by code (ISO 3166)."""

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from convengine.engine.understanding.language import MANY_COUNTRIES

#: What stands for users of more than one country.
DIFFERENT = "Different countries"


@cache
def list_countries() -> Mapping[str, str]:
    """The English name of each country by its code, in the order of the names."""
    names: dict[str, str] = json.loads(Path(__file__).with_name("countries.json").read_text("utf-8"))
    return names


def name_country(code: str) -> str:
    """The name for a code; the code itself where no country has it."""
    return DIFFERENT if code == MANY_COUNTRIES else list_countries().get(code, code)


def find_country_code(text: str) -> str | None:
    """The code for a name or a code in any case. Returns None where no country has it."""
    wanted = " ".join(text.split()).casefold()
    return next((code for code, name in list_countries().items() if wanted in (code.casefold(), name.casefold())), None)
