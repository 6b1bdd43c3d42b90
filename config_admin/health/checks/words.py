"""Names of rows and effects of rules, for messages."""

from config_admin.health.rules.effects import list_effects
from config_admin.health.rules.mentions import FactPath
from config_admin.health.rules.values import NOTHING
from convengine.engine.rules.actions.contract import COMPUTED
from convengine.engine.text.compare import code, shorten
from convengine.engine.turn import rows
from convengine.engine.turn.scope import ANY

_SHOWN = 60


def rule_name(rule: rows.Rule) -> str:
    """`Rule 12 (“cancel it”)`."""
    described = (rule.description or "").strip()
    return f"Rule {rule.rule_id} (“{shorten(described, _SHOWN)}”)" if described else f"Rule {rule.rule_id}"


def scope_name(intent: str, state: str) -> str:
    """`intent LOAN, state COLLECT`."""
    names = (("any intent", "intent", intent), ("any state", "state", state))
    return ", ".join(whole if code(name) == ANY else f"{noun} {code(name)}" for whole, noun, name in names)


def describe_effect(rule: rows.Rule, path: FactPath) -> str:
    """What a rule does to one thing, in words."""
    for effect in list_effects(rule):
        shorter = min(len(effect.path), len(path))
        if effect.path[:shorter] == path[:shorter]:
            name, value = _name_value(effect.path), effect.value
            if value is NOTHING:
                return f"removes {name}"
            shown = shorten(value if isinstance(value, str) else repr(value), _SHOWN)
            return f"sets {name} to {'what it finds' if value is COMPUTED else shown}"
    return f"writes {_name_value(path)}"


def _name_value(path: FactPath) -> str:
    """The name of a fact in a sentence."""
    match path[0]:
        case "state" | "intent":
            return f"the {path[0]}"
        case "standaloneQuery":
            return "the rewritten query"
        case "preference":
            return f"the preference {path[1]}"
        case "inputParams" if path[1:] == ("dialogue_act",):
            return "the dialogue act"
        case "inputParams":
            return f"the input param {path[1]}"
        case _:
            return ".".join(str(key) for key in path)
