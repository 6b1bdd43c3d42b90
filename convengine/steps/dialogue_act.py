"""DialogueActStep: turn the words of a message into one of eight acts (pipeline-1 8)."""

from convengine.continuity.meaning import understood
from convengine.correction.clauses import edit_clauses
from convengine.correction.fields import resolves_to_one_field
from convengine.correction.interaction import allowed
from convengine.dialogue.classify import classify
from convengine.dialogue.resolve import ResolvedAct, audit_act, audit_final, resolve_act
from convengine.domain.catalogue.dialogue import RESET_ACT_RESETS
from convengine.domain.enums import DialogueAct, ResetReason, RulePhase
from convengine.domain.outcome import Continue
from convengine.domain.reset import RESET_FIELDS, reset
from convengine.domain.session import Session
from convengine.domain.turn import Turn
from convengine.pipeline.step import Step
from convengine.rules.apply import RULE_FIELDS, run_phase
from convengine.schemas.select import schema_of


class DialogueActStep(Step):
    """Classify, let rules overrule it, and start afresh when that is all that was said."""

    after = ("PolicyEnforcementStep",)
    rank = 700
    requires_persisted = True
    writes = RULE_FIELDS | RESET_FIELDS

    def execute(self, session: Session, turn: Turn) -> Continue:
        """The act is in the input params from here on."""
        found = resolve_act(session, turn, classify(session, turn, lambda: _edits_a_field(session, turn)))
        session = _restated(session, found).with_params(found.params())
        audit_act(session, turn, found)
        if _starts_over(session, turn, found):
            # The reset clears the params; what the message was stays known to the rest of the turn.
            fresh = reset(session, turn, ResetReason.DIALOGUE_ACT_RESET, only=True)
            return Continue(fresh.evolve(reset_only=True).with_params(found.params()))
        after = run_phase(RulePhase.POST_DIALOGUE_ACT, self.name, session, turn)
        audit_final(session, after, turn)
        return Continue(understood(after, turn))


def _restated(session: Session, found: ResolvedAct) -> Session:
    """The message as the model restates it; without a model's answer there is nothing to set or clear (8.1)."""
    return session.with_query(found.query).evolve(query_rewritten=True) if found.query else session


def _edits_a_field(session: Session, turn: Turn) -> bool:
    """Row 4a: the state at turn start allows edits, and a "set field to value" means one of its fields (R103)."""
    if not edit_clauses(session.user_text):
        return False
    intent, state = session.turn_start_intent, session.turn_start_state
    if "edit" not in allowed(turn.snapshot, intent, state):
        return False
    schema = schema_of(turn.snapshot, intent, state)
    return schema is not None and resolves_to_one_field(session.user_text, schema.json_schema)


def _starts_over(session: Session, turn: Turn, found: ResolvedAct) -> bool:
    """The act is RESET and the words bear it out, whoever was asked first (8.4)."""
    return (
        found.found.act is DialogueAct.RESET
        and found.regex.act is DialogueAct.RESET
        and not session.reset_only
        and turn.config(session, RESET_ACT_RESETS)
    )
