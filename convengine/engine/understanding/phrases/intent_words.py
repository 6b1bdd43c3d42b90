"""The words of an intent besides its phrases: its name, and the options of its form."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from convengine.engine.text.compare import blank, code
from convengine.engine.turn import rows
from convengine.engine.turn.scope import QUESTION_BESIDE_FLOW
from convengine.engine.turn.snapshot import Snapshot
from convengine.json_value import Json

#: Options of one field that are read; more are no words of the intent.
_MOST_OPTIONS = 50


class IntentWord(NamedTuple):
    """A word or some words of an intent. `intent` is a code in capitals."""

    intent: str
    text: str
    #: An option of its form, else its name.
    is_option: bool = True


def list_intent_words(snapshot: Snapshot) -> Iterator[IntentWord]:
    """The names of intents that have one, and the options of their forms, at most _MOST_OPTIONS of a field.

    The short name of a question beside a flow only says to users what the answer is about.
    """
    for intent in snapshot.enabled_rows(rows.Intent):
        is_beside = QUESTION_BESIDE_FLOW.fullmatch(code(intent.intent_code))
        if intent.display_name and not blank(intent.display_name) and not is_beside:
            yield IntentWord(code(intent.intent_code), intent.display_name.strip(), is_option=False)
    for row in snapshot.enabled_rows(rows.OutputSchema):
        properties = row.json_schema.get("properties") if isinstance(row.json_schema, Mapping) else None
        for field in properties.values() if isinstance(properties, Mapping) else ():
            for text in _list_options(field) if isinstance(field, Mapping) else ():
                yield IntentWord(code(row.intent_code), text)


def _list_options(field: Mapping[str, Json]) -> Iterator[str]:
    """The options of a field as users call them: by labels and synonyms, else as they are."""
    listed = field.get("x-options")
    options = [option for option in listed if isinstance(option, Mapping)] if isinstance(listed, list) else []
    texts = [text for option in options for text in (option.get("label"), *(option.get("synonyms") or ()))]
    if not options:
        texts = [*(field.get("enum") or ())]
    return (text.strip() for text in texts[:_MOST_OPTIONS] if isinstance(text, str) and not blank(text))
