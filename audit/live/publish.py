"""Send the progress texts of running turns to those who watch.

A watched turn stores its events after each step (`audit.record.running`); readers take them from the database. Progress
texts, which are not stored, go to the readers directly.
"""

from audit.live.hub import hub
from audit.live.messages import encode_progress
from convengine.engine.turn.turn import Turn
from convengine.engine.turn.verbose import VerboseLine


def send_progress(is_marked: bool, turn: Turn, line: VerboseLine) -> None:
    """Send one text. A marked turn was watched when it began, maybe in another process."""
    conversation_id = turn.request.conversation_id
    if (is_marked or hub.watches(conversation_id)) and not turn.previous_session:
        hub.wake(conversation_id, encode_progress(line, turn.turn_id, turn.turn_no, turn.ports.clock.now()))
