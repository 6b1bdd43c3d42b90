"""Play one message as the first of a conversation, with no model and nothing outside: which intents it leads to."""

from datetime import datetime

from convengine.engine.steps.tools.scripted import ScriptedServers, ScriptedTools
from convengine.engine.text.compare import code
from convengine.engine.turn.scope import UNKNOWN
from convengine.engine.turn.snapshot import Snapshot
from convengine.play.play import Message, PlayedConversation, PlayedTurn, play
from convengine.server.extensions.registry import Registry
from convengine.server.model_clients.offline import NoModel
from convengine.server.wiring import OutsideWorld


def play_first_message(snapshot: Snapshot, text: str, at: datetime) -> PlayedTurn:
    """The turn of a message with which a conversation begins."""
    tools = ScriptedTools([])
    outside = OutsideWorld(Registry(), NoModel(), tools, ScriptedServers(tools))
    (turn,) = play(snapshot, PlayedConversation.begin(at), [Message(text)], outside)
    return turn


def list_reached_intents(turn: PlayedTurn) -> tuple[str, ...]:
    """Where a turn leads: to an intent, to the question which of several is meant, or nowhere."""
    session = turn.outcome.session
    if session.clarification:
        return tuple(dict.fromkeys(code(option["intent"]) for option in session.clarification.options))
    intent = code(session.intent)
    return () if intent in ("", UNKNOWN) else (intent,)
