"""The session: everything that a turn knows and changes, as one frozen value.

A step gets one and returns another; a failed turn needs no undo. Mappings inside are never changed in place: the
helpers below make new ones.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Any, NamedTuple, Self

from convengine.engine.turn.owned_params import (
    TOPIC_OF,
    TOPICS,
    ActionParams,
    DialogueParams,
    FormParams,
    MemoryParams,
    OwnedParams,
    RoutingParams,
    RuleParams,
    ToolParams,
)
from convengine.engine.turn.payload import Payload
from convengine.engine.turn.rows import OutputSchema
from convengine.engine.turn.scope import UNKNOWN
from convengine.json_value import Json

#: Fields that the audit does not record as state: they grow with every step, or have stages of their own.
UNAUDITED_FIELDS = frozenset(
    {
        "steps", "history", "final_result", "payload", "last_assistant", "transitions", "lifecycle_detail", "now",
        "fields_read", "form_question", "form_summary", "digression", "earlier_message", "cards",
    }
)  # fmt: skip
KNOWLEDGE_BASE = "knowledge_base"
PREFERENCE_KINDS = ("model", "planner", "intent_resolver", KNOWLEDGE_BASE, "tool_set")


class Exchange(NamedTuple):
    """One earlier turn as prompts see it."""

    user: str
    assistant: str


@dataclass(frozen=True)
class ReplyOverride:
    """A text that an early step decided; it wins over the configured answer."""

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
    """One change of intent or state inside a turn."""

    from_intent: str | None
    from_state: str | None
    to_intent: str | None
    to_state: str | None
    #: The cause: RULE, INTENT_RESOLUTION, RESET, TASK, HOOK, MODEL.
    cause: str
    rule_id: int | None = None
    phase: str | None = None


class RefusedValue(NamedTuple):
    """A text of the message that a field does not take, and why."""

    field: str
    text: str
    reason: str
    data: Mapping[str, Json] = {}


@dataclass(frozen=True)
class FieldsRead:
    """What the form took from the message."""

    #: Paths of the fields that got a value.
    read: tuple[str, ...] = ()
    refused: tuple[RefusedValue, ...] = ()
    #: The field that the last answer asked for.
    asked_field: str | None = None
    #: By field: a value that is stored only after a yes.
    offered: Mapping[str, Json] = field(default_factory=dict)
    #: Of `read`, the fields whose new value the answer repeats.
    echoed: tuple[str, ...] = ()
    #: The fields whose value the message said again, where it gives nothing else.
    said_again: tuple[str, ...] = ()
    #: A model found that the user wants to speak to a person.
    wants_person: bool = False

    def find_refusal(self, path: str) -> RefusedValue | None:
        """The refused value of a field. Returns None if there is none."""
        return next((refusal for refusal in self.refused if refusal.field == path), None)


#: The message was read into no form.
NOTHING_READ = FieldsRead()


@dataclass(frozen=True)
class Digression:
    """A question that is answered while another one stays open."""

    #: The intent of the message, the state whose answer is given, and the phrase with that state, if there is one.
    intent: str
    state: str
    row_id: int | None
    #: True when the message has values of the form too: then the turn goes its usual way besides.
    has_values: bool = False
    #: The answer to the message, and the open question that follows it.
    answer: Payload | None = None
    question: str = ""


@dataclass(frozen=True)
class EarlierMessage:
    """The message about which the bot asked what it means, before this turn's message chose."""

    text: str
    #: The message of this turn does nothing but choose, so that no form reads it.
    is_all: bool


class StepTiming(NamedTuple):
    """The end and the duration of one step, without its hooks. Times are milliseconds since the turn began."""

    step: str
    started_ms: float
    duration_ms: float
    success: bool
    error: str | None = None
    outcome: str = "Continue"
    #: Why it had nothing to do, so that it was not executed.
    idle: str | None = None


@dataclass(frozen=True)
class FinalResult:
    """The result of the engine for a turn."""

    intent: str
    state: str
    payload: Payload
    context: Mapping[str, Json]


@dataclass(frozen=True)
class Session:
    """One moment of a turn."""

    conversation_id: str
    turn_no: int = 1
    #: The version of the conversation from which the turn began: the same in every attempt, until one is committed.
    version: int = 0
    #: The time of the turn in the conversation's time zone; null outside of a turn.
    now: datetime | None = None

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
    #: The resolver that decided the intent in this turn: CLASSIFIER, AGENT, or None.
    intent_source: str | None = None
    #: The decision of the interaction policy, even if later steps changed it.
    interaction_decision: str | None = None
    transitions: tuple[Transition, ...] = ()

    # what is remembered
    context: Mapping[str, Json] = field(default_factory=dict)
    #: The input params of callers and rules; those of the engine follow, by topic.
    params: Mapping[str, Json] = field(default_factory=dict)
    dialogue: DialogueParams = field(default_factory=DialogueParams)
    routing: RoutingParams = field(default_factory=RoutingParams)
    rules: RuleParams = field(default_factory=RuleParams)
    form: FormParams = field(default_factory=FormParams)
    action: ActionParams = field(default_factory=ActionParams)
    tools: ToolParams = field(default_factory=ToolParams)
    memory: MemoryParams = field(default_factory=MemoryParams)
    #: What the caller sent with this request.
    user_input_params: Mapping[str, Json] = field(default_factory=dict)
    history: tuple[Exchange, ...] = ()
    #: Grows with every reset; models see no history and memory of earlier epochs.
    epoch: int = 0
    status: str = "RUNNING"
    lifecycle: str = "RUNNING"
    #: Details of the lifecycle, such as the open question.
    lifecycle_detail: Mapping[str, Json] = field(default_factory=dict)
    context_summary: str = ""
    preferences: Mapping[str, str] = field(default_factory=dict)
    #: The document collection to search. None for the row's own.
    mounted_kb_id: str | None = None

    # schema
    resolved_schema: OutputSchema | None = None
    schema_complete: bool = False
    schema_has_any_value: bool = False
    missing_required_fields: tuple[str, ...] = ()
    missing_field_options: Mapping[str, Json] = field(default_factory=dict)
    #: What was read from the message of this turn.
    fields_read: FieldsRead = NOTHING_READ
    #: The question for the field that this turn's answer asks for.
    form_question: str = ""
    #: The values of the form in full, as a confirmation repeats them.
    form_summary: str = ""

    #: What documents say to the message of this turn: `document`, `title`, `titles`, `sentences`, `link`.
    cards: tuple[Mapping[str, Json], ...] = ()

    #: The question that this turn answers before the open one; None in nearly every turn.
    digression: Digression | None = None
    #: A message of an earlier turn that begins the form of the intent that was chosen now.
    earlier_message: EarlierMessage | None = None

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
    #: The text only asked to start over, so nothing is interpreted.
    reset_only: bool = False
    #: Why this turn was reset, or None; a turn resets at most once.
    reset_reason: str | None = None

    # telemetry
    #: The steps of the turn that ended so far. One list for all sessions of a turn: it grows while the turn runs.
    steps: Sequence[StepTiming] = ()

    def has_same_state(self, other: "Session") -> bool:
        """True when both values were made from the same one, and only unrecorded fields changed since."""
        return self is other or self.moment is other.moment

    @property
    def moment(self) -> object:
        """An object that stays the same while only unrecorded fields change."""
        moment: object | None = self.__dict__.get("_moment")
        if moment is None:
            moment = self.__dict__["_moment"] = object()
        return moment

    def evolve(self, **changes: Any) -> Self:
        """A copy with some fields changed. Raises TypeError for an unknown field."""
        # Ten times as fast as dataclasses.replace; a turn evolves some sixty times. The new value needs new facts.
        moment = self.moment if changes.keys() <= UNAUDITED_FIELDS else None
        view = self.__dict__.get("_input_params") if PARAM_FIELDS.isdisjoint(changes) else None
        values = {**self.__dict__, **changes, "_facts": None, "_moment": moment, "_input_params": view}
        if len(values) != len(FIELDS) + 3:
            raise TypeError(f"Session has no field {', '.join(sorted(changes.keys() - set(FIELDS)))}")
        copy = object.__new__(type(self))
        object.__setattr__(copy, "__dict__", values)
        return copy

    @property
    def where(self) -> dict[str, Any]:
        """Intent and state, as events have them."""
        return {"intent": self.intent, "state": self.state}

    @property
    def only_digresses(self) -> bool:
        """True when the message is nothing but a digression: then no rules, tools or models work on it."""
        return self.digression is not None and not self.digression.has_values

    @property
    def resolved_user_input(self) -> str | None:
        """The stand-alone query if there is one, else the user's text."""
        query = self.standalone_query
        return query if query and query.strip() else self.user_text

    @property
    def input_params(self) -> Mapping[str, Json]:
        """All input params, as templates, rules and the API read them: `params`, and the values of all topics."""
        view: Mapping[str, Json] | None = self.__dict__.get("_input_params")
        if view is None:
            view = self.__dict__["_input_params"] = dict(self.params)
            for topic in TOPICS:
                view.update(self.__dict__[topic].__dict__)
        return view

    def with_values(self, *changes: OwnedParams) -> Self:
        """A copy with what each of the values gives set in its topic."""
        fields = ((FIELD_OF[type(change)], change) for change in changes)
        return self.evolve(**{name: getattr(self, name).having(change) for name, change in fields})

    def with_params(self, values: Mapping[str, Json]) -> Self:
        """A copy with input params set. Each value goes to the topic that has a field of its name, else to `params`."""
        given: dict[str, dict[str, Json]] = {}
        for key, value in values.items():
            given.setdefault(TOPIC_OF.get(key, "params"), {})[key] = value
        others = given.pop("params", None)
        changes: dict[str, Any] = {"params": {**self.params, **others}} if others else {}
        changes |= {name: getattr(self, name).having(TOPICS[name](**owned)) for name, owned in given.items()}
        return self.evolve(**changes) if changes else self

    def without_params(self, *keys: str) -> Self:
        """A copy with input params removed."""
        fields = dict.fromkeys(TOPIC_OF[key] for key in keys if key in TOPIC_OF)
        others = {key: value for key, value in self.params.items() if key not in keys}
        return self.evolve(params=others, **{name: getattr(self, name).without(*keys) for name in fields})

    def with_only_params(self, values: Mapping[str, Json]) -> Self:
        """A copy with these input params and no other."""
        return self.evolve(params={}, **{name: topic() for name, topic in TOPICS.items()}).with_params(values)

    def with_context(self, values: Mapping[str, Json]) -> Self:
        return self.evolve(context={**self.context, **values})

    def without_context(self, *keys: str) -> Self:
        """A copy with top-level context keys removed."""
        return self.evolve(context={key: value for key, value in self.context.items() if key not in keys})

    def with_query(self, query: str | None) -> Self:
        """A copy with the stand-alone query set or cleared, together with its two input params."""
        query = query if query and query.strip() else None
        given = DialogueParams(standalone_query=query, resolved_user_input=query or self.user_text)
        return self.evolve(standalone_query=query, dialogue=self.dialogue.having(given))

    def move_to(
        self,
        *,
        intent: str | None = None,
        state: str | None = None,
        cause: str,
        rule_id: int | None = None,
        phase: str | None = None,
    ) -> Self:
        """A copy with another intent or state and the recorded transition.

        None keeps the intent or the state. The same session is returned if neither changes.
        """
        to_intent, to_state = intent or self.intent, state or self.state
        if (to_intent, to_state) == (self.intent, self.state):
            return self
        hop = Transition(self.intent, self.state, to_intent, to_state, cause, rule_id, phase)
        return self.evolve(intent=to_intent, state=to_state, transitions=(*self.transitions, hop))


FIELDS = tuple(f.name for f in fields(Session))


class Right(NamedTuple):
    """Fields that steps with this right may change besides their own, once they used it."""

    fields: frozenset[str]
    #: True when the change from the first session to the second one used the right.
    is_used: Callable[[Session, Session], bool]


#: The fields that `input_params` shows.
PARAM_FIELDS = frozenset({"params", *TOPICS})
#: The field of each topic.
FIELD_OF = {topic: name for name, topic in TOPICS.items()}
