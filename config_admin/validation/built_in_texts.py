"""Built-in texts that somebody copied into a row: what they are in another language."""

from collections.abc import Iterator, Mapping
from functools import cache

import convengine.server.settings_catalogue  # noqa: F401  (completes the catalogue)
from convengine.engine.forms.asking import get_texts
from convengine.engine.turn.live_settings import CATALOGUE
from convengine.engine.understanding.language import list_languages


def find_built_in_text(text: str, first: str, language: str) -> str:
    """The text in another language, if it is exactly a built-in one of the first language; else blank."""
    return _match_texts(first, language).get(text, "")


@cache
def _match_texts(first: str, language: str) -> Mapping[str, str]:
    if first == language or not {first, language} <= {*list_languages()}:
        return {}
    texts = dict(_list_texts(language))
    return {text: texts[name] for name, text in _list_texts(first) if text and name in texts}


def _list_texts(language: str) -> Iterator[tuple[str, str]]:
    """The texts of a language with their names."""
    texts = get_texts(language)
    yield from ((name, text) for name, text in texts.items() if isinstance(text, str))
    # As a flow writes it.
    yield "confirmation", f"{texts['check_values']} {texts['confirm']}"
    # Those of English are the defaults.
    defaults = {setting.name: setting.default for setting in CATALOGUE.values()}
    yield from (texts["settings"] or defaults).items()
