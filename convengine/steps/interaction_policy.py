"""InteractionPolicyStep: route the turn by its act and by what the dialogue waits for (pipeline-1 9)."""

from convengine.actions import question
from convengine.actions.waiting import waits_for_action, waits_for_slot
from convengine.dialogue.policy import Decided, Waiting, decide
from convengine.domain.catalogue.interaction import REQUIRE_RESOLVED_INTENT_AND_STATE
from convengine.domain.enums import DialogueAct, PolicyDecision
from convengine.domain.outcome import Continue
from convengine.domain.scope import resolved, state_resolved
from convengine.domain.session import Session
from convengine.domain.stages import Stage
from convengine.domain.turn import Turn
from convengine.pipeline.step import Step


class InteractionPolicyStep(Step):
    """So that a "yes" is not taken for a new topic."""

    after = ("DialogueActStep",)
    rank = 800
    requires_persisted = True
    writes = frozenset({"input_params", "clarification", "interaction_decision"})

    def execute(self, session: Session, turn: Turn) -> Continue:
        """Leave the decision in `policy_decision`, and whether intents are looked at in `skip_intent_resolution`."""
        act = DialogueAct.read(session.input_params.get("dialogue_act")) or DialogueAct.NEW_REQUEST
        if session.reply_override is None:
            session, decided = _answered(session, turn, act)
        else:
            # The turn is answered already, and what was said meant nothing to what the dialogue waits for.
            decided = Decided(PolicyDecision.RECLASSIFY_INTENT, session.reply_override.source)
        waiting = _waiting(session, turn)
        decided = decided or decide(session, turn, act, waiting)
        session = session.evolve(interaction_decision=decided.decision.value).with_params(
            {"policy_decision": decided.decision.value, "skip_intent_resolution": decided.skips_resolution}
        )
        turn.audit(
            session,
            Stage.INTERACTION_POLICY_DECIDED,
            dialogueAct=act.value,
            policyDecision=decided.decision.value,
            skipIntentResolution=decided.skips_resolution,
            hasPendingAction=waiting.action,
            hasPendingSlot=waiting.slot,
            intent=session.intent,
            state=session.state,
            decidedBy=decided.by,
            matrixKey=decided.matrix_key,
        )
        return Continue(session)


def _answered(session: Session, turn: Turn, act: DialogueAct) -> tuple[Session, Decided | None]:
    """P0: the reply to "which action do you mean?" (9.3)."""
    session = question.closed_by_key(session)
    if not question.is_open(session):
        return session, None
    if act is DialogueAct.NEGATE:
        return session.evolve(clarification=None), Decided(PolicyDecision.RECLASSIFY_INTENT, "P0")
    key = question.selected_key(session, turn)
    if key is None:
        return session, None
    session = session.evolve(clarification=None).with_params({"pending_action_key": key})
    turn.audit(session, Stage.DISAMBIGUATION_RESOLVED, actionKey=key, reply=session.user_text)
    return session, Decided(PolicyDecision.EXECUTE_PENDING_ACTION, "P0")


def _waiting(session: Session, turn: Turn) -> Waiting:
    known = resolved(session.intent) and state_resolved(session.state)
    required = turn.config(session, REQUIRE_RESOLVED_INTENT_AND_STATE)
    return Waiting(waits_for_action(session, turn), waits_for_slot(session), known or not required)
