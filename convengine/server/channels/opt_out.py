"""Users of a channel who want no messages: they say so in a word, and in another one that they want them again."""

from convengine.engine.text.compare import match_text
from convengine.server.channels.contract import Incoming
from convengine.server.channels.models import CeChannel, CeChannelMessage, CeOptOut
from convengine.server.database.sql import database_time
from convengine.server.jobs.outbox import OutboxStatus

#: What a message has that is not sent.
OPTED_OUT = {"status": OutboxStatus.FAILED, "error": "The user wants no messages."}


def find_fixed_answer(channel: CeChannel, sender: str, message: Incoming) -> str | None:
    """The answer to what the engine does not read, which may be blank. Returns None for a message to the engine."""
    opted_out = CeOptOut.objects.filter(channel=channel, recipient=sender)
    if is_opt_out(channel, message.text):
        opted_out.get_or_create(channel=channel, recipient=sender, defaults={"created_at": database_time()})
        waiting = CeChannelMessage.objects.filter(channel=channel, recipient=sender, status=OutboxStatus.PENDING)
        waiting.update(**OPTED_OUT)
        return channel.opt_out_text
    if opted_out.exists():
        if not _is_among(message.text, channel.opt_in_words):
            return ""
        opted_out.delete()
        return channel.opt_in_text
    return None if message.text else channel.attachment_text or None


def is_opt_out(channel: CeChannel, text: str) -> bool:
    """Whether a whole message is one of the words that opt out."""
    return _is_among(text, channel.opt_out_words)


def may_send(channel: CeChannel, recipient: str) -> bool:
    """Whether a user wants messages."""
    return not CeOptOut.objects.filter(channel=channel, recipient=recipient).exists()


def _is_among(text: str, lines: str) -> bool:
    return bool(match_text(text)) and match_text(text) in map(match_text, lines.splitlines())
