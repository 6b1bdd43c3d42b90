"""Gradual releases: give the newest to an audience, change that, and end it; `choose_release` picks for each turn."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Self
from uuid import uuid4

from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from config_admin.releases.head import lock_head
from config_admin.releases.models import CeGradualRelease, CeRelease, GradualStatus
from config_admin.releases.queries import content_hash_of
from convengine.server.sessions.models import CeConversationHistory

#: The most named participants and channels.
MOST_NAMES = 200


class NotGradual(ValueError):
    """No release is given to a part of the conversations."""

    def __init__(self) -> None:
        super().__init__("No gradual release is running. It was stopped or given to all meanwhile.")


class AudienceInvalid(ValueError):
    """The audience is nobody, or is not written as it should be."""


@dataclass(frozen=True)
class Guard:
    """Stops the release when a rate gets worse than that of the others."""

    metric: str = ""
    #: In percentage points.
    bound: int = 5
    #: How many turns each side needs before that.
    turns: int = 100


@dataclass(frozen=True)
class AudienceSpec:
    share: int = 0
    participants: Sequence[str] = ()
    channels: Sequence[str] = ()
    guard: Guard = field(default_factory=Guard)

    @classmethod
    def read(cls, stored: Mapping[str, Any]) -> Self:
        """The audience from `to_json`, or from a call of the API."""
        return cls(**{**stored, "guard": Guard(**stored.get("guard", {}))})

    def to_json(self) -> dict[str, Any]:
        """What a schedule stores."""
        return asdict(self)

    def validate(self) -> None:
        """Raises AudienceInvalid."""
        if not 0 <= self.share <= 99:
            raise AudienceInvalid("The share is a percentage from 0 to 99. Give the release to all instead of 100.")
        if max(len(self.participants), len(self.channels)) > MOST_NAMES:
            raise AudienceInvalid(f"Name at most {MOST_NAMES} participants and channels.")
        if not (self.share or self.participants or self.channels):
            raise AudienceInvalid("Nobody would get the release. Enter a share, participants or channels.")

    def to_columns(self) -> dict[str, Any]:
        """The columns of the row, with a new key of the head."""
        return {
            "share": self.share,
            "participants": list(self.participants),
            "channels": list(self.channels),
            "guard_metric": self.guard.metric,
            "guard_bound": self.guard.bound,
            "guard_turns": self.guard.turns,
            "key": uuid4().hex,
        }


def find_gradual_release() -> CeGradualRelease | None:
    return CeGradualRelease.objects.filter(status=GradualStatus.RUNNING).first()


def start_gradual_release(release: CeRelease, audience: AudienceSpec, author: str) -> CeGradualRelease:
    """Give a release that this transaction made to its audience only. Raises AudienceInvalid."""
    audience.validate()
    parent = release.parent_id or 0
    row = CeGradualRelease.objects.create(
        config_version=release.config_version,
        parent_version=parent,
        parent_hash=content_hash_of(parent),
        first_turn=CeConversationHistory.objects.aggregate(newest=Max("history_id"))["newest"] or 0,
        started_by=author[:150],
        **audience.to_columns(),
    )
    _set_audience(row.key)
    return row


def change_audience(
    audience: AudienceSpec, gradual_id: int | None = None, *, keeps_guard: bool = False
) -> CeGradualRelease:
    """Widen or narrow the audience of the running release. Raises AudienceInvalid, NotGradual.

    `gradual_id`: the release that the caller judged; None for the running one. `keeps_guard`: the guard stays as it is.
    """
    audience.validate()
    with transaction.atomic():
        row = lock_gradual_release(gradual_id)
        for name, value in audience.to_columns().items():
            if not (keeps_guard and name.startswith("guard_")):
                setattr(row, name, value)
        row.save()
        _set_audience(row.key)
    return row


def give_to_all(author: str, gradual_id: int | None = None) -> CeGradualRelease:
    """Everybody gets the release with their next message. Raises NotGradual."""
    with transaction.atomic():
        return end_gradual_release(lock_gradual_release(gradual_id), GradualStatus.COMPLETE, author)


def end_gradual_release(
    row: CeGradualRelease, status: GradualStatus, author: str, reason: str = ""
) -> CeGradualRelease:
    """Give every conversation the newest release. The row is locked."""
    row.status, row.ended_by, row.ended_at, row.ended_reason = status, author[:150], timezone.now(), reason
    row.save()
    _set_audience("")
    return row


def lock_gradual_release(gradual_id: int | None = None) -> CeGradualRelease:
    """The running release, locked. The head is locked first, as by every change. Raises NotGradual.

    `gradual_id`: the one that the caller judged; another one may have begun meanwhile.
    """
    lock_head()
    row = CeGradualRelease.objects.select_for_update().filter(status=GradualStatus.RUNNING).first()
    if row is None or gradual_id not in (None, row.pk):
        raise NotGradual
    return row


def _set_audience(key: str) -> None:
    head = lock_head()
    head.audience = key
    head.save(update_fields=["audience"])
