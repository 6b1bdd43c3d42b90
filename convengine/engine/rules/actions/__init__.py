"""Rule actions: what a rule does when its condition holds.

Each module declares all about its actions, but for their audit stages, which are in `convengine.engine.rules.stages`.
"""

from collections.abc import Mapping

from convengine.engine.rules.actions import (
    context,
    copies,
    moves,
    params,
    refuse_value,
    set_dialogue_act,
    set_preference,
    set_task,
)
from convengine.engine.rules.actions.contract import Action
from convengine.engine.turn.enums import RuleAction

_DECLARED = {
    action.name: action
    for action in (
        *moves.ACTIONS,
        *copies.ACTIONS,
        *params.ACTIONS,
        *context.ACTIONS,
        refuse_value.ACTION,
        set_dialogue_act.ACTION,
        set_preference.ACTION,
        set_task.ACTION,
    )
}
BUILT_IN: Mapping[str, Action] = {action.value: _DECLARED[action.value] for action in RuleAction}
