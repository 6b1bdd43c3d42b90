"""Who tells of what: one maker for each stage, and for each kind of decision."""

from collections.abc import Mapping
from itertools import chain

from audit.account.makers import (
    actions,
    answers,
    data,
    dialogue,
    frame,
    intent,
    opening,
    policy,
    rules,
    sessions,
    tools,
)
from audit.account.making import Maker

_MODULES = (opening, policy, dialogue, intent, data, actions, tools, rules, answers, sessions, frame)
MAKERS: Mapping[str, Maker] = dict(chain.from_iterable(module.MAKERS.items() for module in _MODULES))
