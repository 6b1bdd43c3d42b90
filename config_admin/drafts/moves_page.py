"""Open conversations that a draft would strand, and where its release moves them."""

from collections.abc import Mapping
from typing import Any

from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed, HttpResponseRedirect

from config_admin.drafts.edits import MergedEdits, note_editor
from config_admin.drafts.models import CeDraft
from config_admin.drafts.named_configurations import read_configuration
from config_admin.drafts.open_draft import DraftEnded
from config_admin.drafts.review import lock_draft
from config_admin.drafts.sections import SECTIONS, PageSection
from config_admin.editing.links import draft_url
from config_admin.releases.changes import name_author
from config_admin.releases.choose_release import is_answered
from config_admin.releases.models import CeReleaseMove
from config_admin.releases.renamed_intents import list_renames
from config_admin.transfer.stranded import Stranded, find_stranded_conversations
from convengine.engine.text.compare import code
from convengine.engine.turn.rows import Intent
from convengine.engine.turn.scope import ANY, BUILT_IN_STATES, UNKNOWN
from convengine.engine.turn.snapshot import Snapshot
from convengine.server.admin_site.missing_rights import require_right
from convengine.server.admin_site.pages import page
from convengine.server.interfaces.configuration import ConfigurationName

#: How many groups of conversations the page shows.
_SHOWN = 20


class MoveRefused(ValueError):
    """The move cannot be made; the message says why."""


def build_moves(request: HttpRequest, draft: CeDraft, merged: MergedEdits) -> dict[str, Any] | None:
    """The groups of stranded conversations, at most `_SHOWN`, each with its target. Returns None if none needs one."""
    groups = find_stranded_conversations(merged.wanted)
    if not groups:
        return None
    after = read_configuration(ConfigurationName("draft", draft.pk))
    renamed = _find_renames(merged)
    stranded = [group for group in groups if _needs_move(after, renamed, group)]
    if not stranded:
        return None
    targets = {(move.from_intent, move.from_state): move for move in draft.moves.all()}
    return {
        "groups": [(group, targets.get((group.intent, group.state))) for group in stranded[:_SHOWN]],
        "hidden": len(stranded[_SHOWN:]),
        "conversations": sum(group.conversations for group in stranded),
        "intents": sorted(after.active_intents - {"ANY"}),
        "states": sorted(after.known_states | BUILT_IN_STATES),
        "may_change": request.user.has_perm("config_admin.change_cedraft"),
    }


def store_move(draft_id: int, start: tuple[str, str], end: tuple[str, str] | None, editor: str) -> None:
    """Move the conversations of an intent and state when the draft is published. Without `end` they keep their release.

    It is an edit like any other: approvals before it are void. Raises MoveRefused when the target has no answer, or the
    start is no state, and DraftEnded.
    """
    if not start[0] or start[1] in ("", ANY):
        raise MoveRefused("Choose the intent and the state of the conversations.")
    with transaction.atomic():
        draft = lock_draft(draft_id)
        note_editor(draft, editor)
        draft.moves.filter(from_intent=start[0], from_state=start[1]).delete()
        if end is None:
            return
        intent, state = code(end[0]) or UNKNOWN, code(end[1]) or UNKNOWN
        if not _can_begin(read_configuration(ConfigurationName("draft", draft.pk)), intent, state):
            raise MoveRefused(f"Intent {intent}, state {state} has no answer in the draft. Choose another target.")
        CeReleaseMove.objects.create(
            draft=draft, from_intent=start[0], from_state=start[1], to_intent=intent, to_state=state
        )


def _find_renames(merged: MergedEdits) -> dict[str, str]:
    """The new codes of intents that the draft renames, by the old ones."""
    table = Intent.table
    before = {pk: row for pk, row in merged.live.get(table, {}).items() if row is not None}
    return list_renames(before, merged.wanted[table]) if before else {}


def _needs_move(after: Snapshot, renamed: Mapping[str, str], group: Stranded) -> bool:
    """False while the draft answers in the state: its conversations go on there, even if nothing leads to it now."""
    return not _can_begin(after, renamed.get(group.intent, group.intent), group.state)


def _can_begin(snapshot: Snapshot, intent: str, state: str) -> bool:
    """In UNKNOWN nothing needs an answer: the next message is understood anew."""
    return intent == UNKNOWN or is_answered(snapshot, intent, state)


@page("<int:draft_id>/move/", of="config_admin.CeDraft")
def move_view(request: HttpRequest, draft_id: int) -> HttpResponse:
    """Store the target of one group."""
    if request.method != "POST":
        return HttpResponseNotAllowed(["POST"])
    require_right(request, "config_admin.change_cedraft")
    sent = {name: request.POST.get(name, "") for name in ("from_intent", "from_state", "to_intent", "to_state")}
    end = (sent["to_intent"], sent["to_state"]) if sent["to_intent"] else None
    try:
        start = sent["from_intent"], sent["from_state"]
        store_move(draft_id, start, end, name_author(request.user))
    except (MoveRefused, DraftEnded) as refused:
        messages.error(request, str(refused))
    else:
        messages.success(request, "Stored: it happens with the next message of each conversation after publishing.")
    return HttpResponseRedirect(draft_url(draft_id))


def list_stranded_notes(draft: CeDraft, merged: MergedEdits) -> list[str]:
    """What happens to stranded conversations at publishing, in words, for at most `_SHOWN` groups."""
    targets = {(move.from_intent, move.from_state): move for move in draft.moves.all()}
    groups, notes = find_stranded_conversations(merged.wanted)[:_SHOWN], []
    after = read_configuration(ConfigurationName("draft", draft.pk)) if groups else None
    renamed = _find_renames(merged)
    for group in groups:
        move = targets.get((group.intent, group.state))
        then = f"They go on at intent {move.to_intent}, state {move.to_state}." if move else "They keep their release."
        if after and not _needs_move(after, renamed, group):
            then = "They go on there, on the new release."
        notes.append(f"{group} {then}")
    return notes


SECTIONS.insert(0, PageSection("config_admin/draft_moves.html", build_moves))
