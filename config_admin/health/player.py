"""Turns of the health check: whole turns of the engine from a typed beginning, with nothing behind them that acts.

Tasks and tools succeed and do nothing, containers have something in them, a model answers nothing, and rules with code
of the deployment do not run it.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from config_admin.health.diagnosis import Witness
from config_admin.health.rules.mentions import get_noon
from config_admin.validation.draft import overlaid
from config_admin.validation.world import World
from convengine.engine.cached_property import cached_property
from convengine.engine.pipeline.step import Step
from convengine.engine.rules import vocabulary
from convengine.engine.rules.stages import RULE_APPLIED, RULE_MATCH, RULE_PASS_CAP_REACHED
from convengine.engine.steps.intents.stages import INTENT_CLASSIFIER_COLLISION
from convengine.engine.steps.tools.scripted import ScriptedServers, ScriptedTools
from convengine.engine.text.compare import code
from convengine.engine.turn import rows
from convengine.engine.turn.enums import RuleAction, RulePhase, RuleType
from convengine.engine.turn.params import remove_reserved
from convengine.engine.turn.ports import LlmAnswer, LlmRequest, ToolAnswer
from convengine.engine.turn.scope import UNKNOWN
from convengine.engine.turn.session import Session
from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.turn.stage import Stage
from convengine.engine.turn.trail import AuditEvent
from convengine.json_value import Json
from convengine.play.play import PlayedConversation, PlayedMessage, PlayedTurn, play
from convengine.server.extensions.registry import Registry, TaskEntry
from convengine.server.model_clients.offline import NoModel
from convengine.server.wiring import OutsideWorld

#: Facts of a typed beginning that are columns of its conversation.
_COLUMNS = {"lifecycle": "lifecycle", "contextSummary": "context_summary"}


class AppliedRule(NamedTuple):
    """A rule that acted: when, and the session before and after."""

    rule_id: int
    phase: RulePhase
    #: Its pass.
    number: int
    before: Session
    after: Session
    #: The number of its event in the turn.
    seq: int


@dataclass(frozen=True)
class PlayedRules:
    played: PlayedTurn

    @cached_property
    def applied(self) -> Sequence[AppliedRule]:
        """The rules that acted, in order, each with the session before and after it."""
        matched: tuple[int, int, Session] | None = None
        applied: list[AppliedRule] = []
        for event in self.played.turn.trail.events:
            stage = event.stage.split(" (")[0]
            if stage == RULE_MATCH:
                matched = event.payload["ruleId"], event.payload["pass"], event.session
            elif stage == RULE_APPLIED and matched and matched[0] == event.payload["ruleId"]:
                rule_id, number, before = matched
                phase = RulePhase(event.payload["rulePhase"])
                applied.append(AppliedRule(rule_id, phase, number, before, event.session, event.seq))
        return tuple(applied)

    @cached_property
    def capped(self) -> frozenset[RulePhase]:
        """The phases in which intent or state still changed in the last allowed pass."""
        return frozenset(RulePhase(event.payload["rulePhase"]) for event in self._list_events(RULE_PASS_CAP_REACHED))

    @property
    def has_phrase_collision(self) -> bool:
        """True when phrases of several intents matched, so that none decided."""
        return any(self._list_events(INTENT_CLASSIFIER_COLLISION))

    @property
    def error(self) -> str | None:
        """The code of the error that ended the turn."""
        return self.played.error

    @property
    def is_blocked(self) -> bool:
        """True when a policy ended the turn."""
        return self.played.outcome.stopped

    def is_decided_by(self, row: rows.Row) -> bool:
        """True when a row decided something in the turn."""
        decided = self.played.turn.decided_rows
        return any((each.table, each.row_pk) == (row.table, str(row.pk)) for each in decided)

    def has_begun(self, step: type[Step], by: AppliedRule) -> bool:
        """True when a step of the pipeline began before a rule acted."""
        return any(event.step == step.__name__ for event in self.played.turn.trail.events[: by.seq])

    def _list_events(self, stage: Stage) -> Iterator[AuditEvent]:
        return (event for event in self.played.turn.trail.events if event.stage.split(" (")[0] == stage)

    @property
    def end(self) -> Session:
        return self.played.outcome.session

    def find_acting(self, rule: rows.Rule) -> AppliedRule | None:
        return next((step for step in self.applied if step.rule_id == rule.rule_id), None)


class _SilentModel:
    """The model of an installation that has one: it answers nothing."""

    configured = True

    def complete(self, request: LlmRequest) -> LlmAnswer:
        return LlmAnswer(error_code="LLM_CALL_FAILED", error_message="The health check asks no model.")

    def allows(self, name: str) -> bool:
        return True

    def sum_cost(self, conversation_id: str) -> float:
        return 0.0


class _IdleTools:
    """Tools that succeed without a result."""

    def run(self, tool_code: str, tool_group: str, args: Mapping[str, Json], session: Session) -> ToolAnswer:
        return ToolAnswer({})


class TurnPlayer:
    """Plays turns on one configuration in one installation."""

    def __init__(self, snapshot: Snapshot, world: World, is_late: Callable[[], bool] = lambda: False) -> None:
        self.snapshot = snapshot
        self.world = world
        #: True when searches must end, for lack of time.
        self.is_late = is_late
        self._harmless = replace_custom_code(snapshot)
        #: How many turns were played.
        self.played = 0

    @cached_property
    def _build_outside_world(self) -> OutsideWorld:
        """Stands for the tasks, tools and models of this installation, but calls and asks none of them."""
        registry = Registry()
        for name, methods in self.world.tasks.items():
            registry.tasks[name] = TaskEntry(dict.fromkeys(methods, lambda call: {}), allow_from_context=True)
        registry.providers[None, None, None] = lambda request, session: {"name": "text"}
        model = _SilentModel() if self.world.model_configured else NoModel()
        return OutsideWorld(registry, model, _IdleTools(), ScriptedServers(ScriptedTools([])))

    def play(self, beginning: Witness) -> PlayedRules:
        """The turn that a beginning leads to, of an unsaved conversation."""
        self.played += 1
        facts, now = beginning.facts, get_noon()
        turn_no = int(facts.get("turnNo", 2)) - 1
        begun = PlayedConversation.begin(
            now,
            intent_code=beginning.intent or UNKNOWN,
            state_code=beginning.state or UNKNOWN,
            context_json=dict(beginning.context),
            version=turn_no,
            turn_count=turn_no,
            **{column: facts[name] for name, column in _COLUMNS.items() if name in facts},
        )
        loaded = replace(begun.loaded, previous_turn=facts.get("previousTurn") or {})
        conversation = replace(begun, loaded=loaded, turn_no=turn_no)
        params, _ = remove_reserved(beginning.input_params, may_approve=True)
        message = PlayedMessage(beginning.text, params)
        (played,) = play(self._harmless, conversation, [message], self._build_outside_world)
        return PlayedRules(played)


def replace_custom_code(snapshot: Snapshot) -> Snapshot:
    """The snapshot without rules that would run code of the deployment; the same one if there are none.

    A condition in code is never tested. An action in code fails: its rule holds, and may end the list.
    """
    replaced: dict[int, rows.Rule] = {}
    for rule in snapshot.enabled_rows(rows.Rule):
        action = vocabulary.get_action(rule.action)
        if code(rule.rule_type) not in set(RuleType):
            replaced[rule.rule_id] = replace(rule, enabled=False)
        elif action and action.custom:
            replaced[rule.rule_id] = replace(rule, action=RuleAction.SET_TASK, action_value="none")
    return overlaid(snapshot, replaced)
