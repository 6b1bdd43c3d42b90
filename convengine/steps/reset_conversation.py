"""ResetConversationStep: start afresh on an explicit request, before anything is interpreted (pipeline-1 4)."""

from convengine.continuity.returning import EXPLICIT_RESET
from convengine.domain.catalogue.intents import RESET_ALLOW_PUNCTUATION, TEXT_COMMANDS
from convengine.domain.enums import ResetReason
from convengine.domain.outcome import Continue
from convengine.domain.reset import RESET_FIELDS, reset
from convengine.domain.session import Session
from convengine.domain.text import blank, match_text, truthy
from convengine.domain.turn import Turn
from convengine.pipeline.step import Step

#: The params that ask for a reset, in the order in which they give the reason.
_PARAMS = (
    ("reset", ResetReason.PARAM_RESET),
    ("restart", ResetReason.PARAM_RESTART),
    ("conversation_reset", ResetReason.PARAM_CONVERSATION_RESET),
)


class ResetConversationStep(Step):
    """Params of this request first, then a text that is nothing but a command."""

    after = ("LoadOrCreateConversationStep", "CacheInspectAuditStep")
    rank = 300
    writes = RESET_FIELDS

    def execute(self, session: Session, turn: Turn) -> Continue:
        """Reset when asked to. Only params of this request count; a stored one must not fire again."""
        command = turn.request.resolved == EXPLICIT_RESET or is_reset_command(session, turn)
        reason = next((why for key, why in _PARAMS if truthy(session.user_input_params.get(key))), None)
        if reason is None and not command:
            return Continue(session)
        # A bare command, or no text at all, leaves nothing to interpret (RST-6, R98).
        only = command or blank(session.user_text)
        return Continue(reset(session, turn, reason or ResetReason.USER_TEXT_COMMAND, only=only))


def is_reset_command(session: Session, turn: Turn) -> bool:
    """True when the whole text is one of TEXT_COMMANDS: trimmed, in any case; punctuation as the setting says."""
    text = (session.user_text or "").strip().lower()
    commands = {command.lower() for command in turn.config(session, TEXT_COMMANDS)}
    if text in commands:
        return True
    return turn.config(session, RESET_ALLOW_PUNCTUATION) and match_text(session.user_text) in commands
