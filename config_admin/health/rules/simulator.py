"""A possible turn: its free values, and what the engine derives from them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from config_admin.health.rules import dry, phases
from config_admin.health.rules.arriving import arrives
from config_admin.validation.world import World
from convengine.engine.forms.facts import SCHEMA_INCOMPLETE
from convengine.engine.forms.form import get_form
from convengine.engine.rules import vocabulary
from convengine.engine.rules.actions.contract import ActionValueError
from convengine.engine.text.compare import code
from convengine.engine.turn import rows
from convengine.engine.turn.enums import DialogueAct, RulePhase, read_phase
from convengine.engine.turn.session import Clarification, Session
from convengine.engine.turn.snapshot import Snapshot

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
        phase, params = turn.phase, {**phases.params_of(turn.phase), **turn.params}
        if not all(phases.may_stand(key, value, phase, self.written) for key, value in turn.params.items()):
            return None
        if "previousTurn" in turn.facts:
            params["previousTurn"] = turn.facts["previousTurn"]
        query = turn.facts.get("standaloneQuery")
        session = Session(
            CONVERSATION,
            turn_no=turn.facts.get("turnNo", 1),
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
        if act is None or not arrives(self.snapshot, self.world, turn.phase, session, self.act_of(session)):
            return None
        return session.with_params({"dialogue_act": act})

    def _facts(self, turn: HypotheticalTurn) -> dict[str, Json]:
        told, given = phases.params_of(turn.phase), turn.facts
        question = given.get("pendingClarificationQuestion")
        data = given.get("containerData")
        return {
            "lifecycle": given.get("lifecycle", "RUNNING"),
            "context_summary": given.get("contextSummary", ""),
            "last_llm_stage": given.get("lastLlmStage"),
            "last_llm_output": given.get("lastLlmOutput"),
            "container_data": data,
            "has_container_data": data is not None,
            "clarification": Clarification(question, "AGENT") if question is not None else None,
            "intent_locked": given.get("intentLocked", False),
            "intent_lock_reason": SCHEMA_INCOMPLETE if given.get("intentLocked") else None,
            "post_intent_rule": told["rule_agent_post_intent"],
            "rule_execution_source": told["rule_execution_source"],
            "rule_execution_origin": told["rule_execution_origin"],
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
        found = self.act_of(session)
        if wanted is None or wanted == found:
            return found.value
        told = wanted in self.written.get("dialogue_act", ())
        open_ = wanted in (DialogueAct.ANSWER, DialogueAct.EDIT) and found in _BY_DEFAULT
        return wanted if told or open_ or self.world.model_configured else None

    def act_of(self, session: Session) -> DialogueAct:
        """The dialogue act of a text by the engine's patterns."""
        key = (session.user_text or "", session.intent_locked or session.clarification is not None)
        if key not in self._acts:
            self._acts[key] = dry.act_of(session, self.snapshot)
        return self._acts[key]


_BY_DEFAULT = (DialogueAct.ANSWER, DialogueAct.NEW_REQUEST, DialogueAct.QUESTION)


def _written_values(snapshot: Snapshot) -> dict[str, list[Json]]:
    found: dict[str, list[Json]] = {}
    for rule in snapshot.enabled_rows(rows.Rule):
        name = code(rule.action)
        if name not in ("SET_INPUT_PARAM", "SET_DIALOGUE_ACT") or read_phase(rule.phase) is None:
            continue
        try:
            said = vocabulary.list_actions()[name].parse(rule.action_value)
        except ActionValueError:
            continue
        given = said if name == "SET_INPUT_PARAM" else {"dialogue_act": said.act.value}
        for key, value in given.items():
            found.setdefault(key, []).append(value)
    return found
