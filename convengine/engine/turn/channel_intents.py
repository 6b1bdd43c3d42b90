"""The intents that a channel has."""

from convengine.engine.turn import live_settings
from convengine.engine.turn.live_settings import declare, text_list
from convengine.engine.turn.snapshot import Snapshot

INTENTS = declare(
    "Channel",
    "INTENTS",
    text_list(codes=True),
    (),
    "The flows that users of this channel can begin, by their intents, such as BOOKING, REFUND. The questions beside "
    "their forms, and intents that hand over to a person, belong to every channel. Empty: all intents.",
    qualifier="channel",
    label="Intents of a channel",
)


def limit_to_channel(snapshot: Snapshot, channel: str) -> Snapshot:
    """The configuration as users of a channel have it; the same one if the channel has all intents."""
    intents = live_settings.read(snapshot, INTENTS, channel).value
    if not intents:
        return snapshot.whole
    return snapshot.whole.memo.get(("intents of a channel", intents), lambda: snapshot.whole.limit_intents(intents))
