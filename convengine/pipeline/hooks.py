"""Hooks around steps. The do-nothing base class is the specification (pipeline-1 1.6)."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import ClassVar

from convengine.domain.outcome import Outcome
from convengine.domain.session import Session
from convengine.domain.stages import Stage
from convengine.domain.turn import Turn


class StepHook:
    """Something that happens around steps: hooks run by ascending `priority`, then in order of registration.

    An exception in a hook never breaks the turn: it is audited as STEP_HOOK_ERROR and the next hook runs.
    """

    priority: ClassVar[int] = 100

    def supports(self, step_name: str, session: Session) -> bool:
        """True when this hook wants to see the step."""
        return True

    def before_step(self, step_name: str, session: Session, turn: Turn) -> Session:
        """Called after STEP_ENTER. The session returned is the one that the step gets."""
        return session

    def after_step(self, step_name: str, session: Session, turn: Turn, outcome: Outcome) -> Session:
        """Called when the step ended well, before STEP_EXIT. May change the session, never the outcome's kind."""
        return session

    def on_step_error(self, step_name: str, session: Session, turn: Turn, error: BaseException) -> None:
        """Called when the step raised, before STEP_ERROR."""


class Hooks:
    """The registered hooks, in order."""

    def __init__(self, hooks: Iterable[StepHook] = ()) -> None:
        self.registered = sorted(hooks, key=lambda hook: hook.priority)

    def before(self, name: str, session: Session, turn: Turn) -> Session:
        """Run `before_step` of all that support the step."""
        for hook in self.registered:
            call = partial(hook.before_step, name, session, turn)
            session = self._guarded(hook, "beforeStep", name, session, turn, call)
        return session

    def after(self, name: str, session: Session, turn: Turn, outcome: Outcome) -> Session:
        """Run `after_step` of all that support the step."""
        for hook in self.registered:
            call = partial(hook.after_step, name, session, turn, outcome)
            session = self._guarded(hook, "afterStep", name, session, turn, call)
        return session

    def error(self, name: str, session: Session, turn: Turn, error: BaseException) -> None:
        """Run `on_step_error` of all that support the step."""
        for hook in self.registered:
            call = partial(hook.on_step_error, name, session, turn, error)
            self._guarded(hook, "onStepError", name, session, turn, call)

    @staticmethod
    def _guarded(
        hook: StepHook, phase: str, name: str, session: Session, turn: Turn, call: Callable[[], Session | None]
    ) -> Session:
        try:
            if not hook.supports(name, session):
                return session
            return call() or session
        except (Exception, SystemExit) as error:
            turn.audit(
                session,
                Stage.STEP_HOOK_ERROR,
                step=name,
                phase=phase,
                hookClass=type(hook).__name__,
                errorType=type(error).__name__,
                errorMessage=str(error),
            )
            return session
