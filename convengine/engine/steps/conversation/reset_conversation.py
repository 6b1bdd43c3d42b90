"""ResetConversationStep: start over on an explicit request, before anything is interpreted (pipeline-1 4)."""

from convengine.engine.pipeline.step import Continue, Step
from convengine.engine.steps.conversation.settings import RESET_ALLOW_PUNCTUATION
from convengine.engine.text.compare import blank, match_text, truthy
from convengine.engine.threads.resume import EXPLICIT_RESET
from convengine.engine.threads.settings import TEXT_COMMANDS
from convengine.engine.turn.enums import ResetReason
from convengine.engine.turn.reset import RESET_FIELDS, reset_session
from convengine.engine.turn.session import Session
from convengine.engine.turn.turn import Turn

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
        """Reset on request. Only params of this request count; a stored one must not reset again."""
        command = turn.request.resolved == EXPLICIT_RESET or is_reset_command(session, turn)
        reason = next((why for key, why in _PARAMS if truthy(session.user_input_params.get(key))), None)
        if reason is None and not command:
            return Continue(session)
        # A bare command or a missing text leaves nothing to interpret.
        only = command or blank(session.user_text)
        return Continue(reset_session(session, turn, reason or ResetReason.USER_TEXT_COMMAND, only=only))


def is_reset_command(session: Session, turn: Turn) -> bool:
    """True when the whole text is one of TEXT_COMMANDS, trimmed and in any case; a setting decides about
    punctuation.
    """
    text = (session.user_text or "").strip().lower()
    commands = {command.lower() for command in turn.config(session, TEXT_COMMANDS)}
    if text in commands:
        return True
    return turn.config(session, RESET_ALLOW_PUNCTUATION) and match_text(session.user_text) in commands
