"""Whether what a page saves goes to a draft, and why: said before somebody types."""

from typing import Any, NamedTuple

from django.http import HttpRequest

from config_admin.drafts.middleware import get_page_name, is_configuration_page
from config_admin.editing.context import get_editor_context
from config_admin.releases.audience import find_gradual_release
from config_admin.releases.models import CeGradualRelease
from convengine.engine.turn.releases import requires_draft

#: What the names of pages of the configuration begin with on which nothing is edited.
_ONLY_READ = ("config_admin_cerelease_", "config_admin_find")


class NeededDraft(NamedTuple):
    """Why a change goes to a draft: a gradual release is running, or changes are reviewed or tested."""

    gradual: CeGradualRelease | None
    is_reviewed: bool

    def __bool__(self) -> bool:
        return bool(self.gradual or self.is_reviewed)


def find_needed_draft(request: HttpRequest) -> NeededDraft:
    """Why changes go to a draft now; false when they are live at once. Read once in a request."""
    held: Any = request
    if not hasattr(held, "_needed_draft"):
        held._needed_draft = NeededDraft(find_gradual_release(), requires_draft(get_editor_context(request).snapshot))
    needed: NeededDraft = held._needed_draft
    return needed


def is_editing_page(request: HttpRequest) -> bool:
    """True for a page of the configuration, for a user who may save in drafts."""
    user: Any = request.user
    if not is_configuration_page(request) or get_page_name(request).startswith(_ONLY_READ):
        return False
    return bool(user.has_perm("config_admin.change_cedraft"))
