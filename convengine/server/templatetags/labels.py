"""Template filters for labels of codes, steps and stages."""

from django import template

from convengine.engine.turn.labels import code_label, lifecycle_reason, purpose_label, step_label
from convengine.engine.turn.stage import stage_label

register = template.Library()
register.filter("code_label", code_label)
register.filter("lifecycle_reason", lifecycle_reason)
register.filter("purpose_label", purpose_label)
register.filter("stage_label", stage_label)
register.filter("step_label", step_label)
