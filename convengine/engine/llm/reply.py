"""Find the JSON value in a model's answer, and validate it."""

import itertools
import json
import re
from collections.abc import Iterator
from typing import Any

from convengine.engine.llm.clean_answer import clean_answer
from convengine.engine.llm.faults import ModelFault
from convengine.engine.text.compare import blank, shorten
from convengine.engine.turn.codec import is_too_deep, loads
from convengine.json_value import Json

_FENCE, _LANGUAGE = re.compile(r"`{3,}|~{3,}"), re.compile(r"[ \t]*\w*")
_OPENS = re.compile(r"[{\[]")
#: How many brackets of an answer may begin its value.
_MOST_OPENS = 50
#: How much of an answer a message quotes.
_QUOTED = 120


class UnusableAnswer(ValueError):
    """An answer that does not have the requested form."""

    def __init__(self, fault: ModelFault) -> None:
        super().__init__(fault.message)
        self.fault = fault


def read_json(text: str) -> Json:
    """The object or list of an answer: the whole text, else its first code fence, else the last one among words.

    Marks of the model around it are no part of it; a whole document may have them in its texts. Raises UnusableAnswer.
    """
    answer = clean_answer(text)
    for candidate in (text.strip("\ufeff"), answer, *_list_fenced(answer), *reversed(list(_list_documents(answer)))):
        try:
            value = loads(candidate.strip())
        except ValueError:
            continue
        if isinstance(value, (dict, list)) and not is_too_deep(value):
            return value
    if blank(answer):
        raise UnusableAnswer(ModelFault("LLM_EMPTY_RESPONSE", "empty response"))
    raise UnusableAnswer(
        ModelFault("LLM_INVALID_RESPONSE", f"The answer is not a JSON object: {shorten(answer, _QUOTED)!r}.")
    )


def _list_fenced(text: str) -> Iterator[str]:
    """What stands between code fences, without the name of a language."""
    openings: dict[str, re.Match[str]] = {}
    for fence in _FENCE.finditer(text):
        opening = openings.setdefault(fence[0][0], fence)
        if opening is not fence and fence[0].startswith(opening[0]):
            yield _LANGUAGE.sub("", text[opening.end() : fence.start()], count=1)
            del openings[fence[0][0]]


def _list_documents(text: str) -> Iterator[str]:
    """The objects, and lists of objects, that stand among words."""
    end, decoder = 0, json.JSONDecoder()
    for opening in itertools.islice(_OPENS.finditer(text), _MOST_OPENS):
        start = opening.start()
        if start < end:
            continue
        try:
            value, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict) or any(isinstance(item, dict) for item in value):
            yield text[start:end]


def validate_value(value: Json, schema: Json) -> None:
    """Validate a value by a schema. Raises UnusableAnswer, which names the first error.

    Patterns are not checked here: analysts' patterns are for RE2, and each field is validated when it is taken.
    """
    from jsonschema import Draft202012Validator, validators
    from jsonschema.exceptions import SchemaError, best_match
    from referencing import Registry
    from referencing.exceptions import Unresolvable

    unchecked = dict.fromkeys(("pattern", "patternProperties"), lambda *arguments: ())
    validator = validators.extend(Draft202012Validator, unchecked)  # type: ignore[no-untyped-call]
    try:
        # An empty registry, so that nothing is fetched.
        error = best_match(validator(schema, registry=Registry()).iter_errors(value))
    except (SchemaError, Unresolvable, TypeError, ValueError) as broken:
        raise UnusableAnswer(
            ModelFault("LLM_SCHEMA_VIOLATION", f"The schema cannot judge the answer: {broken}")
        ) from broken
    if error is not None:
        at = "/".join(str(part) for part in error.absolute_path) or "(the whole answer)"
        raise UnusableAnswer(ModelFault("LLM_SCHEMA_VIOLATION", f"{at}: {shorten(error.message, 2 * _QUOTED)}"))


def read_confidence(value: Any) -> float | None:
    """A number from 0 to 1, also from a text; values outside are clipped. Returns None for anything else."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return None if number != number else min(max(number, 0.0), 1.0)
