"""Template filters for labels of codes, steps and stages."""

import json

from django import template

from convengine.engine.turn.labels import STEPS, code_label, lifecycle_reason, purpose_label, step_label
from convengine.engine.turn.stage import stage_label

register = template.Library()
register.filter("code_label", code_label)
register.filter("lifecycle_reason", lifecycle_reason)
register.filter("purpose_label", purpose_label)
register.filter("stage_label", stage_label)
register.filter("step_label", step_label)


@register.simple_tag
def step_labels() -> str:
    """The labels of steps as JSON, for scripts."""
    return json.dumps(STEPS)
