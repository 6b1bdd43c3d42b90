"""Sentences that need more than one event, or the release: a function per stage or kind of decision."""

from collections.abc import Mapping
from itertools import chain

from audit.narration.narrate import Narrator
from audit.narration.narrators import actions, answers, data, decisions, intent, rules

_MODULES = (intent, data, actions, rules, answers, decisions)
NARRATORS: Mapping[str, Narrator] = dict(chain.from_iterable(module.NARRATORS.items() for module in _MODULES))
