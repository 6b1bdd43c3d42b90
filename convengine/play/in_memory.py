"""Play a scenario in memory, on any snapshot: nothing is stored, and nothing is called for effect."""

import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from convengine.engine.steps.tools.scripted import ScriptedServers, ScriptedTools
from convengine.engine.text.compare import code
from convengine.engine.turn.conversation import PLAIN_CHANNEL, Conversation, Loaded, list_exchanges
from convengine.engine.turn.params import remove_reserved
from convengine.engine.turn.payload import TextPayload, to_document
from convengine.engine.turn.scope import UNKNOWN
from convengine.engine.turn.snapshot import Snapshot
from convengine.json_value import Json
from convengine.play.loading import read_scenario
from convengine.play.play import PlayedConversation, PlayedMessage, PlayedTurn, play
from convengine.play.scenario import BEGINNING, MAIN, STUBS, Scenario, ScenarioTurn
from convengine.play.schema import ScenarioFileError
from convengine.play.stubs import ScenarioStubs, build_stubs
from convengine.server.extensions.registry import Registry
from convengine.server.model_clients.offline import NoModel
from convengine.server.wiring import OutsideWorld

#: Keys of documents and of turns that change the configuration, or need a database of their own.
DATABASE_KEYS = ("configuration", "tables", "state_graph", "settings", "recording")
DATABASE_TURN_KEYS = ("before", "thread")
#: Expectations on the decision about the session, which a turn in memory does not have.
_SESSION_KEYS = frozenset({"decision", "reason", "session"})


class NeedsDatabase(ValueError):
    """A scenario that cannot be played in memory."""

    def __init__(self, what: str) -> None:
        super().__init__(f"This test needs a database of its own, because of {what}. Run it with: convengine test.")


def require_in_memory(document: Mapping[str, Json]) -> None:
    """Raises NeedsDatabase for a document with rows, threads, or anything else that memory does not have.

    Raises ScenarioFileError for one that is no map; `read_scenario` checks the rest.
    """
    if not isinstance(document, Mapping):
        raise ScenarioFileError("", "must be a map.")
    for key in DATABASE_KEYS:
        if document.get(key):
            raise NeedsDatabase(f"`{key}`")
    if document.get("extensions") == "real":
        raise NeedsDatabase("`extensions: real`")
    turns = document.get("turns")
    for number, turn in enumerate(turns if isinstance(turns, list) else (), start=1):
        if not isinstance(turn, Mapping):
            continue
        if key := next((key for key in DATABASE_TURN_KEYS if turn.get(key)), ""):
            raise NeedsDatabase(f"`{key}` in turn {number}")
        expected = turn.get("expect")
        if isinstance(expected, Mapping) and (keys := _SESSION_KEYS & expected.keys()):
            raise NeedsDatabase(f"the expectation `{min(keys)}` in turn {number}")


def build_test(document: Mapping[str, Json]) -> Scenario:
    """The scenario of a document without a configuration. Only its stubs answer; it has a model if it scripts one.

    Raises NeedsDatabase, and ScenarioFileError with the position and the error.
    """
    require_in_memory(document)
    is_model = document.get("model", "llm" in document)
    return replace(read_scenario(document), extensions=STUBS, model=is_model)


@dataclass
class MemoryPlayer:
    scenario: Scenario
    snapshot: Snapshot
    now: datetime
    #: Where its conversations are held.
    workspace: str = "default"
    channel: str = PLAIN_CHANNEL
    stubs: ScenarioStubs = field(init=False)
    _conversations: dict[str, PlayedConversation] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.stubs = build_stubs(self.scenario)
        start = self.scenario.start
        if not start:
            return
        # The conversation that the first turn finds, as `database.build_world` would store it.
        columns = dict(start.row)
        newest = columns.pop("last_turn_no", len(start.history))
        created = BEGINNING + start.times["created_at"] if "created_at" in start.times else self.now
        numbers = {"version": newest, "turn_count": newest}
        row = Conversation(str(uuid.uuid4()), self.workspace, self.channel, created_at=created, **numbers)
        past = [(user, to_document(TextPayload(text))) for user, text in start.history]
        loaded = Loaded(replace(row, **columns), list_exchanges(past), dict(start.previous_turn))
        self._conversations[MAIN] = PlayedConversation(loaded, self.now, newest, past)

    def play_all(self) -> Iterator[tuple[ScenarioTurn, PlayedTurn]]:
        for turn in self.scenario.turns:
            yield turn, self.play(turn)

    def play(self, turn: ScenarioTurn) -> PlayedTurn:
        """Play a turn as the next one of its conversation."""
        self.now = self.now if turn.at is None else BEGINNING + turn.at
        before = self._conversations.get(turn.conversation) or PlayedConversation.begin(
            self.now, self.workspace, self.channel
        )
        params, ignored = remove_reserved(turn.input_params or {}, may_approve=turn.may_approve)
        self.stubs.begin(turn)
        message = PlayedMessage(turn.user, {**params, "reset": True} if turn.reset else params, ignored, self.now)
        (played,) = play(self.snapshot, before, [message], self.stubs.outside)
        self._conversations[turn.conversation] = played.after
        return played


def play_first_message(snapshot: Snapshot, text: str, at: datetime) -> PlayedTurn:
    """The turn of a message with which a conversation begins."""
    tools = ScriptedTools([])
    outside = OutsideWorld(Registry(), NoModel(), tools, ScriptedServers(tools))
    (turn,) = play(snapshot, PlayedConversation.begin(at), [PlayedMessage(text)], outside)
    return turn


def list_reached_intents(turn: PlayedTurn) -> tuple[str, ...]:
    """Where a turn leads: to an intent, to the question which of several is meant, or nowhere."""
    session = turn.outcome.session
    if session.clarification:
        return tuple(dict.fromkeys(code(option["intent"]) for option in session.clarification.options))
    intent = code(session.intent)
    return () if intent in ("", UNKNOWN) else (intent,)
