"""What a deployment registers in code: rows name it, and never import it (style 1, law 7)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from convengine.pipeline.hooks import StepHook


@dataclass(frozen=True)
class TaskEntry:
    """A registered task: its methods by name, and whether they may return nothing."""

    methods: Mapping[str, Callable[..., Any]]
    returns_none: bool = False
    allow_from_context: bool = False


#: (page, section, container); null stands for "every".
Address = tuple[int | None, int | None, int | None]


@dataclass
class Registry:
    """Everything that rows may name."""

    tasks: dict[str, TaskEntry] = field(default_factory=dict)
    providers: dict[Address, Callable[..., Any]] = field(default_factory=dict)
    hooks: list[StepHook] = field(default_factory=list)

    def add_task(self, name: str, entry: TaskEntry) -> None:
        """Register a task. Raises ValueError when the name is taken."""
        if name in self.tasks:
            raise ValueError(f"There is already a task {name}.")
        self.tasks[name] = entry

    def provider(self, page: int, section: int, container: int) -> Callable[..., Any] | None:
        """The most specific provider of an address: container, section, page, default (pipeline-2 1.1)."""
        for address in ((page, section, container), (page, section, None), (page, None, None), (None, None, None)):
            if address in self.providers:
                return self.providers[address]
        return None


registry = Registry()


def task(
    name: str, *, returns_none: bool = False, allow_from_context: bool = False
) -> Callable[[Callable[..., Any] | type], Any]:
    """Register a function as task `name`, or a class whose public methods are the task's methods.

    A function or method takes a TaskCall and returns a JSON value. A bare reference `name` runs the function, or
    the class's `run`.
    """

    def register(target: Callable[..., Any] | type) -> Any:
        if isinstance(target, type):
            instance = target()
            methods = {
                key: getattr(instance, key)
                for key in dir(instance)
                if not key.startswith("_") and callable(getattr(instance, key))
            }
        else:
            methods = {name: target}
        registry.add_task(name, TaskEntry(methods, returns_none, allow_from_context))
        return target

    return register


def container_provider(
    page: int | None = None, section: int | None = None, container: int | None = None
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register `fetch(request, session)` for an address. Raises ValueError when the address is taken."""

    def register(fetch: Callable[..., Any]) -> Callable[..., Any]:
        address = (page, section, container)
        if address in registry.providers:
            raise ValueError(f"There is already a container provider for {address}.")
        registry.providers[address] = fetch
        return fetch

    return register


def step_hook(hook: type[StepHook]) -> type[StepHook]:
    """Register a class of hooks around steps."""
    registry.hooks.append(hook())
    return hook
