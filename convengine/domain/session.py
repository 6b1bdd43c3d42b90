"""The session: everything that a turn knows and changes, as one frozen value (pipeline-1 1.8).

A step gets one and returns another; a turn that fails needs no undo. Mappings inside are never changed in place:
the helpers below make new ones.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple, Self

from convengine.domain.payload import Payload
from convengine.domain.rows import OutputSchema
from convengine.domain.scope import UNKNOWN

Json = Any


class Exchange(NamedTuple):
    """One earlier turn as prompts see it."""

    user: str
    assistant: str


@dataclass(frozen=True)
class ReplyOverride:
    """What an early step decided that the user must be told; wins over the response row (R36)."""

    text: str
    #: RESET, RESUME, GUARDRAIL, DISAMBIGUATION, AGENT or SESSION.
    source: str


@dataclass(frozen=True)
class Clarification:
    """An open question to the user."""

    question: str
    reason: str
    options: tuple[Json, ...] = ()
    #: True when it was asked in an earlier turn.
    from_previous_turn: bool = False
    #: How often it was asked so far.
    asks: int = 1


@dataclass(frozen=True)
class Transition:
    """One change of intent or state inside a turn (pipeline-2 7.5)."""

    from_intent: str | None
    from_state: str | None
    to_intent: str | None
    to_state: str | None
    #: What caused it: RULE, INTENT_RESOLUTION, RESET, TASK, HOOK, MODEL.
    cause: str
    rule_id: int | None = None
    phase: str | None = None


class StepTiming(NamedTuple):
    """How one step ended, and how long it took without its hooks. Times are milliseconds since the turn began."""

    step: str
    started_ms: float
    duration_ms: float
    success: bool
    error: str | None = None
    outcome: str = "Continue"


@dataclass(frozen=True)
class FinalResult:
    """What the engine hands back for a turn."""

    intent: str
    state: str
    payload: Payload
    context: Mapping[str, Json]


#: Fields that the audit does not tell as state: they grow with every step, or are told by stages of their own.
UNTOLD = frozenset({"steps", "history", "final_result", "payload", "last_assistant", "transitions", "lifecycle_detail"})


@dataclass(frozen=True)
class Session:
    """One moment of a turn."""

    conversation_id: str
    turn_no: int = 1

    # text
    user_text: str | None = None
    standalone_query: str | None = None
    query_rewritten: bool = False

    # routing
    intent: str | None = UNKNOWN
    state: str | None = UNKNOWN
    turn_start_intent: str = UNKNOWN
    turn_start_state: str = UNKNOWN
    intent_locked: bool = False
    intent_lock_reason: str | None = None
    #: Name of the resolver that decided the intent in this turn: CLASSIFIER, AGENT, or null.
    intent_source: str | None = None
    #: What the interaction policy decided, whatever later steps made of it (R99).
    interaction_decision: str | None = None
    transitions: tuple[Transition, ...] = ()

    # what is remembered
    context: Mapping[str, Json] = field(default_factory=dict)
    input_params: Mapping[str, Json] = field(default_factory=dict)
    #: What the caller really sent with this request.
    user_input_params: Mapping[str, Json] = field(default_factory=dict)
    history: tuple[Exchange, ...] = ()
    #: Grows with every reset; history and memory of earlier epochs are not shown to a model.
    epoch: int = 0
    status: str = "RUNNING"
    lifecycle: str = "RUNNING"
    #: What the lifecycle carries, such as the open question.
    lifecycle_detail: Mapping[str, Json] = field(default_factory=dict)
    context_summary: str = ""
    preferences: Mapping[str, str] = field(default_factory=dict)
    #: The document collection that is searched; null for the row's own.
    mounted_kb_id: str | None = None

    # schema
    resolved_schema: OutputSchema | None = None
    schema_complete: bool = False
    schema_has_any_value: bool = False
    missing_required_fields: tuple[str, ...] = ()
    missing_field_options: Mapping[str, Json] = field(default_factory=dict)

    # model
    last_llm_output: Json = None
    last_llm_stage: str | None = None

    # output
    payload: Payload | None = None
    last_assistant: Json = None
    final_result: FinalResult | None = None
    reply_override: ReplyOverride | None = None

    # container data
    container_data: Json = None
    has_container_data: bool = False

    # open question
    clarification: Clarification | None = None

    # rules
    post_intent_rule: bool = False
    rule_execution_source: str | None = None
    rule_execution_origin: str | None = None

    # reset
    #: The text was nothing but a wish to start over: nothing is interpreted (RST-6).
    reset_only: bool = False
    #: Why this turn was reset, null when it was not; a turn resets at most once (R98).
    reset_reason: str | None = None

    # telemetry
    #: The steps of the turn that ended so far. One list for all sessions of a turn: it grows while the turn runs.
    steps: Sequence[StepTiming] = ()

    def told_alike(self, other: "Session") -> bool:
        """True when `other` came from this value, or this from it, by changes of untold fields only."""
        moment = self.__dict__.get("_moment")
        return self is other or (moment is not None and moment is other.__dict__.get("_moment"))

    def evolve(self, **changes: Any) -> Self:
        """A copy with some fields changed. Raises TypeError for a name that is no field."""
        # Not dataclasses.replace: a turn evolves some sixty times, and this is ten times as fast. The facts of the
        # old value are not those of the new one.
        moment = self.__dict__.get("_moment") if changes.keys() <= UNTOLD else object()
        values = {**self.__dict__, **changes, "_facts": None, "_moment": moment}
        if len(values) != len(FIELDS) + 2:
            raise TypeError(f"Session has no field {', '.join(sorted(changes.keys() - set(FIELDS)))}")
        copy = object.__new__(type(self))
        object.__setattr__(copy, "__dict__", values)
        return copy

    @property
    def resolved_user_input(self) -> str | None:
        """The stand-alone query if there is one, else the user text."""
        query = self.standalone_query
        return query if query and query.strip() else self.user_text

    def with_params(self, values: Mapping[str, Json]) -> Self:
        """A copy with input params set."""
        return self.evolve(input_params={**self.input_params, **values})

    def without_params(self, *keys: str) -> Self:
        """A copy with input params removed."""
        return self.evolve(input_params={key: value for key, value in self.input_params.items() if key not in keys})

    def with_context(self, values: Mapping[str, Json]) -> Self:
        """A copy with top-level context keys set."""
        return self.evolve(context={**self.context, **values})

    def without_context(self, *keys: str) -> Self:
        """A copy with top-level context keys removed."""
        return self.evolve(context={key: value for key, value in self.context.items() if key not in keys})

    def with_query(self, query: str | None) -> Self:
        """A copy with the stand-alone query set or cleared; the two input params follow (pipeline-1 1.10)."""
        query = query if query and query.strip() else None
        return self.evolve(
            standalone_query=query,
            input_params={
                **self.input_params,
                "standalone_query": query,
                "resolved_user_input": query or self.user_text,
            },
        )

    def moved(
        self,
        *,
        intent: str | None = None,
        state: str | None = None,
        cause: str,
        rule_id: int | None = None,
        phase: str | None = None,
    ) -> Self:
        """A copy with intent or state changed and the hop recorded; the same codes again record nothing."""
        to_intent, to_state = intent or self.intent, state or self.state
        if (to_intent, to_state) == (self.intent, self.state):
            return self
        hop = Transition(self.intent, self.state, to_intent, to_state, cause, rule_id, phase)
        return self.evolve(intent=to_intent, state=to_state, transitions=(*self.transitions, hop))


FIELDS = tuple(f.name for f in fields(Session))
