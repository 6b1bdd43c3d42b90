"""Events without the prompts that they have, for readers who may not see them."""

from convengine.engine.stages import base_name
from convengine.engine.turn.codec import dumps, loads
from convengine.engine.turn.stages import PROMPT_RENDERING
from convengine.json_value import Json

_MODEL_INPUT = "_LLM_INPUT"
_PROMPT_KEYS = frozenset(
    {"system_prompt", "user_prompt", "systemPrompt", "userPrompt", "derivation_hint", "rendered_template"}
)


def strip_prompts(document: Json) -> Json:
    """Events, at any depth of an answer, without prompts."""
    if isinstance(document, list):
        return [strip_prompts(item) for item in document]
    if not isinstance(document, dict):
        return document
    if not isinstance(document.get("stage"), str):
        return {name: strip_prompts(item) for name, item in document.items()}
    if "payloadJson" in document:
        return {
            **document,
            "payloadJson": dumps(_strip_event_prompts(document["stage"], loads(document["payloadJson"]))),
        }
    return {**document, "payload": _strip_event_prompts(document["stage"], document.get("payload"))}


def _strip_event_prompts(stage: str, payload: Json) -> Json:
    """The payload of an event without a prompt."""
    if not isinstance(payload, dict):
        return payload
    name = base_name(stage)
    if name.endswith(_MODEL_INPUT) or name == PROMPT_RENDERING:
        return {"redacted": True, **({"_meta": payload["_meta"]} if "_meta" in payload else {})}
    # An event about a prompt that could not be rendered shows the prompt.
    stripped = _strip_prompt_keys(payload)
    return payload if stripped == payload else {**stripped, "redacted": True}


def _strip_prompt_keys(value: Json) -> Json:
    if isinstance(value, dict):
        return {name: _strip_prompt_keys(item) for name, item in value.items() if name not in _PROMPT_KEYS}
    return [_strip_prompt_keys(item) for item in value] if isinstance(value, list) else value
