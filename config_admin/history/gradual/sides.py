"""A gradual release beside all others: both sides as counts, in words, and as JSON."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from config_admin.releases.models import CeGradualRelease
from convengine.engine.turn.labels import format_percent
from convengine.server.interfaces.turn_reports import SideCounts, turn_reports


class Sides(NamedTuple):
    """The counts of those who have the release, and of all others."""

    newer: SideCounts
    older: SideCounts


def count_sides(row: CeGradualRelease) -> Sides:
    """Both sides, from the beginning of the release to its end."""
    since, until = row.started_at, row.ended_at
    return Sides(*turn_reports().count_release_sides(row.first_turn, since, row.parent_version, until))


def describe_gradual_release(row: CeGradualRelease) -> dict[str, Any]:
    """The release with the counts of both sides, as JSON."""
    sides = count_sides(row)
    return {
        "release": row.config_version,
        "parent": row.parent_version,
        "status": row.status,
        "share": row.share,
        "participants": row.participants,
        "channels": row.channels,
        "guard": {"metric": row.guard_metric, "bound": row.guard_bound, "turns": row.guard_turns},
        "startedBy": row.started_by,
        "startedAt": row.started_at.isoformat(),
        "endedBy": row.ended_by,
        "endedAt": row.ended_at.isoformat() if row.ended_at else None,
        "endedReason": row.ended_reason,
        "sides": {"release": sides.newer._asdict(), "others": sides.older._asdict()},
    }


def describe_sides(sides: Sides) -> Iterator[tuple[str, list[str]]]:
    """The lines of the table: a label, and the number of each side."""
    yield "Conversations", [str(side.conversations) for side in sides]
    yield "Turns", [str(side.turns) for side in sides]
    for label, column, base in (
        ("Not understood", "not_understood", "turns"),
        ("Errors", "failed", "turns"),
        ("Handed over to a person", "handed_over", "turns"),
        ("Positive feedback", "positive", "turns"),
        ("Negative feedback", "negative", "turns"),
        ("Completed conversations", "completed", "conversations"),
    ):
        yield label, [_share(getattr(side, column), getattr(side, base)) for side in sides]


def _share(count: int, base: int) -> str:
    return f"{count} ({format_percent(100 * count / base)})" if base else "0"
