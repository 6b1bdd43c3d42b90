"""Template filters for labels of codes, steps and stages, and the tag for breadcrumbs."""

import json
from typing import Any

from django import template

from convengine.engine.text.invisible import reveal_invisible
from convengine.engine.turn.labels import (
    STEPS,
    code_label,
    error_label,
    format_percent,
    lifecycle_reason,
    purpose_label,
    state_label,
    step_label,
)
from convengine.engine.turn.stage import stage_label
from convengine.server.admin_site.breadcrumbs import breadcrumbs
from convengine.server.admin_site.layout import find_entry_help
from convengine.server.admin_site.record_columns import describe_named_position, name_intent

register = template.Library()
register.simple_tag(breadcrumbs, takes_context=True)
register.filter("code_label", code_label)
register.filter("error_label", error_label)
register.filter("intent_title", name_intent)
register.filter("lifecycle_reason", lifecycle_reason)
register.filter("percent", format_percent)
register.filter("purpose_label", purpose_label)
register.filter("stage_label", stage_label)
register.filter("state_label", state_label)
register.filter("step_label", step_label)
register.filter("entry_help", find_entry_help)


@register.filter
def reveal(text: Any) -> str:
    """A user's text with its invisible characters by name, so that none reorders the page."""
    return "" if text is None else reveal_invisible(str(text))


@register.simple_tag
def position(row: Any) -> str:
    """The intent and state of a conversation or a turn, in words."""
    return describe_named_position(row.intent_code, row.state_code)


@register.simple_tag
def step_labels() -> str:
    """The labels of steps as JSON, for scripts."""
    return json.dumps(STEPS)
