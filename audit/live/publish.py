"""Let readers watch running turns.

A watched turn stores its events after each step (`audit.record.running`); readers take them from the database. Progress
texts, which are not stored, go to the readers directly.
"""

from audit.live.hub import hub
from audit.live.messages import encode_progress
from convengine.engine.turn.turn import Turn
from convengine.engine.turn.verbose import VerboseLine


def join(turn: Turn, is_marked: bool) -> None:
    """Let a turn be watched. A marked one was watched when it began, maybe in another process."""

    def publish_progress(line: VerboseLine) -> None:
        if (is_marked or hub.watches(turn.request.conversation_id)) and not turn.previous_session:
            text = encode_progress(line, turn.turn_id, turn.turn_no, turn.ports.clock.now())
            hub.wake(turn.request.conversation_id, text)

    def on_end() -> None:
        began, _ = turn.start
        for conversation_id in {began.conversation_id, turn.request.conversation_id}:
            hub.wake(conversation_id)

    if is_marked or hub.can_be_watched:
        turn.verbose_listeners = (*turn.verbose_listeners, publish_progress)
        turn.ended = on_end
