"""PolicyEnforcementStep: refuse prohibited input before any model sees it (pipeline-1 7)."""

from typing import Any

from convengine.domain.catalogue.policy import BLOCK_IS_TERMINAL, DEFAULT_RESPONSE, ENABLE_LLM
from convengine.domain.enums import ConversationStatus, DecisionKind
from convengine.domain.outcome import Continue, Outcome, Stop
from convengine.domain.payload import TextPayload, spoken, stored
from convengine.domain.rows import Policy
from convengine.domain.session import FinalResult, Session
from convengine.domain.stages import Stage
from convengine.domain.text import blank, excerpt
from convengine.domain.turn import Candidate, Turn
from convengine.intents.judge import judge
from convengine.intents.policies import choose_policy, judged_policies, matched_excerpt
from convengine.pipeline.step import Step


class PolicyEnforcementStep(Step):
    """The first hit answers with its own text and stops the turn; the next turn runs again."""

    after = ("AuditUserInputStep",)
    rank = 600
    requires_persisted = True
    writes = frozenset({"status", "last_assistant", "payload"})

    def execute(self, session: Session, turn: Turn) -> Outcome:
        """Continue with status RUNNING, or Stop with the policy's text and status BLOCKED."""
        if session.status == ConversationStatus.BLOCKED and turn.config(session, BLOCK_IS_TERMINAL):
            turn.audit(session, Stage.POLICY_BLOCK, reason="TERMINAL")
            return _blocked(session, turn, spoken(session.last_assistant))
        session = session.evolve(status=ConversationStatus.RUNNING.value)
        if blank(session.user_text) or not turn.snapshot.rows(Policy):
            return Continue(session)
        policy = self._decide(session, turn)
        if policy is None:
            return Continue(session)
        turn.audit(
            session,
            Stage.POLICY_BLOCK,
            policyId=policy.policy_id,
            ruleType=policy.rule_type,
            pattern=policy.pattern,
            description=policy.description,
            matchedExcerpt=excerpt(matched_excerpt(policy, session.user_text), 80),
        )
        text = policy.response_text
        return _blocked(
            session,
            turn,
            turn.config(session, DEFAULT_RESPONSE) if text is None or blank(text) else text,
            policyId=policy.policy_id,
        )

    @staticmethod
    def _decide(session: Session, turn: Turn) -> Policy | None:
        choice = choose_policy(turn.snapshot, session.user_text)
        for row, fault in choice.invalid.items():
            turn.row_invalid(session, row, fault)
        winner, judged = choice.winner, tuple[Candidate, ...]()
        # A bare wish to start over is nothing to judge (RST-6).
        asks = winner is None and not session.reset_only and bool(judged_policies(turn.snapshot))
        if asks and turn.config(session, ENABLE_LLM):
            judgement = judge(session, turn)
            winner, judged = judgement.winner, judgement.candidates
        turn.decide(
            session,
            DecisionKind.POLICY,
            key={},
            winner=winner,
            candidates=[*choice.candidates(), *judged],
            cut=choice.cut,
        )
        return winner


def _blocked(session: Session, turn: Turn, text: str, **about: Any) -> Stop:
    payload = TextPayload(text)
    session = session.evolve(status=ConversationStatus.BLOCKED.value, payload=payload, last_assistant=stored(payload))
    result = FinalResult(session.intent or "", session.state or "", payload, session.context)
    turn.audit(
        session,
        Stage.ASSISTANT_OUTPUT,
        output=text,
        outputFormat="TEXT",
        responseType="POLICY",
        intent=session.intent,
        state=session.state,
        **about,
    )
    turn.audit(session, Stage.ENGINE_RETURN, intent=session.intent, state=session.state, final_result=stored(payload))
    return Stop(session, result)
