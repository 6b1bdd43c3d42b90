"""What a deployment registers in code. Rows name it, and never import it."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from convengine.engine.errors import (
    ConvEngineError,
    InvalidContainerInterceptor,
    InvalidContainerTransformer,
    InvalidMemoryStore,
    InvalidResponseTransformer,
)
from convengine.engine.pipeline.hooks import StepHook
from convengine.engine.text.compare import code
from convengine.engine.text.wording import join_names
from convengine.engine.turn.enums import resolve_group
from convengine.engine.turn.scope import ANY, in_scope, rank_specificity
from convengine.engine.turn.verbose import VerboseListener
from convengine.engine.understanding.field import Kind, fold_kind


@dataclass(frozen=True)
class Interceptor:
    """Code around a fetch. `before` changes the request in place; `after` returns the response; None: no change."""

    name: str
    intent_code: str
    state_code: str
    order: int
    before: Callable[..., Any] | None
    after: Callable[..., Any] | None


@dataclass(frozen=True)
class Transformer:
    """Code that transforms fetched data or an answer; it returns None to leave them unchanged."""

    name: str
    intent_code: str
    state_code: str
    transform: Callable[..., Any]


def interceptors_for(interceptors: Iterable[Interceptor], intent: str | None, state: str | None) -> list[Interceptor]:
    """The interceptors that match an intent and state, by ascending `order`, then name."""
    fitting = [each for each in interceptors if in_scope(each, intent, state)]
    return sorted(fitting, key=lambda each: (each.order, each.name))


def transformer_for(transformers: Iterable[Transformer], intent: str | None, state: str | None) -> Transformer | None:
    """The most specific transformer that matches an intent and state. Returns None if none matches.

    Two for the same scope cannot be registered.
    """
    fitting = [each for each in transformers if in_scope(each, intent, state)]
    return max(fitting, key=rank_specificity, default=None)


def interceptor(target: type, intent: str, state: str, order: int, error: type[ConvEngineError]) -> Interceptor:
    """A class as an interceptor. Raises `error` for a class that has neither `before` nor `after`."""
    instance = target()
    before, after = (_find_method(instance, name) for name in ("before", "after"))
    if before is None and after is None:
        raise error(
            f"{target.__qualname__} has neither a method before(request, session) nor after(response, session)."
        )
    return Interceptor(target.__qualname__, wildcard(intent), wildcard(state), order, before, after)


def transformer(
    target: type, intent: str, state: str, others: Iterable[Transformer], error: type[ConvEngineError]
) -> Transformer:
    """A class as a transformer. Raises `error` without `transform`, or if the scope is taken by one of `others`."""
    transform = _find_method(target(), "transform")
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
        raise ValueError("The intent or state of a registration must not be blank. Use ANY for all.")
    return ANY if word == "*" else word


def _find_method(instance: object, name: str) -> Callable[..., Any] | None:
    method = getattr(instance, name, None)
    return method if callable(method) else None


@dataclass(frozen=True)
class TaskEntry:
    """A registered task: its methods by name, and what `task` says about them."""

    methods: Mapping[str, Callable[..., Any]]
    returns_none: bool = False
    allow_from_context: bool = False
    #: Another run does no harm: of every method, or of the named ones.
    repeatable: bool | Collection[str] = False

    def is_repeatable(self, method: str) -> bool:
        """True when the method may run again for a turn that is taken again."""
        return self.repeatable if isinstance(self.repeatable, bool) else method in self.repeatable


@dataclass(frozen=True)
class ToolEntry:
    """A registered tool: its group, its function, and its time limit."""

    run: Callable[..., Any]
    group: str
    timeout_ms: int


@dataclass(frozen=True)
class FinderEntry:
    """A registered finder of values, and its time limit."""

    find: Callable[..., Any]
    timeout_ms: int


#: (page, section, container); null stands for "every".
Address = tuple[int | None, int | None, int | None]


@dataclass
class Registry:
    """Everything that rows may name."""

    tasks: dict[str, TaskEntry] = field(default_factory=dict)
    providers: dict[Address, Callable[..., Any]] = field(default_factory=dict)
    interceptors: list[Interceptor] = field(default_factory=list)
    container_transformers: list[Transformer] = field(default_factory=list)
    #: By stage: LLM, FINAL.
    response_transformers: dict[str, list[Transformer]] = field(default_factory=lambda: {"LLM": [], "FINAL": []})
    #: Memory stores by name, in order of registration.
    memory_stores: dict[str, Any] = field(default_factory=dict)
    hooks: list[StepHook] = field(default_factory=list)
    #: Called with each progress text of a turn.
    verbose_listeners: list[VerboseListener] = field(default_factory=list)
    #: Tools by code.
    tools: dict[str, ToolEntry] = field(default_factory=dict)
    #: Executors of whole groups, by group; they override the built-in ones.
    tool_groups: dict[str, ToolEntry] = field(default_factory=dict)
    #: Finders of values by kind.
    finders: dict[str, FinderEntry] = field(default_factory=dict)
    #: Mappers of HTTP answers by name.
    http_mappers: dict[str, Callable[[Any], Any]] = field(default_factory=dict)
    #: Kinds of channels.
    channels: list[type[Any]] = field(default_factory=list)

    def add_task(self, name: str, entry: TaskEntry) -> None:
        """Register a task. Raises ValueError if the name is taken."""
        _add(self.tasks, name, entry, f"The task {name}")

    def provider(self, page: int, section: int, container: int) -> Callable[..., Any] | None:
        """The most specific provider of an address: container, section, page, default. Returns None without any."""
        for address in ((page, section, container), (page, section, None), (page, None, None), (None, None, None)):
            if address in self.providers:
                return self.providers[address]
        return None


registry = Registry()


def _add(entries: dict[Any, Any], key: Any, entry: Any, title: str) -> None:
    """Raises ValueError if the key is taken."""
    if key in entries:
        raise ValueError(f"{title} is already registered.")
    entries[key] = entry


def task(
    name: str,
    *,
    returns_none: bool = False,
    allow_from_context: bool = False,
    repeatable: bool | Collection[str] = False,
) -> Callable[[Callable[..., Any] | type], Any]:
    """Register a function as task `name`, or a class whose public methods are the task's methods.

    A function or method takes a TaskCall and returns a JSON value. A bare reference `name` runs the function, or
    the class's `run`.

    `returns_none`: returning nothing is no failure. `allow_from_context`: data of a conversation may propose the task
    as an action. `repeatable`: methods that a rule may run again when its turn is taken again, because they only read,
    or because their system recognises `call.idempotency_key`; true for all. The others are claimed, so that they run
    once.

    Raises ValueError if the name is taken, or `repeatable` names no method of the task.
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
        if not isinstance(repeatable, bool) and (unknown := sorted(set(repeatable) - methods.keys())):
            raise ValueError(f"The task {name} has no method {join_names(unknown)}. It has: {join_names(methods)}.")
        registry.add_task(name, TaskEntry(methods, returns_none, allow_from_context, repeatable))
        return target

    return register


def tool(
    code: str, group: str = "WORKFLOW_ACTION", *, timeout_ms: int = 5000
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register `run(args, session)` as the executor of the tool with this code in `ce_mcp_tool`.

    It returns a JSON value; an exception is the tool's error. Raises ValueError if the code is taken.
    """

    def register(run: Callable[..., Any]) -> Callable[..., Any]:
        _add(registry.tools, code, ToolEntry(run, group, timeout_ms), f"The tool {code}")
        return run

    return register


def tool_group(group: str, *, timeout_ms: int = 5000) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register `run(tool_code, args, session)` as the executor of a group, for tools without code of their own.

    Raises ValueError if the group is taken.
    """

    def register(run: Callable[..., Any]) -> Callable[..., Any]:
        name = resolve_group(group)
        _add(registry.tool_groups, name, ToolEntry(run, name, timeout_ms), f"An executor of the group {name}")
        return run

    return register


def register_finder(kind: str, find: Callable[..., Any], *, timeout_ms: int = 1000) -> None:
    """Register `find(text, fields, situation)` for the fields with this `x-kind`: one of your own, or a built-in one.

    It is called once per message, and returns a list of `FoundSpan`. `fields` are the fields of the open form that have
    this kind, by path, as their JSON Schema. `situation` has `now`, `time_zone`, `locale`, `asked_field` and `held`,
    the values of the form. Raises ValueError if the kind is taken, or if nothing finds values of it.
    """
    name = fold_kind(kind)
    if name in _WITHOUT_FINDER:
        raise ValueError(f"No finder reads values of the kind {kind!r}. Name a kind of your own.")
    _add(registry.finders, name, FinderEntry(find, timeout_ms), f"A finder of the kind {name}")


#: Free text is what is left of a message, and a yes is a move; neither is a span.
_WITHOUT_FINDER = frozenset({"", Kind.TEXT, Kind.YES_NO, Kind.OWN})


def http_mapper(name: str) -> Callable[[Callable[[Any], Any]], Callable[[Any], Any]]:
    """Register `map(body)` for `mapping_mode` MAPPER_CLASS. Raises ValueError if the name is taken."""

    def register(mapper: Callable[[Any], Any]) -> Callable[[Any], Any]:
        _add(registry.http_mappers, name, mapper, f"The mapper {name}")
        return mapper

    return register


def container_provider(
    page: int | None = None, section: int | None = None, container: int | None = None
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register `fetch(request, session)` for an address. Raises ValueError if the address is taken."""

    def register(fetch: Callable[..., Any]) -> Callable[..., Any]:
        address = (page, section, container)
        _add(registry.providers, address, fetch, f"A container provider for {address}")
        return fetch

    return register


def container_interceptor(intent: str = "*", state: str = "*", order: int = 0) -> Callable[[type], type]:
    """Register a class with `before(request, session)` and/or `after(response, session)` around fetches.

    All matching ones run, by `order`, then class name. Raises InvalidContainerInterceptor for a class that has neither.
    """

    def register(target: type) -> type:
        registry.interceptors.append(interceptor(target, intent, state, order, InvalidContainerInterceptor))
        return target

    return register


def container_transformer(intent: str, state: str) -> Callable[[type], type]:
    """Register a class with `transform(response, session, input_params)` for fetched data in an intent and state.

    The most specific one applies. Raises InvalidContainerTransformer without the method, or if the scope is taken.
    """

    def register(target: type) -> type:
        others = registry.container_transformers
        others.append(transformer(target, intent, state, others, InvalidContainerTransformer))
        return target

    return register


def response_transformer(intent: str, state: str, stage: str = "LLM") -> Callable[[type], type]:
    """Register a class with `transform(payload, session, input_params)` for answers in an intent and state.

    Stage LLM gets the answers of rows, FINAL every answer; both run before anything is stored. The most specific one
    applies. Raises InvalidResponseTransformer without the method, for another stage, or if the scope is taken.
    """

    def register(target: type) -> type:
        others = registry.response_transformers.get(stage.strip().upper())
        if others is None:
            raise InvalidResponseTransformer(f"{target.__qualname__}: a stage is LLM or FINAL, not {stage!r}.")
        others.append(transformer(target, intent, state, others, InvalidResponseTransformer))
        return target

    return register


def memory_store(name: str) -> Callable[[type], type]:
    """Register a class with `read(session)`, which returns a text or null, and `write(session, summary)`.

    Raises InvalidMemoryStore without the two methods, or if the name is taken.
    """

    def register(target: type) -> type:
        store = target()
        if name in registry.memory_stores:
            raise InvalidMemoryStore(f"There is already a memory store {name}.")
        if not (callable(getattr(store, "read", None)) and callable(getattr(store, "write", None))):
            raise InvalidMemoryStore(f"{target.__qualname__} needs the methods read(session) and write(session, text).")
        registry.memory_stores[name] = store
        return target

    return register


def step_hook(hook: type[StepHook]) -> type[StepHook]:
    """Register a class of hooks around steps."""
    registry.hooks.append(hook())
    return hook


def register_channel(kind: type[Any]) -> type[Any]:
    """Register a subclass of Provider as a kind of channels. With the name of a built-in kind, it replaces that one."""
    registry.channels.append(kind)
    return kind


def verbose_listener(hear: VerboseListener) -> VerboseListener:
    """Register a function that gets each progress text of a turn; a replay calls it not at all."""
    registry.verbose_listeners.append(hear)
    return hear
