"""A property that is computed once for each instance, without a lock.

`functools.cached_property` of Python 3.11 holds one lock for all instances of a class while it computes: one slow turn
would stop all others of its process.
"""

from collections.abc import Callable
from typing import Any, Generic, Self, TypeVar, overload

T = TypeVar("T")


class cached_property(Generic[T]):
    """Computes on first access, and keeps the value in the instance. Of two threads at once, the first value stays."""

    def __init__(self, compute: Callable[[Any], T]) -> None:
        self._compute = compute
        self.__doc__ = compute.__doc__

    def __set_name__(self, owner: type[object], name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type[object]) -> Self: ...
    @overload
    def __get__(self, instance: object, owner: type[object]) -> T: ...
    def __get__(self, instance: object | None, owner: type[object]) -> Self | T:
        if instance is None:
            return self
        computed: T = instance.__dict__.setdefault(self._name, self._compute(instance))
        return computed
