"""Run a phase of rules: select, test, act; again while intent or state change."""

from convengine.engine.rules import vocabulary
from convengine.engine.rules.actions.contract import ActionFailed, ActionValueError, UnknownAction
from convengine.engine.rules.conditions.rule import evaluate_rule
from convengine.engine.rules.listing import get_listing
from convengine.engine.rules.phase_events import Pass, PhaseEvents, Visit
from convengine.engine.rules.settings import GENERAL_MAY_UNDO, MAX_PASSES
from convengine.engine.rules.verdict import OVERRIDDEN_BY, SCOPE_INTENT, Verdict
from convengine.engine.text.compare import code
from convengine.engine.text.wording import did_you_mean, join_names
from convengine.engine.turn.enums import DecisionKind, RuleAction, RulePhase
from convengine.engine.turn.owned_params import RuleParams
from convengine.engine.turn.rows import OutputSchema, Rule
from convengine.engine.turn.scope import ANY, rank_specificity
from convengine.engine.turn.session import PARAM_FIELDS, Right, Session
from convengine.engine.turn.turn import Turn

#: The right to run a phase of rules, which alone writes the topic `rules`.
RUN_RULES = Right(
    frozenset({
        "intent", "state", "transitions", "context", *PARAM_FIELDS, "standalone_query", "query_rewritten",
        "preferences", "mounted_kb_id", "fields_read", "post_intent_rule", "rule_execution_source",
        "rule_execution_origin",
    }),
    lambda before, after: before.rules is not after.rules,
)  # fmt: skip
#: Actions that set the intent or the state, with the field of the session.
_MOVES = {RuleAction.SET_INTENT.value: "intent", RuleAction.SET_STATE.value: "state"}
#: Reason why a task that ran in an earlier pass of the phase is not tested again.
ALREADY_RUN = "ALREADY_RUN"


def run_phase(
    phase: RulePhase, source: str, session: Session, turn: Turn, *, rules_of_state: str | None = None
) -> Session:
    """Run all rules of a phase whose conditions hold. `source` is appended in brackets to each rule stage.

    The most specific scope is tested first, in it the rules by priority, then by ID.
    `rules_of_state`: the state whose rules run, until one of them moves the dialogue; by default the present state.
    A turn that only resets or only digresses runs no rules. Never raises for a faulty row: the record has RULE_ERROR.
    """
    if session.reset_only or session.only_digresses:
        return session
    run = _PhaseRun(turn, PhaseEvents(phase, source, turn), phase)
    session = run.announce(session)
    limit = turn.config(session, MAX_PASSES)
    state = rules_of_state or session.state
    for number in range(1, limit + 1):
        session, changed = run.run_pass(session, number, state)
        if not changed:
            return session
        state = session.state
    run.tell.audit_pass_limit(session, limit)
    return session


class _PhaseRun:
    def __init__(self, turn: Turn, tell: PhaseEvents, phase: RulePhase) -> None:
        self._turn = turn
        self._phase = phase
        self.tell = tell
        #: Rules whose task has run: a task runs once per phase, however many passes there are.
        self._tasks_run: set[int] = set()

    def announce(self, session: Session) -> Session:
        """The session with the phase and its source in its params."""
        flags = self.tell.flags
        source, origin = flags["ruleExecutionSource"], flags["ruleExecutionOrigin"]
        post_intent = flags["ruleAgentPostIntent"]
        return session.evolve(
            post_intent_rule=post_intent, rule_execution_source=source, rule_execution_origin=origin
        ).with_values(
            RuleParams(
                post_intent_rule=post_intent,
                rule_execution_source=source,
                rule_execution_origin=origin,
                rule_phase=flags["rulePhase"],
                rule_agent_post_intent=post_intent,
                rule_agent_post_mcp=flags["ruleAgentPostMcp"],
                rule_tool_post_execution=flags["ruleToolPostExecution"],
            )
        )

    def run_pass(self, session: Session, number: int, state: str | None) -> tuple[Session, bool]:
        """Run one pass; returns the session, and whether intent or state changed.

        The intent at the start and `state` select the rules. Each condition sees the changes of earlier rules.
        """
        listing = get_listing(self._turn.snapshot, self._phase, session.intent, state)
        done = Pass(number, listing, session.intent, state)
        for _, rule, fault in listing.invalid():
            self._turn.audit_invalid_row(session, rule, fault)
        changed = False
        for index, rule in listing.list_visited(session.user_text):
            verdict = self._judge(rule, session)
            if verdict.matched and (protector := self._find_protector(rule, session)):
                verdict = Verdict(False, OVERRIDDEN_BY, verdict.operands)
                done.overridden[rule.rule_id] = protector
            done.tested.append(Visit(index, rule, verdict))
            if not verdict.matched:
                continue
            self.tell.match(session, rule, verdict, done)
            before = session.intent, session.state
            session = self._act_or_fail(rule, session)
            changed = changed or before != (session.intent, session.state)
            if rule.stop_processing:
                done.stopped = True
                break
        self.tell.audit_no_match(session, done)
        return session, changed

    def _judge(self, rule: Rule, session: Session) -> Verdict:
        """The result of a rule. It is not tested if its task has run, or if a refused form keeps its intent out."""
        refused = session.form.form_refused
        if refused and code(rule.intent_code) not in (ANY, refused):
            # After a "no" to the confirmation of a form, no other intent takes over.
            return Verdict(False, SCOPE_INTENT)
        if rule.rule_id in self._tasks_run:
            return Verdict(False, ALREADY_RUN)
        return evaluate_rule(rule, session, self._turn.on_fault)

    def _act_or_fail(self, rule: Rule, session: Session) -> Session:
        """The session after the rule's action; after a failed one, with what it had done before."""
        action = vocabulary.get_action(rule.action)
        try:
            if action is None:
                known = vocabulary.list_actions()
                hint = did_you_mean(code(rule.action), known)
                raise UnknownAction(f"There is no action {rule.action}.{hint}", f"Choose one of: {join_names(known)}.")
            if action.name == RuleAction.SET_TASK:
                self._tasks_run.add(rule.rule_id)  # Even if it fails.
            session = action.apply(rule, session, self._turn)
        except (ActionValueError, ActionFailed) as error:
            session = error.session or session
            if self._turn.on_fault and error.__cause__ and isinstance(error, ActionFailed):
                self._turn.on_fault("RULE_ACTION", rule.action, error.__cause__)
            self.tell.error(session, rule, error)
        else:
            self._remember_move(rule, session)
            self.tell.audit_action_done(session, rule)
            self._turn.record_deciding_row(rule, DecisionKind.RULE)
        return session

    def _find_protector(self, rule: Rule, session: Session) -> Rule | OutputSchema | None:
        """The more specific rule or form that decided the intent or state which this rule would change.

        Returns None if this rule may change it.
        """
        field = _MOVES.get(code(rule.action))
        if field is None or rule.override or field not in self._turn.set_by_rule:
            return None
        setter, value = self._turn.set_by_rule[field]
        has_changed_since = value != getattr(session, field)
        if has_changed_since or value == code(rule.action_value):
            return None
        if rank_specificity(setter) <= rank_specificity(rule):
            return None
        return None if self._turn.config(session, GENERAL_MAY_UNDO) else setter

    def _remember_move(self, rule: Rule, session: Session) -> None:
        """Remember that the rule decided about intent or state, unless a more specific one set the same value."""
        field = _MOVES.get(code(rule.action))
        value = getattr(session, field) if field else None
        if field is None or value is None:
            return
        setter, set_value = self._turn.set_by_rule.get(field, (rule, value))
        if set_value != value or rank_specificity(rule) >= rank_specificity(setter):
            self._turn.set_by_rule[field] = (rule, value)
