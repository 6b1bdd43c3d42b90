"""Milestones of conversations: the turns in which something happened for the first time, as conditions on turns."""

from collections.abc import Mapping
from typing import Any

from django.db.models import Exists, F, OuterRef, Q

from audit.record.form_steps import FORM_STAGES, FormStep
from audit.record.task_errors import RULE_STAGE, RULE_TASK, TASK_ERROR_STAGES
from audit.record.turn_index import has_stage
from convengine.engine.stages import STAGES
from convengine.engine.turn.enums import TurnStatus, Vocabulary
from convengine.engine.turn.scope import HAND_OVER
from convengine.server.sessions.models import CeConversationHistory


class Milestone(Vocabulary):
    """What happened in a turn."""

    BEGAN = "BEGAN", "Conversation began"
    HANDED_OVER = "HANDED_OVER", "Handed over to a person"
    ENTERED = "ENTERED", "Intent or state changed"
    FORM_STARTED = "FORM_STARTED", "Form started"
    FORM_COMPLETED = "FORM_COMPLETED", "Form completed"
    MODEL_FAILED = "MODEL_FAILED", "A model failed"
    TASK_FAILED = "TASK_FAILED", "A task or tool failed"


#: The stages that say that a model gave no usable answer.
MODEL_ERROR_STAGES = tuple(sorted(name for name in STAGES if name.endswith("_LLM_ERROR")))
#: Failed and interrupted turns change no conversation.
COMMITTED = (TurnStatus.OK.value, TurnStatus.BLOCKED.value)
IS_COMMITTED = Q(status__in=COMMITTED)
_IN_HAND_OVER = Q(state_code=HAND_OVER) & IS_COMMITTED
#: The turns that changed neither intent nor state, as far as those before are known.
_STAYS = Q(intent_before__isnull=False, state_before__isnull=False)
_STAYS &= Q(intent_before=F("intent_code"), state_before=F("state_code"))


def _is_first(condition: Any) -> Any:
    """The first turn of its conversation with the condition."""
    of_conversation = CeConversationHistory.objects.filter(conversation_id=OuterRef("conversation_id"))
    return condition & ~Exists(of_conversation.filter(condition, turn_no__lt=OuterRef("turn_no")))


def has_step(text: str) -> Any:
    """The turns with a step of a form, or with all of its kind: the text is a part of the role."""
    return IS_COMMITTED & has_stage(*FORM_STAGES, role__contains=text)


#: The condition of each milestone on a turn.
CONDITIONS: Mapping[str, Any] = {
    Milestone.BEGAN: Q(turn_no=1),
    Milestone.HANDED_OVER: _is_first(_IN_HAND_OVER),
    Milestone.ENTERED: IS_COMMITTED & ~_STAYS,
    Milestone.FORM_STARTED: has_step(f"/{FormStep.STARTED}:"),
    Milestone.FORM_COMPLETED: has_step(f"/{FormStep.COMPLETED}:"),
    Milestone.MODEL_FAILED: Q(model_calls__gt=0) & has_stage(*MODEL_ERROR_STAGES),
    Milestone.TASK_FAILED: Q(has_stage(*TASK_ERROR_STAGES)) | Q(has_stage(RULE_STAGE, role=RULE_TASK)),
}
