"""GuardrailStep: clean the text, and hold sensitive tools and actions back until they are approved (pipeline-1 13)."""

from convengine.actions.guardrail import Judgement, judge
from convengine.actions.lifecycle import LIFECYCLE_FIELDS, reverted
from convengine.domain.catalogue.interaction import DENY_RESPONSE, GUARDRAIL_ENABLED, SANITIZE_INPUT
from convengine.domain.enums import PolicyDecision
from convengine.domain.outcome import Continue
from convengine.domain.session import ReplyOverride, Session
from convengine.domain.stages import Stage
from convengine.domain.turn import Turn
from convengine.pipeline.step import Step

REASON = "SENSITIVE_ACTION_APPROVAL_REQUIRED"


class GuardrailStep(Step):
    """Allow, or deny with flags that the steps behind it obey."""

    after = ("DisambiguationStep",)
    rank = 1200
    requires_persisted = True
    writes = LIFECYCLE_FIELDS | {"reply_override"}

    def execute(self, session: Session, turn: Turn) -> Continue:
        """Exactly one of GUARDRAIL_ALLOW and GUARDRAIL_DENY, unless the step is switched off."""
        if not turn.config(session, GUARDRAIL_ENABLED):
            return Continue(session)
        found = judge(session, turn)
        if turn.config(session, SANITIZE_INPUT):
            session = session.with_params({"sanitized_user_text": found.text})
        return Continue(_denied(session, turn, found) if found.denied else _allowed(session, turn, found))


def _allowed(session: Session, turn: Turn, found: Judgement) -> Session:
    # The skip flags stay as this turn has them: an expired action must not run because its text is harmless (R91).
    session = session.with_params({"guardrail_blocked": False})
    turn.audit(
        session,
        Stage.GUARDRAIL_ALLOW,
        result="ALLOW",
        sensitive=found.sensitive is not None,
        approvalRequired=found.required,
        approvalGranted=found.approved,
        intent=session.intent,
        state=session.state,
    )
    return session


def _denied(session: Session, turn: Turn, found: Judgement) -> Session:
    """Whether intents are looked at stays as the policy set it; a rejection stays one (R99)."""
    rejecting = session.input_params.get("policy_decision") == PolicyDecision.REJECT_PENDING_ACTION
    decision = PolicyDecision.REJECT_PENDING_ACTION if rejecting else PolicyDecision.RECLASSIFY_INTENT
    session = session.with_params(
        {
            "guardrail_blocked": True,
            "guardrail_reason": REASON,
            "policy_decision": decision.value,
            "skip_tool_execution": True,
            "skip_pending_action_execution": True,
        }
    )
    if text := turn.config(session, DENY_RESPONSE):
        session = session.evolve(reply_override=ReplyOverride(text, "GUARDRAIL"))
    turn.audit(
        session,
        Stage.GUARDRAIL_DENY,
        result="DENY",
        reason=REASON,
        sensitive=True,
        approvalGranted=found.approved,
        userText=found.text,
        intent=session.intent,
        state=session.state,
        matchedOn=found.sensitive.matched_on if found.sensitive else None,
        patternIndex=found.sensitive.pattern_index if found.sensitive else None,
    )
    return reverted(session, turn)
