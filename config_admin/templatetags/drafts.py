"""The template tag of the bar that says where changes go."""

from typing import Any

from django import template

from config_admin.drafts.middleware import NeededDraft, find_needed_draft, is_editing_page

register = template.Library()


@register.simple_tag(takes_context=True)
def find_draft_of_page(context: template.Context) -> NeededDraft | None:
    """Why changes on this page go to a draft; None on pages that change nothing, and for readers."""
    request: Any = context.get("request")
    return find_needed_draft(request) if request is not None and is_editing_page(request) else None
