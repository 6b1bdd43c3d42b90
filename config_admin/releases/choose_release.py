"""Choose the release of a conversation's next turn: gradual releases, and conversations under way."""

import hashlib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from config_admin.releases.models import CeGradualRelease, CeReleaseMove, GradualStatus
from config_admin.releases.queries import NoSuchRelease
from convengine.engine.forms.life import asks_for_consent, is_in_form
from convengine.engine.forms.session_form import find_schema
from convengine.engine.pending_actions.record import LIVE, RECORD
from convengine.engine.rules.choice import choose_response
from convengine.engine.text.compare import code
from convengine.engine.threads.lifecycle import AWAITING_USER, CLOSED, INTERRUPTED
from convengine.engine.turn import live_settings
from convengine.engine.turn.conversation import Conversation
from convengine.engine.turn.releases import RUNNING, ReleaseChoice, ReleaseReason
from convengine.engine.turn.scope import ANY, BUILT_IN_STATES, HAND_OVER, UNKNOWN
from convengine.engine.turn.snapshot import Snapshot

#: The moves of the newest releases that a process knows.
_MOST_MOVES = 1000
#: Shares are in percent. Each thread falls on one of this many points.
_POINTS = 10_000

Scope = tuple[str, str]


@dataclass(frozen=True)
class Audience:
    """The conversations that get a gradual release."""

    parent_version: int
    parent_hash: str
    share: int
    participants: frozenset[str]
    channels: frozenset[str]
    #: Another one for each release, so that not always the same people get the new one first.
    salt: str

    @classmethod
    def of(cls, row: CeGradualRelease) -> "Audience":
        return cls(
            row.parent_version,
            row.parent_hash,
            row.share,
            frozenset(row.participants),
            frozenset(row.channels),
            str(row.config_version),
        )

    def includes(self, row: Conversation) -> bool:
        """True when the conversation gets the release; the same answer for all sessions of a thread."""
        if row.channel in self.channels or row.remote_jid in self.participants:
            return True
        return compute_point(self.salt, row.workspace_id, row.channel, row.remote_jid) < self.share * _POINTS // 100


def compute_point(salt: str, *thread: str) -> int:
    """The point on which a thread falls, from 0 to 9,999."""
    digest = hashlib.sha256("\0".join((salt, *thread)).encode("utf-8", "replace")).digest()
    return int.from_bytes(digest[:8], "big") % _POINTS


class ConversationMove(NamedTuple):
    config_version: int
    start: Scope
    end: Scope


def read_moves(config_version: int) -> tuple[ConversationMove, ...]:
    """The moves of the newest releases up to this one, in order."""
    rows: Any = CeReleaseMove.objects.filter(config_version__lte=config_version).order_by("-config_version", "-id")
    return tuple(
        ConversationMove(
            row.config_version, _to_scope(row.from_intent, row.from_state), _to_scope(row.to_intent, row.to_state)
        )
        for row in reversed(rows[:_MOST_MOVES])
    )


def read_stopped_releases() -> frozenset[int]:
    stopped = CeGradualRelease.objects.filter(status=GradualStatus.STOPPED)
    return frozenset(stopped.values_list("config_version", flat=True))


def _to_scope(intent: str, state: str) -> Scope:
    return code(intent), code(state)


@dataclass(frozen=True)
class UnderWay:
    """A conversation whose last turn ran on another release than its next one should."""

    conversation: Conversation
    #: Zero when that turn is no longer stored.
    last_release: int
    target: Snapshot
    #: The last turn began the session, on the release of the session before.
    has_just_begun: bool
    read_moves: Callable[[], Sequence[ConversationMove]]
    #: The gradual releases that were stopped.
    read_stopped: Callable[[], Collection[int]]
    #: The snapshot of a release. Raises NoSuchRelease.
    read_release: Callable[[int], Snapshot]

    def choose(self) -> tuple[Snapshot, ReleaseReason | None, Scope | None]:
        """The snapshot; the reason if it is the older one; where the conversation goes on if it is moved.

        The second is None for the newer one, the third is None if the conversation stays where it is.
        """
        reason = self._find_policy_reason()
        if reason and self.last_release in self.read_stopped():
            # A stopped release keeps no conversation.
            reason = None
        if reason is None:
            move = self._find_move()
            # Where the release has no answer either, the conversation is better off on its own one.
            if move and (move[0] == UNKNOWN or is_answered(self.target, *move)):
                return self.target, None, move
            if self._is_answered(self.target):
                return self.target, None, None
            is_off = self.target.is_switched_off(self.conversation.intent_code)
            reason = ReleaseReason.SWITCHED_OFF if is_off else ReleaseReason.NO_ANSWER
        try:
            older = self.read_release(self.last_release)
        except NoSuchRelease:
            return self.target, None, self._find_move()
        return self._choose_older(older, reason)

    def _choose_older(
        self, older: Snapshot, reason: ReleaseReason
    ) -> tuple[Snapshot, ReleaseReason | None, Scope | None]:
        """The older release for this reason, or the target after all if the older one would not help."""
        if reason is ReleaseReason.SWITCHED_OFF and not is_under_way(older, self.conversation):
            # It had finished there.
            is_handed_over = code(self.conversation.state_code) == HAND_OVER
            stays = is_handed_over and is_answered(self.target, UNKNOWN, HAND_OVER)
            return self.target, None, (UNKNOWN, HAND_OVER if stays else UNKNOWN)
        if reason is ReleaseReason.NO_ANSWER and not self._is_answered(older):
            # It is not the release that left the state without an answer.
            return self.target, None, self._find_move()
        return older, reason, None

    def _find_policy_reason(self) -> ReleaseReason | None:
        """Why the setting keeps the conversation on its release. Returns None if it does not."""
        policy = live_settings.read(self.target, RUNNING).value
        row = self.conversation
        if policy == "END_OF_SESSION" and row.lifecycle not in CLOSED and not self.has_just_begun:
            return ReleaseReason.END_OF_SESSION
        return ReleaseReason.END_OF_FORM if policy == "END_OF_FORM" and is_waiting(row) else None

    def _find_move(self) -> Scope | None:
        """Where the releases since the last turn move the conversation, one after the other.

        Returns None if they do not move it, or if the target still answers its intent and state.
        """
        start = (code(self.conversation.intent_code), code(self.conversation.state_code))
        if _is_named(self.target, start):
            return None
        moves = [
            move for move in self.read_moves() if self.last_release < move.config_version <= self.target.config_version
        ]
        position = follow_moves(start, moves, self.target)
        return position if position != start else None

    def _is_answered(self, snapshot: Snapshot) -> bool:
        row = self.conversation
        return code(row.intent_code) in ("", UNKNOWN) or is_answered(snapshot, row.intent_code, row.state_code)


def follow_moves(start: Scope, moves: Iterable[ConversationMove], target: Snapshot) -> Scope:
    """Where moves take a conversation, until it stands where the target has an answer."""
    position = start
    for move in moves:
        intent, state = move.start
        if intent == position[0] and state in (position[1], ANY) and not _is_named(target, position):
            position = (move.end[0], position[1] if move.end[1] == ANY else move.end[1])
    return position


def _is_named(snapshot: Snapshot, scope: Scope) -> bool:
    """True when the release still has the intent and the state, as after an undo."""
    intent, state = scope
    is_known = state in BUILT_IN_STATES or state in snapshot.known_states
    return is_known and snapshot.is_active(intent) and is_answered(snapshot, intent, state)


def is_answered(snapshot: Snapshot, intent: str, state: str) -> bool:
    """True when the intent is active, and a response or a form answers in this state."""
    if not snapshot.is_active(intent):
        return False
    return bool(choose_response(snapshot, intent, state).winner or find_schema(snapshot, intent, state))


def is_under_way(snapshot: Snapshot, row: Conversation) -> bool:
    """True when the conversation is in the middle of its intent: of a form, a confirmation or an action."""
    intent, state = row.intent_code, row.state_code
    if not snapshot.is_active(intent):
        return False
    return _is_held(row) or is_in_form(snapshot, intent, state) or asks_for_consent(snapshot, intent, state)


def is_waiting(row: Conversation) -> bool:
    """True when the conversation waits for an answer: to a form, a yes, or a choice."""
    return row.lifecycle in (AWAITING_USER, INTERRUPTED) or _is_held(row)


def _is_held(row: Conversation) -> bool:
    """True while a form locks the intent, or an action waits."""
    context = row.context_json if isinstance(row.context_json, Mapping) else {}
    lock, action = context.get("intent_lock"), context.get(RECORD)
    if isinstance(lock, Mapping) and lock.get("locked") is True:
        return True
    return isinstance(action, Mapping) and action.get("status") in {status.value for status in LIVE}


def build_choice(
    reason: ReleaseReason | None, move: Scope | None, newest: int, side: ReleaseReason | None
) -> ReleaseChoice | None:
    """What the turn records. Returns None when it simply runs on the newest release."""
    reason = reason or side
    return ReleaseChoice(reason or ReleaseReason.NEWEST, newest, move) if reason or move else None
