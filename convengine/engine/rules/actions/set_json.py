"""SET_JSON: copy the value of a path into an input param."""

from dataclasses import dataclass

from convengine.engine.rules.actions.contract import COMPUTED, Action, ActionValueError, Write, audit_action
from convengine.engine.rules.conditions.evaluate import JsonPath, compile_path
from convengine.engine.rules.conditions.nodes import PathError
from convengine.engine.rules.conditions.words import noun
from convengine.engine.rules.stages import RULE_STEPS
from convengine.engine.text.compare import blank
from convengine.engine.turn.enums import RuleAction
from convengine.engine.turn.facts import collect_facts
from convengine.engine.turn.params import KEY_SHAPE
from convengine.engine.turn.rows import Rule
from convengine.engine.turn.session import Session
from convengine.engine.turn.stage import Family, SentenceTemplate, declare_stage
from convengine.engine.turn.turn import Turn

VALUE = "key:path"
USAGE = "Use key:path, for example amount:$.context.claim.amount, or one plain name."
#: Without a value, the model's last JSON goes to this param.
DEFAULT_KEY, DEFAULT_PATH = "llm_json", "$.lastLlmOutput"


SET_JSON = declare_stage(
    "SET_JSON",
    Family.RULE,
    "A rule copied what a path found into an input param.",
    steps=RULE_STEPS,
    keys="ruleId key path intent state value sessionInputParams",
    sentences=(SentenceTemplate("copied {path:fact} to {key}[ (now {value})]"),),
)


@dataclass(frozen=True)
class Copy:
    """The param and the path whose first hit it gets."""

    key: str
    path: JsonPath


def parse(value: str | None) -> Copy:
    """`key:path`, split at the first colon; one plain name is both key and path. Raises ActionValueError."""
    if value is None or blank(value):
        return Copy(DEFAULT_KEY, compile_path(DEFAULT_PATH))
    key, colon, path = value.strip().partition(":")
    if not KEY_SHAPE.fullmatch(key.strip()) or (colon and blank(path)):
        raise ActionValueError(USAGE)
    try:
        return Copy(key.strip(), compile_path(path.strip() if colon else key))
    except PathError as error:
        reason = f"This is not a valid JSON path: {error.reason} at position {error.position}. {USAGE}"
        raise ActionValueError(reason, "JSONPATH_INVALID") from None


def apply(rule: Rule, session: Session, turn: Turn) -> Session:
    """Copy the first hit; without a hit nothing changes. Raises ActionValueError."""
    copy = parse(rule.action_value)
    exists, value = copy.path.first(collect_facts(session))
    if not exists:
        return session
    session = session.with_params({copy.key: value})
    audit_action(
        rule,
        session,
        turn,
        SET_JSON,
        "sessionInputParams",
        key=copy.key,
        path=copy.path.text,
        intent=session.intent,
        state=session.state,
        value=value,
    )
    return session


ACTION = Action(
    RuleAction.SET_JSON.value,
    RuleAction.SET_JSON.label,
    help="Copies the first match of a path in the facts into a parameter.",
    value=VALUE,
    picker="path",
    parse=parse,
    apply=apply,
    value_required=False,
    describe=lambda copy: f"copy {noun(copy.path.text)} to {copy.key}",
    writes=lambda copy: [Write(("inputParams", copy.key), COMPUTED)],
)
