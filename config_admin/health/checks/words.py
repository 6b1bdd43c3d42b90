"""Names of rows and effects of rules, for messages."""

from config_admin.health.rules.claims import NOTHING, Place
from config_admin.health.rules.effects import effects
from convengine.engine.rules.actions.contract import COMPUTED
from convengine.engine.text.compare import code, shorten
from convengine.engine.turn import rows

_SHOWN = 60


def rule_name(rule: rows.Rule) -> str:
    """`Rule 12 (“cancel it”)`."""
    described = (rule.description or "").strip()
    return f"Rule {rule.rule_id} (“{shorten(described, _SHOWN)}”)" if described else f"Rule {rule.rule_id}"


def scope_name(intent: str, state: str) -> str:
    """`LOAN/COLLECT`."""
    return f"{code(intent)}/{code(state)}"


def describe_effect(rule: rows.Rule, place: Place) -> str:
    """What a rule does to one thing, in words."""
    thing = _name_value(place)
    for effect in effects(rule):
        shorter = min(len(effect.place), len(place))
        if effect.place[:shorter] == place[:shorter]:
            if effect.value is NOTHING:
                return f"removes {_name_value(effect.place)}"
            value = "what it finds" if effect.value is COMPUTED else _value(effect.value)
            return f"sets {_name_value(effect.place)} to {value}"
    return f"writes {thing}"


def _value(value: object) -> str:
    return shorten(str(value), _SHOWN) if isinstance(value, str) else shorten(repr(value), _SHOWN)


def _name_value(place: Place) -> str:
    match place[0]:
        case "state" | "intent":
            return f"the {place[0]}"
        case "standaloneQuery":
            return "the rewritten query"
        case "preference":
            return f"the preference {place[1]}"
        case "inputParams" if place[1:] == ("dialogue_act",):
            return "the dialogue act"
        case "inputParams":
            return f"the input param {place[1]}"
        case _:
            return ".".join(str(key) for key in place)
