"""Open conversations that a change would strand: their intent or state would be gone, or would have no answer."""

from typing import NamedTuple

from config_admin.health.reachability import is_reachable
from config_admin.releases.active import snapshots
from config_admin.releases.choose_release import Scope, follow_moves, is_answered, read_moves
from config_admin.releases.restore_rows import Wanted, lay_rows_over
from convengine.engine.text.compare import code
from convengine.engine.turn.scope import BUILT_IN_STATES
from convengine.engine.turn.snapshot import Snapshot
from convengine.server.sessions.models import ENDED, CeConversation

#: How many of the newest conversations are looked at.
NEWEST = 10_000
#: How many conversations of an intent and state are named.
_NAMED = 5


class Stranded(NamedTuple):
    """The open conversations of one intent and state, and the reason why they could not go on."""

    intent: str
    state: str
    conversations: int
    reason: str
    #: The ids of the newest ones.
    examples: tuple[str, ...]

    def __str__(self) -> str:
        noun = "conversation" if self.conversations == 1 else "conversations"
        return f"{self.conversations} open {noun} at intent {self.intent}, state {self.state}: {self.reason}"


def find_stranded_conversations(wanted: Wanted) -> list[Stranded]:
    """What a change of these rows would strand, most conversations first. Looks at the newest conversations only."""
    if not wanted:
        return []
    now = snapshots.current()
    after = lay_rows_over(now, wanted)
    groups = _group_open_conversations(now)
    reasons = {scope: reason for scope in groups if (reason := _explain(now, after, *scope))}
    stranded = (
        Stranded(*scope, len(groups[scope]), reason, tuple(groups[scope][:_NAMED])) for scope, reason in reasons.items()
    )
    return sorted(stranded, key=lambda each: -each.conversations)


def _group_open_conversations(now: Snapshot) -> dict[Scope, list[str]]:
    """The ids of open conversations by intent and state, newest first; of the `NEWEST` newest conversations.

    Under the codes of today: after a rename a conversation has the old one until its next message.
    """
    newest = CeConversation.objects.order_by("-updated_at").values_list(
        "intent_code", "state_code", "lifecycle", "conversation_id"
    )[:NEWEST]
    groups: dict[Scope, list[str]] = {}
    for intent, state, lifecycle, conversation_id in newest:
        if lifecycle not in ENDED:
            groups.setdefault((code(intent), code(state)), []).append(str(conversation_id))
    if all(now.is_active(intent) for intent, _ in groups):
        return groups
    moves, renamed = read_moves(now.config_version), dict[Scope, list[str]]()
    for scope, ids in groups.items():
        renamed.setdefault(follow_moves(scope, moves, now), []).extend(ids)
    return renamed


def _explain(now: Snapshot, after: Snapshot, intent: str, state: str) -> str:
    """Why a conversation could not go on that can today, or blank."""
    if after.is_switched_off(intent):
        return ""  # Conversations that are in it finish it.
    if now.is_active(intent) and not after.is_active(intent):
        return "the intent is deleted."
    if is_answered(now, intent, state) and not is_answered(after, intent, state):
        return "the state has no answer."
    if state not in BUILT_IN_STATES and is_reachable(now, intent, state) and not is_reachable(after, intent, state):
        return "nothing leads to the state any more."
    return ""
