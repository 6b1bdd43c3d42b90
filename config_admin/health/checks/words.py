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
    name = _name_value(path)
    for effect in list_effects(rule):
        shorter = min(len(effect.path), len(path))
        if effect.path[:shorter] == path[:shorter]:
            if effect.value is NOTHING:
                return f"removes {_name_value(effect.path)}"
            value = "what it finds" if effect.value is COMPUTED else _format_value(effect.value)
            return f"sets {_name_value(effect.path)} to {value}"
    return f"writes {name}"


def _format_value(value: object) -> str:
    return shorten(str(value), _SHOWN) if isinstance(value, str) else shorten(repr(value), _SHOWN)


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
