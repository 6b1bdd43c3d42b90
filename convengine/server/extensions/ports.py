"""Call registered code: container providers, memory stores, response transformers, tools.

Each call is recorded; its faults are part of the answer. Tools run within their time.
"""

import copy
import time
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import asdict
from typing import Any

from convengine.engine.text.compare import blank
from convengine.engine.text.wording import join_names
from convengine.engine.tools.fault import ToolFault
from convengine.engine.turn.codec import dumps, loads, to_plain, to_strict
from convengine.engine.turn.enums import ToolGroup, resolve_group
from convengine.engine.turn.facts import collect_extension_facts
from convengine.engine.turn.params import hide_internal
from convengine.engine.turn.payload import JsonPayload, Payload, TextPayload
from convengine.engine.turn.ports import (
    ContainerAnswer,
    ContainerRequest,
    MemoryAnswer,
    StoreFault,
    ToolAnswer,
    ToolPort,
    TransformAnswer,
)
from convengine.engine.turn.recording import Aside
from convengine.engine.turn.session import Session
from convengine.json_value import Json
from convengine.server.extensions.bounded import RecordedPort, Wait, call_within
from convengine.server.extensions.faults import report_fault
from convengine.server.extensions.http import HttpRequest
from convengine.server.extensions.registry import Registry, ToolEntry, Transformer, interceptors_for, transformer_for
from convengine.server.observability.calls import record_tool_call, trace_call
from convengine.server.resilience.waiting import Overloaded

#: Nothing was called, because too many turns of this process wait already.
OVERLOADED = "OVERLOADED"


class Containers(RecordedPort):
    def fetch(self, request: ContainerRequest, session: Session) -> ContainerAnswer:
        """Call the provider of the request's address with its interceptors, and transform the result."""

        def call() -> dict[str, Any]:
            answer: dict[str, Any] = to_plain(asdict(self._measure_call(request, session)))
            return answer

        return ContainerAnswer(**self.tape.ask("container", to_plain(asdict(request)), call))

    def _measure_call(self, request: ContainerRequest, session: Session) -> ContainerAnswer:
        """Call the provider, and trace the call with its duration."""
        started = time.monotonic()
        sent = copy.deepcopy(request)
        value: Any = None
        error: Exception | None = None
        try:
            with self.wait():
                value = call_within(sent.timeout_ms, lambda: self._call(sent, session), self.afterwards)
            size = len(dumps(value).encode())
            if size > sent.max_bytes:
                text = f"The result has {size} bytes. At most {sent.max_bytes} are allowed."
                raise _Refused("RESULT_TOO_LARGE", text)
        except Exception as fault:
            error = fault
        seconds = time.monotonic() - started
        took = int(seconds * 1000)
        answer = self._make_answer(request, sent, value, error, took)
        trace_call("container", _name_container(request), seconds, answer.error_type)
        return answer

    def _make_answer(
        self, request: ContainerRequest, sent: ContainerRequest, value: Any, error: Exception | None, took: int
    ) -> ContainerAnswer:
        """The answer of a call that took `took` milliseconds: its value, or the code of its error.

        `sent` is the request as interceptors left it.
        """
        if error is None:
            return ContainerAnswer(value, duration_ms=took, sent=_find_changed_params(request, sent))
        if isinstance(error, Overloaded):
            return ContainerAnswer(None, OVERLOADED, str(error), took)
        if not isinstance(error, _Refused):
            report_fault("CONTAINER", _name_container(request), error)
        code = error.code if isinstance(error, _Refused) else type(error).__name__
        # After a timeout the code may still be changing the request.
        changed_params = None if isinstance(error, TimeoutError) else _find_changed_params(request, sent)
        return ContainerAnswer(None, code, str(error), took, changed_params)

    def _call(self, request: ContainerRequest, session: Session) -> Any:
        """The value as JSON. Raises the exceptions of registered code, and _Refused."""
        facts = to_plain(collect_extension_facts(session))
        around = interceptors_for(self.registry.interceptors, request.intent, request.state)
        for each in around:
            if each.before:
                each.before(request, facts)
        provider = self.registry.provider(request.page_id, request.section_id, request.container_id)
        if provider is None:
            raise _Refused("NO_PROVIDER", "NO_PROVIDER")
        value = provider(request, facts)
        for each in around:
            if each.after and (changed := each.after(value, facts)) is not None:
                value = changed
        transformer = transformer_for(self.registry.container_transformers, request.intent, request.state)
        if transformer and (changed := transformer.transform(value, facts, request.input_params)) is not None:
            value = changed
        try:
            return to_strict(value)
        except (TypeError, ValueError) as error:
            raise _Refused("NOT_JSON", f"The result is not a JSON value: {error}") from error


def _name_container(request: ContainerRequest) -> str:
    return f"{request.page_id}/{request.section_id}/{request.container_id}"


class _Refused(Exception):
    """An invalid or missing result with a code."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def _find_changed_params(request: ContainerRequest, sent: ContainerRequest) -> dict[str, Any] | None:
    """The input params after interceptors. Returns None if unchanged."""
    return None if sent.input_params == request.input_params else sent.input_params


class Memories(RecordedPort):
    def read(self, session: Session) -> MemoryAnswer:
        """The text of the first store that returns one, and the faults before it; later stores are not asked."""
        return self._ask("memory.read", lambda: self._read(session))

    def write(self, session: Session, summary: str) -> MemoryAnswer:
        """Give the summary to every store. The answer has the stores that took it, and the faults of the others."""
        return self._ask("memory.write", lambda: self._write(session, summary))

    def _ask(self, port: str, call: Callable[[], MemoryAnswer]) -> MemoryAnswer:
        # Recorded even without stores, so that a replay does not depend on the stores of its deployment.
        idle = Aside(is_idle=lambda: not self.registry.memory_stores)
        answer: dict[str, Any] = self.tape.ask(port, None, lambda: to_plain(call()), idle)
        faults = tuple(StoreFault(**fault) for fault in answer["faults"])
        return MemoryAnswer(answer["text"], tuple(answer["stores"]), faults)

    def _read(self, session: Session) -> MemoryAnswer:
        """Ask the stores in order until one returns a text; the answer has the faults of those before it."""
        faults: list[StoreFault] = []
        for name, store in self.registry.memory_stores.items():
            try:
                with self.wait():
                    text = store.read(to_plain(collect_extension_facts(session)))
            except (Exception, SystemExit) as error:
                faults.append(_make_store_fault(name, error))
                continue
            if isinstance(text, str) and not blank(text):
                return MemoryAnswer(text, (name,), tuple(faults))
        return MemoryAnswer(faults=tuple(faults))

    def _write(self, session: Session, summary: str) -> MemoryAnswer:
        """Give the summary to every store; the answer has those that took it, and the faults of the others."""
        faults: list[StoreFault] = []
        written: list[str] = []
        for name, store in self.registry.memory_stores.items():
            try:
                with self.wait():
                    store.write(to_plain(collect_extension_facts(session)), summary)
                written.append(name)
            except (Exception, SystemExit) as error:
                faults.append(_make_store_fault(name, error))
        return MemoryAnswer(None, tuple(written), tuple(faults))


def _make_store_fault(store: str, error: BaseException) -> StoreFault:
    """The fault of a store; it is reported, unless only too many turns wait."""
    if isinstance(error, Overloaded):
        return StoreFault(store, OVERLOADED, str(error))
    report_fault("MEMORY_STORE", store, error)
    return StoreFault(store, type(error).__name__, str(error))


class ResponseTransformers(RecordedPort):
    def transform(self, stage: str, payload: Payload, session: Session) -> TransformAnswer:
        """Let the transformer of a stage that fits intent and state change the answer. The result has its fault."""
        # Recorded even without transformers, so that a replay does not depend on those of its deployment.
        aside = Aside(
            lambda: to_plain([payload.type, payload.value, session.intent, session.state]),
            lambda: self._find_transformer(stage, session) is None,
        )
        answer = self.tape.ask("transform", stage, lambda: self._call(stage, payload, session), aside)
        changed = answer["payload"]
        return TransformAnswer(
            None if changed is None else _KINDS[changed["type"]](changed["value"]),
            answer["transformer"],
            answer["errorType"],
            answer["errorMessage"],
        )

    def _find_transformer(self, stage: str, session: Session) -> Transformer | None:
        """The transformer of a stage for the session's intent and state. Returns None if there is none."""
        return transformer_for(self.registry.response_transformers[stage], session.intent, session.state)

    def _call(self, stage: str, payload: Payload, session: Session) -> dict[str, Any]:
        """Ask the transformer of a stage. Returns the answer as it is recorded; without a transformer it is empty."""
        transformer = self._find_transformer(stage, session)
        answer: dict[str, Any] = {"payload": None, "transformer": None, "errorType": None, "errorMessage": None}
        if transformer is None:
            return answer
        answer["transformer"] = transformer.name
        try:
            facts, params = to_plain(collect_extension_facts(session)), to_plain(hide_internal(session.input_params))
            with self.wait():
                changed = transformer.transform(payload, facts, params)
            if changed is not None:
                answer["payload"] = _to_recorded_payload(changed)
        except (Exception, SystemExit) as error:
            report_fault("TRANSFORMER", transformer.name, error)
            answer["errorType"], answer["errorMessage"] = type(error).__name__, str(error)
        return answer


_KINDS: Mapping[str, type[TextPayload | JsonPayload]] = {"TEXT": TextPayload, "JSON": JsonPayload}


def _to_recorded_payload(changed: Any) -> dict[str, Any]:
    """A payload, or a plain text or document, for the recording. Raises TypeError for anything else."""
    if isinstance(changed, (TextPayload, JsonPayload)):
        kind, value = changed.type, changed.value
    elif isinstance(changed, str):
        kind, value = "TEXT", changed
    elif isinstance(changed, (dict, list)):
        kind, value = "JSON", changed
    else:
        raise TypeError(f"A transformer must return a payload, a text or a document, not a {type(changed).__name__}.")
    return {"type": kind, "value": to_strict(value)}


#: The call took longer than the turn could wait; it is unknown whether the tool did its work.
TOOL_TIMEOUT = "TOOL_TIMEOUT"
#: Tools that wait for nobody.
_LOCAL = frozenset({ToolGroup.CALCULATOR_TRANSFORM})
#: Makes the call that a tool's code requests.
MakeCall = Callable[[str, HttpRequest, Session], Json]
#: Texts of these groups become an object, so that paths always find one.
_OBJECTS = frozenset({ToolGroup.DB, ToolGroup.HTTP_API})


class RegisteredTools:
    """Registered executors: of a tool, else of its group; else `otherwise`.

    `afterwards` is called in the thread of each call when it ends.
    """

    def __init__(
        self,
        registry: Registry,
        afterwards: Callable[[], None] = lambda: None,
        otherwise: ToolPort | None = None,
        make_call: MakeCall | None = None,
    ) -> None:
        self._registry = registry
        self._afterwards = afterwards
        self._otherwise = otherwise
        self._make_call = make_call

    def run(self, tool_code: str, tool_group: str, args: Mapping[str, Any], session: Session) -> ToolAnswer:
        """Run a tool of a group. Its fault is the answer; NO_EXECUTOR when nothing can run it."""
        group = resolve_group(tool_group)
        given, facts = to_plain(dict(args)), to_plain(collect_extension_facts(session))
        entry = self._registry.tools.get(tool_code)
        if entry is not None and resolve_group(entry.group) == group:
            run = entry.run
            return self._answer(tool_code, group, entry, session, lambda: run(given, facts))
        if (adapter := self._registry.tool_groups.get(group)) is not None:
            run = adapter.run
            return self._answer(tool_code, group, adapter, session, lambda: run(tool_code, given, facts))
        if self._otherwise is not None:
            return self._otherwise.run(tool_code, tool_group, args, session)
        named = f"tool {tool_code} of group {tool_group}" if tool_code else f"group {tool_group}"
        known = join_names(f"{code} ({tool.group})" for code, tool in self._registry.tools.items())
        message = f"No executor is installed for {named}. Registered: {known}."
        return ToolAnswer(error_type="NO_EXECUTOR", error_message=message)

    def _answer(
        self, tool_code: str, group: str, entry: ToolEntry, session: Session, call: Callable[[], Json]
    ) -> ToolAnswer:
        """Run a registered executor within its time limit, and make the HTTP call that it may return.

        Its fault is the answer.
        """
        try:
            value = call_within(entry.timeout_ms, call, self._afterwards)
            if isinstance(value, HttpRequest):
                if self._make_call is None:
                    raise ToolFault("NO_EXECUTOR", "No executor for HTTP calls is installed.")
                return ToolAnswer(self._make_call(tool_code, value, session))
            return ToolAnswer(_wrap_text(to_strict(value), group))
        except ToolFault as fault:
            return ToolAnswer(error_type=fault.code, error_message=fault.message, stage_payloads=fault.stage_payloads)
        except Exception as error:
            report_fault("TOOL", tool_code or group, error)
            return ToolAnswer(error_type=type(error).__name__, error_message=str(error))


def _wrap_text(value: Json, group: str) -> Json:
    """The result of an executor; an empty one or a text of a group of `_OBJECTS` becomes an object, if it can."""
    if group not in _OBJECTS or not (value is None or isinstance(value, str)):
        return value
    try:
        return {} if value is None else loads(value)
    except ValueError:
        return {"text": value}


class TimedTools:
    """Executors with a time limit for each call. `afterwards` is called at the end of the thread of such a call.

    The turn's thread holds `wait` during a call, unless the tool only computes. With `is_measured`, calls are counted.
    """

    def __init__(
        self,
        tools: ToolPort,
        afterwards: Callable[[], None] = lambda: None,
        wait: Wait = nullcontext,
        *,
        is_measured: bool = True,
    ) -> None:
        self._tools = tools
        self._afterwards = afterwards
        self._wait = wait
        self._is_measured = is_measured

    def run(
        self,
        tool_code: str,
        tool_group: str,
        args: Mapping[str, Any],
        session: Session,
        within_ms: int | None = None,
    ) -> ToolAnswer:
        """Run a tool; TOOL_TIMEOUT when it takes longer than `within_ms`, OVERLOADED when too many wait for tools."""
        started = time.monotonic()
        answer = self._run_in_slot(tool_code, tool_group, args, session, within_ms)
        if self._is_measured:
            record_tool_call(tool_code or "", resolve_group(tool_group), answer, time.monotonic() - started)
        return answer

    def _run_in_slot(
        self, tool_code: str, tool_group: str, args: Mapping[str, Any], session: Session, within_ms: int | None
    ) -> ToolAnswer:
        """Run the tool while the turn's thread holds `wait`, unless it only computes; OVERLOADED if too many wait."""
        if resolve_group(tool_group) in _LOCAL:
            return self._run_in_time(tool_code, tool_group, args, session, within_ms)
        try:
            with self._wait():
                return self._run_in_time(tool_code, tool_group, args, session, within_ms)
        except Overloaded as error:
            return ToolAnswer(error_type=OVERLOADED, error_message=str(error))

    def _run_in_time(
        self, tool_code: str, tool_group: str, args: Mapping[str, Any], session: Session, within_ms: int | None
    ) -> ToolAnswer:
        """Run the tool; TOOL_TIMEOUT after `within_ms`, where None means without a limit of the call."""
        if within_ms is None:
            return self._tools.run(tool_code, tool_group, args, session)
        try:
            return call_within(
                within_ms, lambda: self._tools.run(tool_code, tool_group, args, session), self._afterwards
            )
        except TimeoutError as error:
            return ToolAnswer(error_type=TOOL_TIMEOUT, error_message=str(error))
