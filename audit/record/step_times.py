"""When steps began and ended, as one list in a stored document: two events of each step would be most of its bytes.

The list is `steps` of an entry without an event of its own, the first of a document. Its items are `[seq, ms, step,
module]` of the event STEP_ENTER and, of a step that ended normally, `seq, ms, outcome, durationMs` of its STEP_EXIT.
Readers get these events as any other. An event that holds more, such as what the step changed, stays an entry.
"""

from collections.abc import Iterator, Mapping, Sequence

from convengine.engine.pipeline.stages import STEP_ENTER, STEP_EXIT
from convengine.json_value import Json

Entry = Mapping[str, Json]
#: The key of the list.
STEPS = "steps"
#: The number of the entry with the list: before every event.
_SEQ = 0
_ENTER, _EXIT = str(STEP_ENTER), str(STEP_EXIT)
#: The keys of an event that holds nothing but itself, in the order of the arguments of `StepList.add`.
_KEYS = ("seq", "stage", "step", "ms", "payload")
_ENTER_PAYLOAD, _EXIT_PAYLOAD = ("step", "stepClass"), ("step", "stepClass", "outcome", "durationMs")
_ENTERED, _LEFT = 4, 8


class StepList:
    """The list of a document that is made."""

    def __init__(self) -> None:
        self._steps: list[list[Json]] = []

    def add(self, seq: int, stage: str, step: str | None, ms: int, payload: Entry) -> bool:
        """Note an event that says nothing but when its step began, or when the step that began last ended.

        False for any other event, which is an entry of its own.
        """
        if stage == _ENTER and _is_plain(step, payload, _ENTER_PAYLOAD):
            self._steps.append([seq, ms, step, payload["stepClass"].removesuffix(f".{step}")])
            return True
        if stage == _EXIT and self._steps and _is_plain(step, payload, _EXIT_PAYLOAD):
            last = self._steps[-1]
            if len(last) == _ENTERED and payload["stepClass"] == f"{last[3]}.{last[2]}":
                last += [seq, ms, payload["outcome"], payload["durationMs"]]
                return True
        return False

    def put_before(self, others: Sequence[Entry]) -> list[Entry]:
        """The entries of a document: the list, if it has a step, and the other ones."""
        first: Entry = {"seq": _SEQ, "stage": None, "step": None, "ms": 0, "payload": {}, STEPS: self._steps}
        return [first, *others] if self._steps else [*others]


def fold_steps(entries: Sequence[Entry]) -> list[Entry]:
    """The entries of a document with its steps as one list. Events of steps that hold more stay entries."""
    steps = StepList()
    others = [entry for entry in entries if tuple(entry) != _KEYS or not steps.add(*entry.values())]
    return steps.put_before(others)


def _is_plain(step: str | None, payload: Entry, keys: tuple[str, ...]) -> bool:
    """True for the payload of the step itself, and nothing else."""
    return tuple(payload) == keys and payload["step"] == step and str(payload["stepClass"]).endswith(f".{step}")


def unfold_steps(stored: Sequence[Json]) -> list[Json]:
    """The entries of a document with its steps as events, in their places.

    If a list of steps is damaged, all entries stay as they are.
    """
    lists = [entry for entry in stored if isinstance(entry, dict) and STEPS in entry]
    if not lists or not all(_is_step_list(entry[STEPS]) for entry in lists):
        return list(stored)
    events = sorted((event for entry in lists for event in _iterate_events(entry[STEPS])), key=_get_seq, reverse=True)
    entries: list[Json] = []
    for entry in stored:
        if isinstance(entry, dict) and STEPS in entry:
            continue
        seq = _get_seq(entry) if isinstance(entry, dict) else None
        while events and isinstance(seq, int) and events[-1]["seq"] < seq:
            entries.append(events.pop())
        entries.append(entry)
    return [*entries, *reversed(events)]


def _get_seq(entry: Entry) -> Json:
    return entry.get("seq")


def _is_step_list(steps: Json) -> bool:
    """True for a list of steps with whole numbers where those of events and milliseconds are."""
    return isinstance(steps, list) and all(
        isinstance(step, list)
        and len(step) in (_ENTERED, _LEFT)
        and all(type(step[at]) is int for at in (0, 1, *((4, 5) if len(step) == _LEFT else ())))
        for step in steps
    )


def _iterate_events(steps: Sequence[Sequence[Json]]) -> Iterator[Entry]:
    """The events of a list of steps: the beginning of each, and its end if it has one."""
    for seq, ms, step, module, *end in steps:
        entered = {"step": step, "stepClass": f"{module}.{step}"}
        yield {"seq": seq, "stage": _ENTER, "step": step, "ms": ms, "payload": entered}
        if end:
            end_seq, end_ms, outcome, duration = end
            payload = {**entered, "outcome": outcome, "durationMs": duration}
            yield {"seq": end_seq, "stage": _EXIT, "step": step, "ms": end_ms, "payload": payload}
