"""A phase of rules: pick, test, act, again while intent or state change (pipeline-2 7.5)."""

from convengine.domain.catalogue.rules import MAX_PASSES
from convengine.domain.enums import DecisionKind, RuleAction, RulePhase
from convengine.domain.rows import Rule
from convengine.domain.session import Session
from convengine.domain.turn import Turn
from convengine.rules import vocabulary
from convengine.rules.actions.contract import ActionFailed, ActionValueError, UnknownAction
from convengine.rules.conditions import evaluate
from convengine.rules.listing import listing
from convengine.rules.telling import Pass, Teller, Visit
from convengine.rules.verdict import Verdict

#: Session fields that a phase of rules may change.
RULE_FIELDS = frozenset(
    {
        "intent", "state", "transitions", "context", "input_params", "standalone_query", "query_rewritten",
        "preferences", "mounted_kb_id", "post_intent_rule", "rule_execution_source", "rule_execution_origin",
    }
)  # fmt: skip
#: Why a task that ran in an earlier pass of the phase is not tested again.
ALREADY_RUN = "ALREADY_RUN"


def run_phase(phase: RulePhase, source: str, session: Session, turn: Turn) -> Session:
    """The session after all rules of a phase that hold (7.5). `source` stands in brackets behind each rule stage.

    A turn that only resets runs no rules (R35). Never raises for what a row says: that is a RULE_ERROR in the trail.
    """
    if session.reset_only:
        return session
    run = _Run(turn, Teller(phase, source, turn), phase)
    session = run.announced(session)
    limit = turn.config(session, MAX_PASSES)
    for number in range(1, limit + 1):
        session, changed = run.one_pass(session, number)
        if not changed:
            return session
    run.tell.cap_reached(session, limit)
    return session


class _Run:
    """One call of `run_phase`."""

    def __init__(self, turn: Turn, tell: Teller, phase: RulePhase) -> None:
        self._turn = turn
        self._phase = phase
        self.tell = tell
        #: Rules whose task has run: it runs once in a phase, however many passes there are.
        self._tasks_run: set[int] = set()

    def announced(self, session: Session) -> Session:
        """The session, saying which phase runs for whom."""
        flags = self.tell.flags
        source, origin = flags["ruleExecutionSource"], flags["ruleExecutionOrigin"]
        post_intent = flags["ruleAgentPostIntent"]
        return session.evolve(
            post_intent_rule=post_intent,
            rule_execution_source=source,
            rule_execution_origin=origin,
            input_params={
                **session.input_params,
                "post_intent_rule": post_intent,
                "rule_execution_source": source,
                "rule_execution_origin": origin,
                "rule_phase": flags["rulePhase"],
                "rule_agent_post_intent": post_intent,
                "rule_agent_post_mcp": flags["ruleAgentPostMcp"],
                "rule_tool_post_execution": flags["ruleToolPostExecution"],
            },
        )

    def one_pass(self, session: Session, number: int) -> tuple[Session, bool]:
        """The session after one pass, and whether intent or state changed on the way.

        The list is that of the intent and state at the start, whatever becomes of them; each condition sees what the
        rules before it did.
        """
        found = listing(self._turn.snapshot, self._phase, session.intent, session.state)
        done = Pass(number, found, session.intent, session.state)
        for _, rule, fault in found.invalid():
            self._turn.row_invalid(session, rule, fault)
        changed = False
        for place, rule in found.visited(session.user_text):
            verdict = Verdict(False, ALREADY_RUN) if rule.rule_id in self._tasks_run else evaluate(rule, session)
            done.tested.append(Visit(place, rule, verdict))
            if not verdict.matched:
                continue
            self.tell.match(session, rule, verdict, done)
            before = session.intent, session.state
            session = self._acted(rule, session)
            changed = changed or before != (session.intent, session.state)
            if rule.stop_processing:
                done.stopped = True
                break
        self.tell.no_match(session, done)
        return session, changed

    def _acted(self, rule: Rule, session: Session) -> Session:
        """The session after the rule's action; after a failed one with what it had done before it failed."""
        try:
            session = self._act(rule, session)
        except (ActionValueError, ActionFailed) as error:
            session = error.session or session
            self.tell.error(session, rule, error)
        else:
            self.tell.applied(session, rule)
            self._turn.decided_by(rule, DecisionKind.RULE)
        return session

    def _act(self, rule: Rule, session: Session) -> Session:
        action = vocabulary.action(rule.action)
        if action is None:
            meant = vocabulary.closest(rule.action)
            hint = f" Did you mean {meant}?" if meant else ""
            known = ", ".join(sorted(vocabulary.actions()))
            raise UnknownAction(f"There is no action {rule.action}.{hint}", f"Choose one of: {known}.")
        if action.name == RuleAction.SET_TASK:
            self._tasks_run.add(rule.rule_id)
        return action.apply(rule, session, self._turn)
