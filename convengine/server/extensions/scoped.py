"""Registered code with a scope: interceptors and transformers (pipeline-2 1.1, 9.6)."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from convengine.engine.errors import ConvEngineError
from convengine.engine.text.compare import code
from convengine.engine.turn.scope import ANY, in_scope, rank_specificity


@dataclass(frozen=True)
class Interceptor:
    """Code around a fetch. `before` changes the request in place; `after` returns the response, null = unchanged."""

    name: str
    intent_code: str
    state_code: str
    order: int
    before: Callable[..., Any] | None
    after: Callable[..., Any] | None


@dataclass(frozen=True)
class Transformer:
    """Code that transforms fetched data or an answer; null = unchanged."""

    name: str
    intent_code: str
    state_code: str
    transform: Callable[..., Any]


def interceptors_for(found: Iterable[Interceptor], intent: str | None, state: str | None) -> list[Interceptor]:
    """All matching ones, by ascending `order`, then name."""
    fitting = [each for each in found if in_scope(each, intent, state)]
    return sorted(fitting, key=lambda each: (each.order, each.name))


def transformer_for(found: Iterable[Transformer], intent: str | None, state: str | None) -> Transformer | None:
    """The most specific matching one; two equally specific ones cannot be registered."""
    fitting = [each for each in found if in_scope(each, intent, state)]
    return max(fitting, key=rank_specificity, default=None)


def interceptor(target: type, intent: str, state: str, order: int, error: type[ConvEngineError]) -> Interceptor:
    """A class as an interceptor. Raises `error` without either method."""
    instance = target()
    before, after = (_method(instance, name) for name in ("before", "after"))
    if before is None and after is None:
        raise error(
            f"{target.__qualname__} has neither a method before(request, session) nor after(response, session)."
        )
    return Interceptor(target.__qualname__, wildcard(intent), wildcard(state), order, before, after)


def transformer(
    target: type, intent: str, state: str, others: Iterable[Transformer], error: type[ConvEngineError]
) -> Transformer:
    """A class as a transformer. Raises `error` without `transform`, or if the scope is taken by one of `others`."""
    transform = _method(target(), "transform")
    if transform is None:
        raise error(f"{target.__qualname__} has no method transform.")
    made = Transformer(target.__qualname__, wildcard(intent), wildcard(state), transform)
    for other in others:
        if (other.intent_code, other.state_code) == (made.intent_code, made.state_code):
            raise error(f"{made.name} and {other.name} are both registered for {made.intent_code}/{made.state_code}.")
    return made


def wildcard(value: str) -> str:
    """A registered scope code: `*` is ANY. Raises ValueError for a blank one."""
    word = code(value)
    if not word:
        raise ValueError("An intent or state of a registration must not be blank; use ANY for every one.")
    return ANY if word == "*" else word


def _method(instance: object, name: str) -> Callable[..., Any] | None:
    found = getattr(instance, name, None)
    return found if callable(found) else None
