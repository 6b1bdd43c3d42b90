"""Drafts of translations by the model of the deployment."""

import json
from collections.abc import Mapping, Sequence

from config_admin.flows.translations.catalogue import SpokenText, Translation
from convengine.engine.turn.ports import LlmRequest
from convengine.engine.turn.translations import FILLED
from convengine.json_value import Json
from convengine.server import wiring

_SYSTEM = (
    "You translate the texts of a chat bot from {first} into {language}. Answer with a JSON object that has the "
    "same keys. Do not change text in double braces, Markdown or line breaks. Address users politely."
)


class NoDrafts(Exception):
    """The model gave no translations; the message says why."""


def draft_translations(texts: Sequence[SpokenText], first: str, language: str) -> dict[str, Translation]:
    """Translations of texts by their keys, without those that lost something that is filled in. Raises NoDrafts.

    `first`, `language`: the names of the languages.
    """
    numbered = {str(number): text for number, text in enumerate(texts)}
    sources: dict[str, Json] = {number: text.source for number, text in numbered.items()}
    strings = {number: {"type": "string"} for number in numbered}
    schema = {"type": "object", "properties": strings, "required": [*numbered], "additionalProperties": False}
    system = _SYSTEM.format(first=first, language=language)
    answer = wiring.model().complete(
        LlmRequest("TRANSLATION", system, json.dumps(sources, ensure_ascii=False), json_schema=schema, total_ms=60_000)
    )
    if answer.error_code:
        raise NoDrafts(f"The model did not answer ({answer.error_code}): {answer.error_message}")
    try:
        drafts = json.loads(answer.text)
    except ValueError:
        drafts = None
    if not isinstance(drafts, Mapping):
        raise NoDrafts("The model did not answer with JSON.")
    return {
        text.key: Translation(draft, is_draft=True)
        for number, text in numbered.items()
        if isinstance(draft := drafts.get(number), str) and _list_filled(draft) == _list_filled(text.source)
    }


def _list_filled(text: str) -> list[str]:
    return sorted(FILLED.findall(text))
