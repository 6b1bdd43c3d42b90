"""Simulated turns: whether the engine reaches a phase with a session, and what the phase does there."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple, Never, cast

from config_admin.health.rules import phases
from config_admin.health.rules.phases import SOURCES
from config_admin.health.rules.row_claims import NOW
from config_admin.validation import relations
from config_admin.validation.world import World
from convengine.engine.dialogue.classify import classify
from convengine.engine.dialogue.settings import RESET_ACT_RESETS
from convengine.engine.forms.form import get_form, is_meaningful
from convengine.engine.forms.session_form import SCHEMA_INCOMPLETE
from convengine.engine.rules import vocabulary
from convengine.engine.rules.actions.contract import ActionValueError
from convengine.engine.rules.apply import run_phase
from convengine.engine.steps.containers.step import choose_containers
from convengine.engine.steps.conversation.step import is_reset_command
from convengine.engine.steps.intents.classifiers import get_classifier_bank
from convengine.engine.steps.intents.settings import RESET_INTENT_CODES
from convengine.engine.steps.policy.step import get_policy_bank
from convengine.engine.text.compare import blank, code, truthy
from convengine.engine.turn import live_settings, rows
from convengine.engine.turn.enums import DialogueAct, RuleAction, RulePhase, RuleType, read_phase
from convengine.engine.turn.finder_port import NoFinders
from convengine.engine.turn.params import is_engine_owned
from convengine.engine.turn.ports import Ports
from convengine.engine.turn.scope import INTENT_COLLISION, intent_key
from convengine.engine.turn.session import Clarification, Session
from convengine.engine.turn.snapshot import Snapshot, Table
from convengine.engine.turn.trail import Trail
from convengine.engine.turn.turn import Turn, TurnRequest
from convengine.engine.understanding.phrases.matching import match_phrases

Json = Any
#: The conversation of every simulated turn.
CONVERSATION = "00000000-0000-4000-8000-000000000001"


@dataclass(frozen=True)
class HypotheticalTurn:
    """The free values of a turn; all else follows."""

    phase: RulePhase
    intent: str
    state: str
    text: str = "hello"
    context: Mapping[str, Json] = field(default_factory=dict)
    params: Mapping[str, Json] = field(default_factory=dict)
    #: Free facts, by name.
    facts: Mapping[str, Json] = field(default_factory=dict)
    schema: rows.OutputSchema | None = None
    #: True when the text is one for each of several unrelated patterns.
    joined: bool = False


class TurnSimulator:
    """The configuration and installation of simulations, with cached values."""

    def __init__(self, snapshot: Snapshot, world: World) -> None:
        self.snapshot = snapshot
        self.world = world
        self._acts: dict[tuple[str, bool], DialogueAct] = {}

    @property
    def written(self) -> Mapping[str, list[Json]]:
        """The values that enabled rules set in input params."""
        return self.snapshot.table(rows.Rule).memo.get("health written", partial(_written_values, self.snapshot))

    def session(self, turn: HypotheticalTurn) -> Session | None:
        """The session as rules see it; null if the engine would not reach it like that."""
        phase, params = turn.phase, {**phases.get_phase_params(turn.phase), **turn.params}
        if not all(phases.is_possible_param(key, value, phase, self.written) for key, value in turn.params.items()):
            return None
        if "previousTurn" in turn.facts:
            params["previousTurn"] = turn.facts["previousTurn"]
        query = turn.facts.get("standaloneQuery")
        session = Session(
            CONVERSATION,
            turn_no=turn.facts.get("turnNo", 1),
            now=NOW,
            user_text=turn.text,
            standalone_query=query,
            query_rewritten=query is not None,
            intent=turn.intent,
            state=turn.state,
            turn_start_intent=turn.intent,
            turn_start_state=turn.state,
            context=turn.context,
            input_params={**params, "standalone_query": query, "resolved_user_input": query or turn.text},
            steps=phases.steps_before(phase),
            **(self._facts(turn) | self._form(turn)),
        )
        act = self._act(session, turn.params.get("dialogue_act"))
        if act is None or not reaches_phase(self.snapshot, self.world, turn.phase, session, self.classify_act(session)):
            return None
        return session.with_params({"dialogue_act": act})

    def _facts(self, turn: HypotheticalTurn) -> dict[str, Json]:
        params, facts = phases.get_phase_params(turn.phase), turn.facts
        question = facts.get("pendingClarificationQuestion")
        data = facts.get("containerData")
        return {
            "lifecycle": facts.get("lifecycle", "RUNNING"),
            "context_summary": facts.get("contextSummary", ""),
            "last_llm_stage": facts.get("lastLlmStage"),
            "last_llm_output": facts.get("lastLlmOutput"),
            "container_data": data,
            "has_container_data": data is not None,
            "clarification": Clarification(question, "AGENT") if question is not None else None,
            "intent_locked": facts.get("intentLocked", False),
            "intent_lock_reason": SCHEMA_INCOMPLETE if facts.get("intentLocked") else None,
            "post_intent_rule": params["rule_agent_post_intent"],
            "rule_execution_source": params["rule_execution_source"],
            "rule_execution_origin": params["rule_execution_origin"],
        }

    def _form(self, turn: HypotheticalTurn) -> dict[str, Json]:
        """The facts of the current form."""
        if turn.schema is None:
            return {}
        status = get_form(self.snapshot, turn.schema).status(turn.context)
        return {
            "resolved_schema": turn.schema,
            "schema_complete": status.complete,
            "schema_has_any_value": status.has_any_value,
            "missing_required_fields": status.missing,
            "missing_field_options": dict(status.options),
        } | {"intent_locked": not status.complete, "intent_lock_reason": None if status.complete else SCHEMA_INCOMPLETE}

    def _act(self, session: Session, wanted: str | None) -> str | None:
        """The dialogue act: what the engine reads from the text, or what a model or a rule may set."""
        by_text = self.classify_act(session)
        if wanted is None or wanted == by_text:
            return by_text.value
        set_by_rule = wanted in self.written.get("dialogue_act", ())
        open_ = wanted in (DialogueAct.ANSWER, DialogueAct.EDIT) and by_text in _BY_DEFAULT
        return wanted if set_by_rule or open_ or self.world.model_configured else None

    def classify_act(self, session: Session) -> DialogueAct:
        """The dialogue act of a text by the engine's patterns."""
        key = (session.user_text or "", session.intent_locked or session.clarification is not None)
        if key not in self._acts:
            self._acts[key] = classify_act(session, self.snapshot)
        return self._acts[key]


_BY_DEFAULT = (DialogueAct.ANSWER, DialogueAct.NEW_REQUEST, DialogueAct.QUESTION)


def _written_values(snapshot: Snapshot) -> dict[str, list[Json]]:
    values: dict[str, list[Json]] = {}
    for rule in snapshot.enabled_rows(rows.Rule):
        name = code(rule.action)
        if name not in ("SET_INPUT_PARAM", "SET_DIALOGUE_ACT") or read_phase(rule.phase) is None:
            continue
        try:
            parsed = vocabulary.list_actions()[name].parse(rule.action_value)
        except ActionValueError:
            continue
        params = parsed if name == "SET_INPUT_PARAM" else {"dialogue_act": parsed.act.value}
        for key, value in params.items():
            values.setdefault(key, []).append(value)
    return values


_RUN = "health"


class _NoTasks:
    """No task is registered: a rule that needs one has an error and does nothing."""

    def names(self) -> tuple[str, ...]:
        return ()

    def methods(self, task: str) -> None:
        return


class _NoPorts:
    """The outside world of a simulation: none."""

    tasks = _NoTasks()
    finders = NoFinders()

    def __getattr__(self, name: str) -> Never:
        raise LookupError(f"A simulated turn has no {name}.")


def make_turn(snapshot: Snapshot) -> Turn:
    """A turn that only keeps events."""
    ports = cast(Ports, _NoPorts())
    return Turn(_RUN, 1, TurnRequest(_RUN), snapshot, ports, Trail(lambda: 0.0))


def replace_custom_code(snapshot: Snapshot) -> Snapshot:
    """The snapshot without rules that would run code of the deployment; the same one if there are none.

    A condition in code is never tested. An action in code fails: its rule holds, and may end the list.
    """
    table = snapshot.table(rows.Rule)
    rules = [_replace_custom_code(rule) for rule in snapshot.rows(rows.Rule)]
    if all(replaced is original for replaced, original in zip(rules, table.rows, strict=True)):
        return snapshot
    tables = {**snapshot.tables, table.name: Table(table.name, rules, table.unreadable)}
    return Snapshot(snapshot.config_version, tables, snapshot.defaults)


def _replace_custom_code(rule: rows.Rule) -> rows.Rule:
    action = vocabulary.get_action(rule.action)
    if code(rule.rule_type) not in set(RuleType):
        return replace(rule, enabled=False) if rule.enabled else rule
    return replace(rule, action=RuleAction.SET_TASK, action_value="none") if action and action.custom else rule


def classify_act(session: Session, snapshot: Snapshot) -> DialogueAct:
    """The dialogue act of a message by the engine's patterns; phrases that name a field are not known here."""
    return classify(session, make_turn(snapshot), lambda: False).act


class AppliedRule(NamedTuple):
    """A rule that acted: its pass, and the session before and after."""

    rule_id: Any
    number: int
    before: Session
    after: Session


class SimulatedPhase(NamedTuple):
    """The result of a simulated phase."""

    steps: Sequence[AppliedRule]
    end: Session
    #: True when intent or state still changed in the last allowed pass.
    capped: bool


def simulate_phase(session: Session, phase: RulePhase, snapshot: Snapshot) -> SimulatedPhase:
    """Run the phase. `snapshot` is harmless; a rule whose action fails has done nothing."""
    run = make_turn(snapshot)
    end = run_phase(phase, SOURCES[phase], session, run)
    steps: list[AppliedRule] = []
    matched: tuple[Any, int, Session] | None = None
    capped = False
    for event in run.trail.events:
        name = event.stage.split(" (")[0]
        capped = capped or name == "RULE_PASS_CAP_REACHED"
        if name == "RULE_MATCH":
            matched = (event.payload["ruleId"], event.payload["pass"], event.session)
        elif name == "RULE_APPLIED" and matched and matched[0] == event.payload["ruleId"]:
            steps.append(AppliedRule(*matched, event.session))
    return SimulatedPhase(steps, end, capped)


#: Phases that need a model.
_BY_MODEL = (RulePhase.POST_AGENT_INTENT, RulePhase.POST_AGENT_MCP)


def reaches_phase(snapshot: Snapshot, world: World, phase: RulePhase, session: Session, act: DialogueAct) -> bool:
    """False if the engine is known not to reach the phase. `act` is the one that it reads from the text."""
    if get_policy_bank(snapshot).hits(session.user_text) or _starts_over(snapshot, session, act):
        return False
    if phase in _BY_MODEL and not world.model_configured:
        return False
    if phases.knows_containers(phase) and _resets(snapshot, session.intent):
        return False
    if session.container_data is not None and not choose_containers(snapshot, session.intent, session.state).chosen:
        return False
    if phase == RulePhase.POST_TOOL_EXECUTION and truthy(session.input_params.get("skip_tool_execution")):
        return False
    if phase == RulePhase.POST_SCHEMA_EXTRACTION and not _collects(session):
        return False
    if session.resolved_schema is not None and not _is_sound(snapshot, session, session.resolved_schema):
        return False
    return phase != RulePhase.POST_CLASSIFIER_INTENT or _leads_to_intent(snapshot, session)


def _starts_over(snapshot: Snapshot, session: Session, act: DialogueAct) -> bool:
    """A text that only asks to start over lets no rule run (R35)."""
    turn = make_turn(snapshot)
    by_act = act is DialogueAct.RESET and turn.config(session, RESET_ACT_RESETS)
    return by_act or is_reset_command(session, turn)


def _resets(snapshot: Snapshot, intent: str | None) -> bool:
    """An intent that resets the conversation as soon as it is resolved."""
    return code(intent) in live_settings.read(snapshot, RESET_INTENT_CODES).value


def _collects(session: Session) -> bool:
    """Whether the message is read into a form before the phase."""
    by_others = truthy(session.input_params.get("skip_schema_extraction")) or code(session.state) == INTENT_COLLISION
    return session.resolved_schema is not None and not by_others and not blank(session.user_text)


def _is_sound(snapshot: Snapshot, session: Session, schema: rows.OutputSchema) -> bool:
    """Whether the values of the form are possible after collecting: valid, and filled from params of their names."""
    form = get_form(snapshot, schema)
    seeds = any(
        is_meaningful(session.input_params.get(field.path)) and not is_meaningful(session.context.get(field.path))
        for field in form.fields
        if not is_engine_owned(field.path)
    )
    return not seeds and not form.status(session.context).invalid


def _leads_to_intent(snapshot: Snapshot, session: Session) -> bool:
    """Whether the text matches phrases of this intent and of no other."""
    by_pk = snapshot.table(rows.Classifier).by_pk
    hits = {intent_key(by_pk[pk]) for pk in get_classifier_bank(snapshot).hits(session.user_text)}
    active = {intent for intent in hits if snapshot.is_active(intent)}
    if active:
        return active == {code(session.intent)}
    if matches := match_phrases(snapshot, session.user_text).hits:
        return {match.intent for match in matches} == {code(session.intent)}
    return any(
        row.is_semantic for row in relations.find_rows_of_intent(snapshot, rows.Classifier, code(session.intent))
    )
