"""What the help desk does: it finds conversations, writes to their users, and gives them back to the bot."""

from datetime import timedelta

from django.db.models import BooleanField
from django.db.models.expressions import RawSQL
from django.utils import timezone

from convengine.engine.dialogue.hand_over import HANDED_OVER, is_kept_for_person
from convengine.engine.forms.life import forget_question
from convengine.engine.steps.hand_over.step import HANDED_BACK, PERSON_ANSWERED
from convengine.engine.text.compare import TRUE_WORDS
from convengine.engine.threads.settings import STALE_TIMEOUT_DAYS
from convengine.engine.turn import live_settings
from convengine.engine.turn.dialogue_state import update_dialogue
from convengine.engine.turn.scope import UNKNOWN
from convengine.engine.turn.session import Session
from convengine.engine.turn.turn import Turn
from convengine.json_value import Json
from convengine.server.database.sql import dialect
from convengine.server.interfaces.configuration import configuration
from convengine.server.sessions.models import ENDED, CeConversation
from convengine.server.threads.external_changes import store_external_turn
from convengine.server.turns.idempotency import IdempotencyKey

#: The most conversations in one list.
MOST = 200


def handed_over_sql() -> str:
    """The condition that a row of `ce_conversation` was handed over, and not yet handed back."""
    words = ", ".join(f"'{word}'" for word in sorted(TRUE_WORDS))
    value = f"LOWER(TRIM(CAST({dialect().json_member('context_json', HANDED_OVER)} AS TEXT)))"
    return f"COALESCE({value} IN ({words}), FALSE)"


def is_with_person(row: CeConversation) -> bool:
    """Whether a person has the conversation now."""
    is_open = row.lifecycle not in ENDED
    return is_open and is_kept_for_person(configuration().current(), (row.context_json or {}).get(HANDED_OVER))


def list_with_person(workspace_id: str) -> list[CeConversation]:
    """The conversations of a workspace that a person has, those that changed last first.

    Those in which nothing happened for `Session/STALE_TIMEOUT_DAYS` have ended, or are forgotten.
    """
    snapshot = configuration().current()
    if not is_kept_for_person(snapshot, handed_over=True):
        return []
    since = timezone.now() - timedelta(days=live_settings.read(snapshot, STALE_TIMEOUT_DAYS).value)
    rows = CeConversation.objects.filter(workspace_id=workspace_id, updated_at__gte=since)
    handed_over = rows.exclude(lifecycle__in=ENDED).filter(RawSQL(handed_over_sql(), [], BooleanField()))  # noqa: S611
    return list(handed_over.order_by("-updated_at", "-pk")[:MOST])


def answer_as_person(
    conversation_id: str, workspace_id: str, text: str, author: str, key: IdempotencyKey | None = None
) -> dict[str, Json]:
    """Store an answer of a person, who has the conversation from then on (`HandOverStep/HAS_DESK`).

    Raises ConversationNotFound, ConversationClosed, TurnInProgress, TurnConflict.
    """

    def take_over(session: Session, turn: Turn) -> Session:
        turn.audit(session, PERSON_ANSWERED, author=author or None)
        return update_dialogue(session.with_context({HANDED_OVER: True}), person_answers=True)

    return store_external_turn(conversation_id, workspace_id, None, text, take_over, key)


def give_back(
    conversation_id: str, workspace_id: str, text: str, author: str, key: IdempotencyKey | None = None
) -> dict[str, Json]:
    """Give the conversation back to the bot, with a last text of the person or a blank one. The bot begins anew.

    Raises as `answer_as_person`.
    """

    def end(session: Session, turn: Turn) -> Session:
        turn.audit(session, HANDED_BACK, author=author or None, fromIntent=session.intent, fromState=session.state)
        session = update_dialogue(session.without_context(HANDED_OVER), person_answers=False, interrupted=())
        # A form that the person came into is left.
        session = forget_question(session).evolve(intent_locked=False, intent_lock_reason=None, clarification=None)
        return session.move_to(intent=UNKNOWN, state=UNKNOWN, cause="HANDED_BACK")

    return store_external_turn(conversation_id, workspace_id, None, text, end, key)
