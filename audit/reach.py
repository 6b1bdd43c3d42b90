"""How far a key sees: all of its workspace, or its own conversations without what models were asked (3.3)."""

from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response

from audit.stage_names import base_name
from convengine.api.models import CeApiKey
from convengine.codec import dumps, loads
from convengine.domain.stages import Stage
from convengine.sessions.models import CeConversation

Json = Any
#: Everything of the workspace, as the group `qa` reads it; and what the group `integrator` may read (R53).
WHOLE, OWN = "audit", "own_audit"
_ASKED = "_LLM_INPUT"
_PROMPTS = frozenset(
    {"system_prompt", "user_prompt", "systemPrompt", "userPrompt", "derivation_hint", "rendered_template"}
)


def may_read(key: CeApiKey, row: CeConversation) -> bool:
    """Whether a key reads a conversation of its workspace. Its own are also those that a key of the same person began,
    so that keys can be replaced.
    """
    if WHOLE in key.scopes or row.opened_by == key.prefix:
        return True
    # The columns of a key that a request brought do not include who made it.
    mine = CeApiKey.objects.filter(pk=key.pk, made_by__isnull=False).values("made_by")
    return CeApiKey.objects.filter(prefix=row.opened_by, made_by__in=mine).exists()


def without_prompts(found: Json) -> Json:
    """Events, at any depth of an answer, without what models were asked."""
    if isinstance(found, list):
        return [without_prompts(item) for item in found]
    if not isinstance(found, dict):
        return found
    if not isinstance(found.get("stage"), str):
        return {name: without_prompts(item) for name, item in found.items()}
    if "payloadJson" in found:
        return {**found, "payloadJson": dumps(_unprompted(found["stage"], loads(found["payloadJson"])))}
    return {**found, "payload": _unprompted(found["stage"], found.get("payload"))}


def _unprompted(stage: str, payload: Json) -> Json:
    """The payload of an event without what a model was asked."""
    if not isinstance(payload, dict):
        return payload
    name = base_name(stage)
    if name.endswith(_ASKED) or name == Stage.PROMPT_RENDERING:
        return {"redacted": True, **({"_meta": payload["_meta"]} if "_meta" in payload else {})}
    # An event that tells why a prompt could not be filled in shows the prompt.
    told = _without(payload)
    return payload if told == payload else {**told, "redacted": True}


def _without(value: Json) -> Json:
    if isinstance(value, dict):
        return {name: _without(item) for name, item in value.items() if name not in _PROMPTS}
    return [_without(item) for item in value] if isinstance(value, list) else value


class OwnToo:
    """A view that keys with either scope may read."""

    scope = (WHOLE, OWN)

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        """The answer, for most keys as it is."""
        if isinstance(response, Response) and not response.exception and not sees_prompts(request):
            response.data = without_prompts(response.data)
        return super().finalize_response(request, response, *args, **kwargs)  # type: ignore[misc]


def sees_prompts(request: Request) -> bool:
    """Whether the key of a call may read what models were asked; true without a key, which gets nothing."""
    return not isinstance(request.auth, CeApiKey) or WHOLE in request.auth.scopes
