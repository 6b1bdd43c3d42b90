"""Asking registered container providers: on the tape, faults as answers (pipeline-2 1.1)."""

from dataclasses import asdict
from typing import Any

from convengine.codec import plain
from convengine.domain.facts import session_dict
from convengine.domain.ports import ContainerAnswer, ContainerRequest
from convengine.domain.recording import Tape
from convengine.domain.session import Session
from convengine.extensions.registry import Registry


class Containers:
    """The containers port."""

    def __init__(self, registry: Registry, tape: Tape) -> None:
        self._registry = registry
        self._tape = tape

    def fetch(self, request: ContainerRequest, session: Session) -> ContainerAnswer:
        """Ask the provider that is registered for the request's address."""
        return ContainerAnswer(
            **self._tape.ask("container", plain(asdict(request)), lambda: self._call(request, session))
        )

    def _call(self, request: ContainerRequest, session: Session) -> dict[str, Any]:
        provider = self._registry.provider(request.page_id, request.section_id, request.container_id)
        if provider is None:
            return asdict(ContainerAnswer(error_type="NO_PROVIDER", error_message="NO_PROVIDER"))
        try:
            value = provider(request, plain(session_dict(session)))
        except Exception as error:
            return asdict(ContainerAnswer(error_type=type(error).__name__, error_message=str(error)))
        answer: dict[str, Any] = plain(asdict(ContainerAnswer(value)))
        return answer
