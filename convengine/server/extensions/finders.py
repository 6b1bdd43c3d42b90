"""Call the deployment's finders of values. Each call is recorded; its faults are part of the answer."""

from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from convengine.engine.turn.codec import to_plain, to_strict
from convengine.engine.turn.finder_port import FinderAnswer, FoundSpan
from convengine.json_value import Json
from convengine.server.extensions.bounded import RecordedPort, call_within
from convengine.server.extensions.faults import report_fault
from convengine.server.extensions.registry import FinderEntry

#: More spans of a kind are no answer.
_MOST_SPANS = 100


@dataclass(eq=False)
class Finders(RecordedPort):
    """The finders port. `recorded_kinds`: the kinds that a recorded turn asked for; with None, all registered ones."""

    recorded_kinds: Collection[str] | None = None

    @property
    def kinds(self) -> Collection[str]:
        return self.registry.finders.keys() if self.recorded_kinds is None else self.recorded_kinds

    def find(self, kind: str, text: str, fields: Mapping[str, Json], situation: Mapping[str, Json]) -> FinderAnswer:
        """Ask the finder of a kind, which must have one. Its fault is part of the answer."""
        request = to_plain({"kind": kind, "text": text, "fields": fields, "situation": situation})
        answer = self.tape.ask("finder", request, lambda: to_plain(asdict(self._call(kind, request))))
        return FinderAnswer(**{**answer, "spans": tuple(FoundSpan(**span) for span in answer["spans"])})

    def _call(self, kind: str, request: Mapping[str, Json]) -> FinderAnswer:
        """Ask the registered finder within its time limit. Its fault is part of the answer, and reported."""
        entry = self.registry.finders[kind]
        try:
            with self.wait():
                spans = call_within(entry.timeout_ms, lambda: _find(entry, request), self.afterwards)
            return FinderAnswer(spans)
        except Exception as error:
            report_fault("FINDER", kind, error)
            return FinderAnswer((), type(error).__name__, str(error))


def _find(entry: FinderEntry, request: Mapping[str, Json]) -> tuple[FoundSpan, ...]:
    """The spans of a finder, at most 100. Raises its exceptions, and TypeError or ValueError for an unusable span."""
    spans = entry.find(request["text"], request["fields"], request["situation"])
    return tuple(_check_span(span, request["text"]) for span in list(spans or ())[:_MOST_SPANS])


def _check_span(span: Any, text: str) -> FoundSpan:
    """The span, with a value that JSON can represent. Raises TypeError and ValueError for an unusable one."""
    if not isinstance(span, FoundSpan):
        raise TypeError(f"A finder must return a list of FoundSpan, not of {type(span).__name__}.")
    if not 0 <= span.start < span.end <= len(text):
        raise ValueError(f"A span from {span.start} to {span.end} is not in the message.")
    if span.value is None and not span.reason:
        raise ValueError(f"The span from {span.start} to {span.end} has neither a value nor a reason.")
    to_strict(span.value)
    return span
