"""A moment of a turn that can occur: what stands freely in it, and what the engine makes of that."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from config_admin.health.rules import dry, phases
from config_admin.health.rules.arriving import arrives
from config_admin.validation.world import World
from convengine.domain import rows
from convengine.domain.enums import DialogueAct, RulePhase, phase_of
from convengine.domain.session import Clarification, Session
from convengine.domain.snapshot import Snapshot
from convengine.domain.text import code
from convengine.rules import vocabulary
from convengine.rules.actions.contract import ActionValueError
from convengine.schemas.facts import SCHEMA_INCOMPLETE
from convengine.schemas.form import form_of

Json = Any
#: The conversation of every scene.
CONVERSATION = "00000000-0000-4000-8000-000000000001"


@dataclass(frozen=True)
class Scene:
    """What is chosen of a moment; all else follows."""

    phase: RulePhase
    intent: str
    state: str
    text: str = "hello"
    context: Mapping[str, Json] = field(default_factory=dict)
    params: Mapping[str, Json] = field(default_factory=dict)
    #: Facts that are free, by their name among the facts.
    facts: Mapping[str, Json] = field(default_factory=dict)
    schema: rows.OutputSchema | None = None
    #: True when the text is one for each of several patterns, with nothing in common.
    joined: bool = False


class Stage:
    """The configuration and installation that scenes play in; keeps what all of them ask for."""

    def __init__(self, snapshot: Snapshot, world: World) -> None:
        self.snapshot = snapshot
        self.world = world
        self._acts: dict[tuple[str, bool], DialogueAct] = {}

    @property
    def written(self) -> Mapping[str, list[Json]]:
        """The values that enabled rules give to input params."""
        return self.snapshot.table(rows.Rule).memo.get("health written", partial(_written, self.snapshot))

    def session(self, scene: Scene) -> Session | None:
        """The session of a scene as rules see it; null where the engine would not come to it, or not so."""
        phase, params = scene.phase, {**phases.params_of(scene.phase), **scene.params}
        if not all(phases.may_stand(key, value, phase, self.written) for key, value in scene.params.items()):
            return None
        if "previousTurn" in scene.facts:
            params["previousTurn"] = scene.facts["previousTurn"]
        query = scene.facts.get("standaloneQuery")
        session = Session(
            CONVERSATION,
            turn_no=scene.facts.get("turnNo", 1),
            user_text=scene.text,
            standalone_query=query,
            query_rewritten=query is not None,
            intent=scene.intent,
            state=scene.state,
            turn_start_intent=scene.intent,
            turn_start_state=scene.state,
            context=scene.context,
            input_params={**params, "standalone_query": query, "resolved_user_input": query or scene.text},
            steps=phases.steps_before(phase),
            **(self._facts(scene) | self._form(scene)),
        )
        act = self._act(session, scene.params.get("dialogue_act"))
        if act is None or not arrives(self.snapshot, self.world, scene.phase, session, self.act_of(session)):
            return None
        return session.with_params({"dialogue_act": act})

    def _facts(self, scene: Scene) -> dict[str, Json]:
        told, given = phases.params_of(scene.phase), scene.facts
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

    def _form(self, scene: Scene) -> dict[str, Json]:
        """What is known of the form in force."""
        if scene.schema is None:
            return {}
        status = form_of(self.snapshot, scene.schema).status(scene.context)
        return {
            "resolved_schema": scene.schema,
            "schema_complete": status.complete,
            "schema_has_any_value": status.has_any_value,
            "missing_required_fields": status.missing,
            "missing_field_options": dict(status.options),
        } | {"intent_locked": not status.complete, "intent_lock_reason": None if status.complete else SCHEMA_INCOMPLETE}

    def _act(self, session: Session, wanted: str | None) -> str | None:
        """The act of the moment: what the engine reads out of the text, or what a model or a rule may make of it."""
        found = self.act_of(session)
        if wanted is None or wanted == found:
            return found.value
        told = wanted in self.written.get("dialogue_act", ())
        open_ = wanted in (DialogueAct.ANSWER, DialogueAct.EDIT) and found in _BY_DEFAULT
        return wanted if told or open_ or self.world.model_configured else None

    def act_of(self, session: Session) -> DialogueAct:
        """What the engine's patterns take the text for."""
        key = (session.user_text or "", session.intent_locked or session.clarification is not None)
        if key not in self._acts:
            self._acts[key] = dry.act_of(session, self.snapshot)
        return self._acts[key]


_BY_DEFAULT = (DialogueAct.ANSWER, DialogueAct.NEW_REQUEST, DialogueAct.QUESTION)


def _written(snapshot: Snapshot) -> dict[str, list[Json]]:
    found: dict[str, list[Json]] = {}
    for rule in snapshot.enabled(rows.Rule):
        name = code(rule.action)
        if name not in ("SET_INPUT_PARAM", "SET_DIALOGUE_ACT") or phase_of(rule.phase) is None:
            continue
        try:
            said = vocabulary.actions()[name].parse(rule.action_value)
        except ActionValueError:
            continue
        given = said if name == "SET_INPUT_PARAM" else {"dialogue_act": said.act.value}
        for key, value in given.items():
            found.setdefault(key, []).append(value)
    return found
