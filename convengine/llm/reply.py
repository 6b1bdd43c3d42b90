"""Strict JSON out of what a model wrote (pipeline-2 15.1)."""

import re
from typing import Any

from convengine.codec import loads, too_deep
from convengine.domain.text import blank, excerpt
from convengine.llm.faults import ModelFault

Json = Any
_FENCED = re.compile(r"```[a-zA-Z]*[ \t]*\n(.*?)\n?[ \t]*```", re.DOTALL)
#: How much of an answer a message quotes.
_QUOTED = 120


class Unusable(ValueError):
    """An answer that is not what was asked for."""

    def __init__(self, fault: ModelFault) -> None:
        super().__init__(fault.message)
        self.fault = fault


def read_json(text: str) -> Json:
    """The object or list in an answer, which may stand in a code fence. Raises Unusable."""
    if blank(text):
        raise Unusable(ModelFault("LLM_EMPTY_RESPONSE", "empty response"))
    for candidate in (text, *_FENCED.findall(text)):
        try:
            value = loads(candidate.strip())
        except ValueError:
            continue
        if isinstance(value, (dict, list)) and not too_deep(value):
            return value
    raise Unusable(ModelFault("LLM_INVALID_RESPONSE", f"The answer is no JSON object: {excerpt(text, _QUOTED)!r}."))


def hold(value: Json, schema: Json) -> None:
    """Judge a value by a schema. Raises Unusable naming the first place that does not fit.

    Patterns are not judged here: those of analysts are for RE2, and each field is judged when it is taken.
    """
    from jsonschema.exceptions import SchemaError, best_match
    from referencing import Registry
    from referencing.exceptions import Unresolvable

    try:
        # An empty registry: what a schema refers to is in it, and nothing is fetched.
        error = best_match(_validator()(schema, registry=Registry()).iter_errors(value))
    except (SchemaError, Unresolvable, TypeError, ValueError) as broken:
        raise Unusable(ModelFault("LLM_SCHEMA_VIOLATION", f"The schema cannot judge the answer: {broken}")) from broken
    if error is not None:
        at = "/".join(str(part) for part in error.absolute_path) or "(the whole answer)"
        raise Unusable(ModelFault("LLM_SCHEMA_VIOLATION", f"{at}: {excerpt(error.message, 2 * _QUOTED)}"))


def _validator() -> Any:
    from jsonschema import Draft202012Validator, validators

    return validators.extend(  # type: ignore[no-untyped-call]
        Draft202012Validator, {"pattern": _unjudged, "patternProperties": _unjudged}
    )


def _unjudged(*arguments: Any) -> tuple[()]:
    return ()
