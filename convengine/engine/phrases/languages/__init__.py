"""The words of each language: a language is one module with one `Language`."""

from convengine.engine.phrases.languages.english import ENGLISH
from convengine.engine.phrases.languages.german import GERMAN
from convengine.engine.phrases.languages.language import Language

__all__ = ["ENGLISH", "GERMAN", "LANGUAGES", "Language"]

#: The languages that phrases are read in. The first one is taken for texts that could be any.
LANGUAGES: tuple[Language, ...] = (ENGLISH, GERMAN)
