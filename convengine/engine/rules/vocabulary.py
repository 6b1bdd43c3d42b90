"""The rule actions: one table for the engine, the forms and the manual.

The built-in actions, and those that a deployment adds with `@rule_action`.
"""

from collections.abc import Callable, Mapping

from convengine.engine.rules.actions import BUILT_IN
from convengine.engine.rules.actions.contract import Action, ActionFailed, Apply, Parse
from convengine.engine.text.compare import code
from convengine.engine.turn.rows import Rule
from convengine.engine.turn.session import Session
from convengine.engine.turn.turn import Turn

_custom: dict[str, Action] = {}


def list_actions() -> Mapping[str, Action]:
    """All actions by name: the built-in ones, then those of the deployment."""
    return {**BUILT_IN, **_custom}


def custom_registry() -> dict[str, Action]:
    """The actions of the deployment, to be replaced when its code is loaded again."""
    return _custom


def get_action(name: str | None) -> Action | None:
    """The action of this name, ignoring case. Returns None if there is none."""
    return BUILT_IN.get(code(name)) or _custom.get(code(name))


def rule_action(
    name: str,
    *,
    label: str = "",
    help: str = "",
    value: str = "a value",
    picker: str = "text",
    parse: Parse = lambda value: value,
    value_required: bool = False,
) -> Callable[[Apply], Apply]:
    """Register a function of (rule, session, turn) as action `name`.

    It returns the changed session. An exception becomes a RULE_ERROR, and the turn goes on. Raises ValueError if the
    name is taken.

    `label`, `help`, `value` and `picker` are what the form of a rule shows. `parse` reads the value when a rule is
    checked and described, and refuses one with ActionValueError. `value_required`: false where the manual calls the
    value optional.
    """

    def register(apply: Apply) -> Apply:
        own = code(name)
        if get_action(own) is not None:
            raise ValueError(f"The rule action {own} is already registered.")
        words = label or own.replace("_", " ").capitalize()
        _custom[own] = Action(own, words, help, value, picker, parse, _guard_apply(apply), value_required, custom=True)
        return apply

    return register


def _guard_apply(apply: Apply) -> Apply:
    """The function, with each of its exceptions raised as ActionFailed."""

    def run(rule: Rule, session: Session, turn: Turn) -> Session:
        try:
            return apply(rule, session, turn)
        except Exception as error:
            raise ActionFailed(type(error).__name__, str(error)) from error

    return run
