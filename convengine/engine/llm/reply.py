"""A model's answer without its thoughts and marks, and the JSON value in it: found, validated."""

import itertools
import json
import re
from collections.abc import Iterator
from typing import Any

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
_THOUGHT = r"(?:think|thinking|thoughts?|reasoning|reflection|analysis|scratchpad)"
_OPEN = (
    rf"(?:<(?:\w+:)?{_THOUGHT}(?:\s[^<>]*)?(?<!/)>|\[THINK\]|◁{_THOUGHT}▷|<\|channel>"
    rf"|<\|(?:(?:begin|start)_of_)?{_THOUGHT}(?:_(?:begin|start))?\|>)"
)
_CLOSE = (
    rf"(?:</(?:\w+:)?{_THOUGHT}\s*>|\[/THINK\]|◁/{_THOUGHT}▷|<channel\|>"
    rf"|<\|(?:/|end_of_){_THOUGHT}\|>|<\|{_THOUGHT}_end\|>)"
)
_THOUGHT_MARKS = re.compile(rf"(?P<open>{_OPEN})|{_CLOSE}", re.IGNORECASE)
_CALL = r"tool[_▁]calls?(?:[_▁]section)?"
_CALLS = re.compile(
    r"<(tool_calls?|tool_responses?|tool_code|function_calls?|function(?==))\b[^<>]*>.*?(?:</\1\s*>|\Z)"
    rf"|<[|｜]{_CALL}[_▁]begin[|｜]>.*?(?:<[|｜]{_CALL}[_▁]end[|｜]>|\Z)"
    r"|<\|tool_call>.*?(?:<tool_call\|>|\Z)"
    r"|(?:\[TOOL_CALLS\]|<\|(?:python_tag|tool_calls?)\|>).*\Z",
    re.DOTALL,
)
#: The parts of an answer in channels: only the final one is for the user.
_CHANNEL, _MESSAGE, _FINAL = "<|channel|>", "<|message|>", "final"
_TURN = r"(?:<\|(?:im_start|start|start_header_id|start_of_role)\|>|<start_of_turn>)\s*"
#: After these a model goes on with what somebody else might say.
_ENDS = re.compile(
    r"<\|(?:im_end|eot_id|eom_id|endoftext|end_of_text|end|return|call|user|human)\|>"
    rf"|<｜(?:end▁of▁sentence|User)｜>|<eos>|<end_of_turn>|{_TURN}(?:user|human|system|tool)\b"
)
#: Who speaks, as templates of chats say it.
_SPEAKER = re.compile(rf"{_TURN}(?:assistant|model)?(?:<\|end_(?:header_id|of_role)\|>)?")
_TOKENS = re.compile(
    rf"<[|｜][^<>|｜\s]{{1,40}}[|｜]>|<(?:bos|pad|unk|{_THOUGHT}\s*/)>|\[/?INST\]|<</?SYS>>|\A\s*<s>|</s>\s*\Z"
)
#: A frame around the whole answer, as models of thoughts learn it.
_FRAME = re.compile(r"\A<(answer|final|response|output|solution)>(.*)</\1>\Z", re.DOTALL | re.IGNORECASE)


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


def clean_answer(text: str) -> str:
    """The answer in a model's text; blank if it has only thoughts or calls."""
    rest = _CALLS.sub("", _strip_thoughts(_choose_channel(text.strip("\ufeff\u200b"))))
    parts = (_TOKENS.sub("", _SPEAKER.sub("", part)).strip() for part in _ENDS.split(rest))
    answer = next(filter(None, (_FRAME.sub(r"\2", part).strip() for part in parts)), "")
    return text if answer == text.strip() else answer


def _choose_channel(text: str) -> str:
    """The final part of an answer in channels; the text without channels as it is."""
    _, *channels = text.split(_CHANNEL)
    if not channels:
        return text
    final = [part.partition(_MESSAGE)[2] for part in channels if part.lstrip().startswith(_FINAL)]
    return final[-1] if final else ""


def _strip_thoughts(text: str) -> str:
    """The text without thoughts.

    Some services leave out the first mark, and an answer that is cut off has no last one.
    """
    parts, end, is_thinking = list[str](), 0, False
    for mark in _THOUGHT_MARKS.finditer(text):
        if mark["open"]:
            parts += [] if is_thinking else [text[end : mark.start()]]
            is_thinking = True
        else:
            parts = parts if is_thinking else []
            end, is_thinking = mark.end(), False
    return "".join(parts) if is_thinking else "".join((*parts, text[end:]))
