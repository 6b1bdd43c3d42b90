"""Feedback beside a turn."""

from typing import Any

from audit.models import CeMcpUserFeedback


def shown(request: Any, turn_id: Any) -> dict[str, Any]:
    """What people thought of a turn, what whoever looks said, and whether they may say it. One query."""
    if not request.user.has_perm("audit.view_cemcpuserfeedback"):
        return {"feedback": [], "may_rate": False, "sees_feedback": False}
    found = list(CeMcpUserFeedback.objects.filter(turn_id=turn_id, replaced_at=None).order_by("feedback_id"))
    me = f"user:{request.user.get_username()}"
    return {
        "feedback": found,
        "mine": next((one for one in found if one.author == me), None),
        "may_rate": request.user.has_perm("audit.add_cemcpuserfeedback"),
        "sees_feedback": True,
    }
