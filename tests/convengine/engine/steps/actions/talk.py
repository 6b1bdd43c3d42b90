"""Turns in memory: the steps from the act to the action, one after the other, on what the turn before left."""

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from convengine.engine.pipeline.step import Step
from convengine.engine.steps.actions.action_lifecycle import ActionLifecycleStep, DisambiguationStep
from convengine.engine.steps.actions.guardrail import GuardrailStep
from convengine.engine.steps.actions.pending_action import PendingActionStep
from convengine.engine.steps.dialogue_act.step import DialogueActStep
from convengine.engine.steps.intents.intent_resolution import IntentResolutionStep
from convengine.engine.steps.interaction.step import InteractionPolicyStep
from convengine.engine.turn.conversation import Conversation, Loaded, build_closing_context, restore_session
from convengine.engine.turn.params import keep_persistent
from convengine.engine.turn.rows import Row
from convengine.engine.turn.session import Session
from convengine.engine.turn.turn import Turn
from tests.builders import CONVERSATION, make_snapshot, make_turn
from tests.fakes.clock import NOON, FrozenClock
from tests.fakes.ports import BookOfExecutions, RecordingTasks

STEPS: tuple[Step, ...] = (
    DialogueActStep(),
    InteractionPolicyStep(),
    ActionLifecycleStep(),
    DisambiguationStep(),
    GuardrailStep(),
    IntentResolutionStep(),
    PendingActionStep(),
)


@dataclass
class Talk:
    """A conversation. `lost` turns leave nothing behind but what their tasks did and what was claimed for them."""

    rows: tuple[Row, ...]
    intent: str = "ORDER"
    state: str = "CONFIRM"
    tasks: RecordingTasks = field(default_factory=RecordingTasks)
    book: BookOfExecutions = field(default_factory=BookOfExecutions)
    context: dict[str, Any] = field(default_factory=dict)
    params: dict[str, Any] = field(default_factory=dict)
    turn_no: int = 0
    minutes: int = 0

    def say(self, text: str, *, is_lost: bool = False, **params: Any) -> tuple[Session, Turn]:
        """Take a turn."""
        self.turn_no += 1
        row = Conversation(
            CONVERSATION,
            intent_code=self.intent,
            state_code=self.state,
            context_json=self.context,
            input_params_json=self.params,
        )
        clock = FrozenClock(NOON + timedelta(minutes=self.minutes))
        turn = make_turn(
            make_snapshot(*self.rows), text=text, tasks=self.tasks, executions=self.book, clock=clock,
            turn_no=self.turn_no,
        )  # fmt: skip
        session = restore_session(Session(CONVERSATION, self.turn_no, user_text=text), Loaded(row), params)
        for step in STEPS:
            session = step.execute(session, turn).session
        if not is_lost:
            self.context, self.params = build_closing_context(session), keep_persistent(session.input_params)
            self.intent, self.state = session.intent or "", session.state or ""
        return session, turn
