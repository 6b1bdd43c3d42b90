"""Registered code that belongs to an intent and state: interceptors and transformers (pipeline-2 1.1, 9.6)."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from convengine.domain.scope import ANY, in_scope, specificity
from convengine.domain.text import code
from convengine.errors import ConvEngineError


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
    """Code that gives a fetched response or an answer another form; null = unchanged."""

    name: str
    intent_code: str
    state_code: str
    transform: Callable[..., Any]


def interceptors_for(found: Iterable[Interceptor], intent: str | None, state: str | None) -> list[Interceptor]:
    """All that apply, by ascending `order`, then name."""
    fitting = [each for each in found if in_scope(each, intent, state)]
    return sorted(fitting, key=lambda each: (each.order, each.name))


def transformer_for(found: Iterable[Transformer], intent: str | None, state: str | None) -> Transformer | None:
    """The one that applies: the most specific; two equally specific ones cannot be registered."""
    fitting = [each for each in found if in_scope(each, intent, state)]
    return max(fitting, key=specificity, default=None)


def interceptor(target: type, intent: str, state: str, order: int, error: type[ConvEngineError]) -> Interceptor:
    """A class as an interceptor. Raises `error` when it has neither method."""
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
    """A class as a transformer beside `others`. Raises `error` without `transform`, or when the place is taken."""
    transform = _method(target(), "transform")
    if transform is None:
        raise error(f"{target.__qualname__} has no method transform.")
    made = Transformer(target.__qualname__, wildcard(intent), wildcard(state), transform)
    for other in others:
        if (other.intent_code, other.state_code) == (made.intent_code, made.state_code):
            raise error(f"{made.name} and {other.name} are both registered for {made.intent_code}/{made.state_code}.")
    return made


def wildcard(value: str) -> str:
    """A scope code as registered: `*` is ANY. Raises ValueError for a blank one."""
    word = code(value)
    if not word:
        raise ValueError("An intent or state of a registration must not be blank; use ANY for every one.")
    return ANY if word == "*" else word


def _method(instance: object, name: str) -> Callable[..., Any] | None:
    found = getattr(instance, name, None)
    return found if callable(found) else None
