"""Rule actions: what a rule does when its condition holds.

Each member of RuleAction has a module of its name here, which declares all about it, its audit stage included.
"""

from collections.abc import Mapping
from importlib import import_module

from convengine.engine.rules.actions.contract import Action
from convengine.engine.turn.enums import RuleAction

BUILT_IN: Mapping[str, Action] = {
    action.value: import_module(f"{__name__}.{action.value.lower()}").ACTION for action in RuleAction
}
