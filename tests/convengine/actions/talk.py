"""Turns in memory: the steps from the act to the action, one after the other, on what the turn before left."""

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from convengine.domain.conversation import Conversation, Loaded
from convengine.domain.opening import closing_context, opened
from convengine.domain.params import persistent
from convengine.domain.rows import Row
from convengine.domain.session import Session
from convengine.domain.turn import Turn
from convengine.pipeline.step import Step
from convengine.steps.action_lifecycle import ActionLifecycleStep
from convengine.steps.dialogue_act import DialogueActStep
from convengine.steps.disambiguation import DisambiguationStep
from convengine.steps.guardrail import GuardrailStep
from convengine.steps.intent_resolution import IntentResolutionStep
from convengine.steps.interaction_policy import InteractionPolicyStep
from convengine.steps.pending_action import PendingActionStep
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

    def say(self, text: str, *, lost: bool = False, **params: Any) -> tuple[Session, Turn]:
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
        session = opened(Session(CONVERSATION, self.turn_no, user_text=text), Loaded(row), params)
        for step in STEPS:
            session = step.execute(session, turn).session
        if not lost:
            self.context, self.params = closing_context(session), persistent(session.input_params)
            self.intent, self.state = session.intent or "", session.state or ""
        return session, turn
