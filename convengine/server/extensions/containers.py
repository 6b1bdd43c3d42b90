"""Call registered container providers: recorded, limited, faults as answers (pipeline-2 1.1)."""

import copy
import time
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from convengine.engine.turn.codec import dumps, to_plain, to_strict
from convengine.engine.turn.facts import collect_session_facts
from convengine.engine.turn.ports import ContainerAnswer, ContainerRequest
from convengine.engine.turn.recording import Tape
from convengine.engine.turn.session import Session
from convengine.server.extensions.bounded import call_within
from convengine.server.extensions.registry import Registry
from convengine.server.extensions.scoped import interceptors_for, transformer_for


class Containers:
    """The containers port. `before` is called in the turn's thread ahead of a fetch, `afterwards` in the fetch's
    thread.
    """

    def __init__(
        self,
        registry: Registry,
        tape: Tape,
        afterwards: Callable[[], None] = lambda: None,
        before: Callable[[], None] = lambda: None,
    ) -> None:
        self._registry = registry
        self._tape = tape
        self._afterwards = afterwards
        self._before = before

    def fetch(self, request: ContainerRequest, session: Session) -> ContainerAnswer:
        """Call the provider of the request's address with its interceptors, and transform the result."""

        def call() -> dict[str, Any]:
            answer: dict[str, Any] = to_plain(asdict(self._call_timed(request, session)))
            return answer

        return ContainerAnswer(**self._tape.ask("container", to_plain(asdict(request)), call))

    def _call_timed(self, request: ContainerRequest, session: Session) -> ContainerAnswer:
        started = time.monotonic()
        sent = copy.deepcopy(request)
        value, error = self._within_limits(sent, session)
        took = int((time.monotonic() - started) * 1000)
        if error is None:
            return ContainerAnswer(value, duration_ms=took, sent=_find_changed_params(request, sent))
        code = error.code if isinstance(error, _Refused) else type(error).__name__
        # After a timeout the code may still be changing the request.
        told = None if isinstance(error, TimeoutError) else _find_changed_params(request, sent)
        return ContainerAnswer(None, code, str(error), took, told)

    def _within_limits(self, request: ContainerRequest, session: Session) -> tuple[Any, Exception | None]:
        self._before()
        try:
            value = call_within(request.timeout_ms, lambda: self._call(request, session), self._afterwards)
            _check_size(value, request.max_bytes)
        except Exception as error:
            return None, error
        return value, None

    def _call(self, request: ContainerRequest, session: Session) -> Any:
        """The value as JSON. Raises the exceptions of registered code, and _Refused."""
        facts = to_plain(collect_session_facts(session))
        around = interceptors_for(self._registry.interceptors, request.intent, request.state)
        for each in around:
            if each.before:
                each.before(request, facts)
        provider = self._registry.provider(request.page_id, request.section_id, request.container_id)
        if provider is None:
            raise _Refused("NO_PROVIDER", "NO_PROVIDER")
        value = provider(request, facts)
        for each in around:
            if each.after and (changed := each.after(value, facts)) is not None:
                value = changed
        found = transformer_for(self._registry.container_transformers, request.intent, request.state)
        if found and (changed := found.transform(value, facts, request.input_params)) is not None:
            value = changed
        try:
            return to_strict(value)
        except (TypeError, ValueError) as error:
            raise _Refused("NOT_JSON", f"The result is no JSON value: {error}") from error


class _Refused(Exception):
    """An invalid or missing result with a code."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def _find_changed_params(asked: ContainerRequest, sent: ContainerRequest) -> dict[str, Any] | None:
    """The input params after interceptors; null if unchanged."""
    return None if sent.input_params == asked.input_params else sent.input_params


def _check_size(value: Any, limit: int) -> None:
    size = len(dumps(value).encode())
    if size > limit:
        raise _Refused("RESULT_TOO_LARGE", f"RESULT_TOO_LARGE: {size} bytes, {limit} are allowed.")
