"""Milestones of conversations: the turns in which something happened for the first time, as conditions on turns."""

from collections.abc import Mapping
from typing import Any

from django.db.models import Exists, F, OuterRef, Q

from audit.models import CeTurnIndex
from audit.record.form_steps import FORM_STAGES, FormStep
from convengine.engine.stages import STAGES
from convengine.engine.turn.enums import TurnStatus, Word
from convengine.engine.turn.scope import HAND_OVER
from convengine.server.sessions.models import CeConversationHistory


class Milestone(Word):
    """What happened in a turn."""

    BEGAN = "BEGAN", "Conversation began"
    HANDED_OVER = "HANDED_OVER", "Handed over to a person"
    ENTERED = "ENTERED", "Intent or state changed"
    FORM_STARTED = "FORM_STARTED", "Form started"
    FORM_COMPLETED = "FORM_COMPLETED", "Form completed"
    MODEL_FAILED = "MODEL_FAILED", "A model failed"


#: The stages that say that a model gave no usable answer.
MODEL_ERROR_STAGES = tuple(sorted(name for name in STAGES if name.endswith("_LLM_ERROR")))
#: Failed and interrupted turns change no conversation.
_IS_COMMITTED = Q(status__in=(TurnStatus.OK.value, TurnStatus.BLOCKED.value))
_IN_HAND_OVER = Q(state_code=HAND_OVER) & _IS_COMMITTED


def _reaches_hand_over() -> Any:
    of_conversation = CeConversationHistory.objects.filter(conversation_id=OuterRef("conversation_id"))
    earlier = of_conversation.filter(_IN_HAND_OVER, turn_no__lt=OuterRef("turn_no"))
    return _IN_HAND_OVER & ~Exists(earlier)


def _enters_state() -> Q:
    stays = Q(intent_before__isnull=False, state_before__isnull=False)
    stays &= Q(intent_before=F("intent_code"), state_before=F("state_code"))
    return ~stays


def _has_model_error() -> Any:
    entries = CeTurnIndex.objects.filter(turn_id=OuterRef("turn_id"), kind=CeTurnIndex.STAGE)
    return Q(model_calls__gt=0) & Exists(entries.filter(value__in=MODEL_ERROR_STAGES))


def has_step(text: str) -> Any:
    """The turns with a step of a form, or with all of its kind: the text is a part of the role."""
    entries = CeTurnIndex.objects.filter(turn_id=OuterRef("turn_id"), kind=CeTurnIndex.STAGE)
    return _IS_COMMITTED & Exists(entries.filter(value__in=FORM_STAGES, role__contains=text))


#: The condition of each milestone on a turn.
CONDITIONS: Mapping[str, Any] = {
    Milestone.BEGAN: Q(turn_no=1),
    Milestone.HANDED_OVER: _reaches_hand_over(),
    Milestone.ENTERED: _IS_COMMITTED & _enters_state(),
    Milestone.FORM_STARTED: has_step(f"/{FormStep.STARTED}:"),
    Milestone.FORM_COMPLETED: has_step(f"/{FormStep.COMPLETED}:"),
    Milestone.MODEL_FAILED: _has_model_error(),
}
