"""PolicyEnforcementStep: block prohibited input before any model sees it (pipeline-1 7)."""

from typing import Any

from convengine.engine.pipeline.step import Continue, Outcome, Step, Stop
from convengine.engine.steps.policy.model_judge import judge_policies
from convengine.engine.steps.policy.policies import choose_policy, find_matched_excerpt, list_judged_policies
from convengine.engine.steps.policy.settings import BLOCK_IS_TERMINAL, DEFAULT_RESPONSE, ENABLE_LLM
from convengine.engine.steps.policy.stages import POLICY_BLOCK
from convengine.engine.text.compare import blank, shorten
from convengine.engine.turn.enums import ConversationStatus, DecisionKind
from convengine.engine.turn.payload import TextPayload, to_document, to_spoken_text
from convengine.engine.turn.rows import Policy
from convengine.engine.turn.session import FinalResult, Session
from convengine.engine.turn.stages import ASSISTANT_OUTPUT, ENGINE_RETURN
from convengine.engine.turn.turn import Candidate, Turn


class PolicyEnforcementStep(Step):
    """Block a forbidden message: the first matching policy answers with its text and stops the turn."""

    after = ("AuditUserInputStep",)
    rank = 600
    requires_persisted = True
    writes = frozenset({"status", "last_assistant", "payload"})

    def execute(self, session: Session, turn: Turn) -> Outcome:
        """Continue with status RUNNING, or Stop with the policy's text and status BLOCKED."""
        if session.status == ConversationStatus.BLOCKED and turn.config(session, BLOCK_IS_TERMINAL):
            turn.audit(session, POLICY_BLOCK, reason="TERMINAL")
            return _block_turn(session, turn, to_spoken_text(session.last_assistant))
        session = session.evolve(status=ConversationStatus.RUNNING.value)
        if blank(session.user_text) or not turn.snapshot.rows(Policy):
            return Continue(session)
        policy = self._choose_policy(session, turn)
        if policy is None:
            return Continue(session)
        turn.audit(
            session,
            POLICY_BLOCK,
            policyId=policy.policy_id,
            ruleType=policy.rule_type,
            pattern=policy.pattern,
            description=policy.description,
            matchedExcerpt=shorten(find_matched_excerpt(policy, session.user_text), 80),
        )
        text = policy.response_text
        return _block_turn(
            session,
            turn,
            turn.config(session, DEFAULT_RESPONSE) if text is None or blank(text) else text,
            policyId=policy.policy_id,
        )

    @staticmethod
    def _choose_policy(session: Session, turn: Turn) -> Policy | None:
        choice = choose_policy(turn.snapshot, session.user_text)
        for row, fault in choice.invalid.items():
            turn.audit_invalid_row(session, row, fault)
        winner, model_candidates = choice.winner, tuple[Candidate, ...]()
        # A bare request to start over needs no judgement.
        asks = winner is None and not session.reset_only and bool(list_judged_policies(turn.snapshot))
        if asks and turn.config(session, ENABLE_LLM):
            judgement = judge_policies(session, turn)
            winner, model_candidates = judgement.winner, judgement.candidates
        turn.decide(
            session,
            DecisionKind.POLICY,
            key={},
            winner=winner,
            candidates=[*choice.candidates(), *model_candidates],
            cut=choice.cut,
        )
        return winner


def _block_turn(session: Session, turn: Turn, text: str, **details: Any) -> Stop:
    payload = TextPayload(text)
    session = session.evolve(
        status=ConversationStatus.BLOCKED.value, payload=payload, last_assistant=to_document(payload)
    )
    result = FinalResult(session.intent or "", session.state or "", payload, session.context)
    turn.audit(
        session,
        ASSISTANT_OUTPUT,
        output=text,
        outputFormat="TEXT",
        responseType="POLICY",
        intent=session.intent,
        state=session.state,
        **details,
    )
    turn.audit(session, ENGINE_RETURN, intent=session.intent, state=session.state, final_result=to_document(payload))
    return Stop(session, result)
