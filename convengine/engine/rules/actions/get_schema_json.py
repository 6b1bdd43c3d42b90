"""GET_SCHEMA_JSON: copy the collected values into an input param."""

from convengine.engine.rules.actions.action_builders import build_copy_action
from convengine.engine.rules.stages import RULE_STEPS
from convengine.engine.turn.enums import RuleAction
from convengine.engine.turn.facts import collect_schema_values
from convengine.engine.turn.stage import Family, SentenceTemplate, declare_stage

GET_SCHEMA_JSON = declare_stage(
    "GET_SCHEMA_JSON",
    Family.RULE,
    "A rule copied the collected values into an input param.",
    steps=RULE_STEPS,
    keys="ruleId key intent state schemaJson sessionInputParams",
    sentences=(SentenceTemplate("copied the collected values to {key}"),),
)

ACTION = build_copy_action(
    RuleAction.GET_SCHEMA_JSON,
    GET_SCHEMA_JSON,
    lambda session: dict(collect_schema_values(session)),
    default="schema_json",
    copied="the collected values",
    key="schemaJson",
    help="Copies the values of the current form into a parameter.",
)
