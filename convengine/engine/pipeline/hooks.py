"""Hooks around steps. The base class does nothing; its docstrings are the contract."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import ClassVar

from convengine.engine.pipeline.stages import STEP_HOOK_ERROR
from convengine.engine.pipeline.step import Outcome
from convengine.engine.turn.facts import audit_changed_facts
from convengine.engine.turn.session import Session
from convengine.engine.turn.turn import Turn


class StepHook:
    """Code that runs before and after steps. Hooks run by ascending `priority`, then in order of registration.

    An exception in a hook never breaks the turn: the audit has STEP_HOOK_ERROR, and the next hook runs.
    """

    priority: ClassVar[int] = 100

    def supports(self, step_name: str, session: Session) -> bool:
        """True when this hook handles the step."""
        return True

    def before_step(self, step_name: str, session: Session, turn: Turn) -> Session:
        """Called after STEP_ENTER. The step gets the returned session."""
        return session

    def after_step(self, step_name: str, session: Session, turn: Turn, outcome: Outcome) -> Session:
        """Called when the step ended normally, before STEP_EXIT. May change the session, never the outcome's kind."""
        return session

    def on_step_error(self, step_name: str, session: Session, turn: Turn, error: BaseException) -> None:
        """Called when the step raised, before STEP_ERROR."""


class Hooks:
    """The registered hooks, in order."""

    def __init__(self, hooks: Iterable[StepHook] = ()) -> None:
        self.registered = sorted(hooks, key=lambda hook: hook.priority)

    def before(self, name: str, session: Session, turn: Turn) -> Session:
        """Run `before_step` of all hooks that support the step."""
        for hook in self.registered:
            call = partial(hook.before_step, name, session, turn)
            session = self._run_hook(hook, "beforeStep", name, session, turn, call)
        return session

    def after(self, name: str, session: Session, turn: Turn, outcome: Outcome) -> Session:
        """Run `after_step` of all hooks that support the step."""
        for hook in self.registered:
            call = partial(hook.after_step, name, session, turn, outcome)
            session = self._run_hook(hook, "afterStep", name, session, turn, call)
        return session

    def error(self, name: str, session: Session, turn: Turn, error: BaseException) -> None:
        """Run `on_step_error` of all hooks that support the step."""
        for hook in self.registered:
            call = partial(hook.on_step_error, name, session, turn, error)
            self._run_hook(hook, "onStepError", name, session, turn, call)

    @staticmethod
    def _run_hook(
        hook: StepHook, phase: str, name: str, session: Session, turn: Turn, call: Callable[[], Session | None]
    ) -> Session:
        try:
            if not hook.supports(name, session):
                return session
            changed = call() or session
            audit_changed_facts(session, changed, turn, by=type(hook).__name__, kind="HOOK")
            return changed
        except (Exception, SystemExit) as error:
            if turn.on_fault:
                turn.on_fault("HOOK", type(hook).__name__, error)
            turn.audit(
                session,
                STEP_HOOK_ERROR,
                step=name,
                phase=phase,
                hookClass=type(hook).__name__,
                errorType=type(error).__name__,
                errorMessage=str(error),
            )
            return session
