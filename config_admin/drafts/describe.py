"""A draft as data, for the API and the command line."""

from typing import Any

from config_admin.drafts.conditions import Publication, count_needed_approvals, list_problems
from config_admin.drafts.edits import MergedEdits, hash_edits
from config_admin.drafts.models import CeDraft, DraftStatus
from config_admin.drafts.review import list_approvers
from config_admin.drafts.schedule import find_schedule


def describe_draft(draft: CeDraft, merged: MergedEdits) -> dict[str, Any]:
    """The changed rows of a draft, and the rows that were changed live too."""
    return {
        "draft": draft.title,
        "changes": [
            {"how": "deleted" if row.how == "removed" else row.how, "table": table, "row": row.pk}
            for table, rows in merged.differences.items()
            for row in rows
        ],
        "conflicts": [
            {"table": table, "row": pk, "fields": list(merge.find_fields())}
            for (table, pk), merge in merged.conflicts.items()
        ],
    }


def describe_review(draft: CeDraft, merged: MergedEdits) -> dict[str, Any]:
    """The review of a draft, its schedule, and what prevents publishing it."""
    edits_hash, schedule = hash_edits(draft), find_schedule(draft)
    problems: list[str] = []
    if draft.status == DraftStatus.OPEN:
        emptiness = merged.explain_emptiness()
        problems = [emptiness] if emptiness else list_problems(Publication(draft, merged))
    return {
        "editsHash": edits_hash,
        "approvals": list_approvers(draft, edits_hash),
        "neededApprovals": count_needed_approvals(),
        "entries": [
            {
                "kind": entry.kind,
                "by": entry.author_name,
                "at": entry.made_at,
                "text": entry.text,
                "table": entry.table_name,
                "row": entry.row_pk,
                "isCurrent": entry.edits_hash == edits_hash,
            }
            for entry in draft.reviews.order_by("id")
        ],
        "schedule": schedule
        and {
            "status": schedule.status,
            "publishAt": schedule.publish_at,
            "takeBackAt": schedule.take_back_at,
            "by": schedule.author_name,
            "problem": schedule.problem,
            "audience": schedule.audience,
        },
        "problems": problems,
    }
