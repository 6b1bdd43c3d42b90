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
_KEYS = ("seq", "stage", "step", "ms", "payload")
_ENTER_PAYLOAD, _EXIT_PAYLOAD = ("step", "stepClass"), ("step", "stepClass", "outcome", "durationMs")
_ENTERED, _LEFT = 4, 8


def fold_steps(entries: Sequence[Entry]) -> list[Entry]:
    """The entries of a document with its steps as one list. Events of steps that hold more stay entries."""
    steps: list[list[Json]] = []
    others: list[Entry] = []
    for entry in entries:
        stage = entry["stage"]
        if stage == _ENTER and _is_plain(entry, _ENTER_PAYLOAD):
            module = entry["payload"]["stepClass"].removesuffix(f".{entry['step']}")
            steps.append([entry["seq"], entry["ms"], entry["step"], module])
        elif stage == _EXIT and steps and _is_plain(entry, _EXIT_PAYLOAD) and _ends(entry, steps[-1]):
            payload = entry["payload"]
            steps[-1] += [entry["seq"], entry["ms"], payload["outcome"], payload["durationMs"]]
        else:
            others.append(entry)
    if not steps:
        return others
    return [{"seq": _SEQ, "stage": None, "step": None, "ms": 0, "payload": {}, STEPS: steps}, *others]


def _is_plain(entry: Entry, payload_keys: tuple[str, ...]) -> bool:
    """True for an event that says nothing but when its step began or ended."""
    payload, step = entry["payload"], entry["step"]
    return (
        tuple(entry) == _KEYS
        and tuple(payload) == payload_keys
        and payload["step"] == step
        and str(payload["stepClass"]).endswith(f".{step}")
    )


def _ends(entry: Entry, step: Sequence[Json]) -> bool:
    """True if an entry is the end of this step, which is the one that began last and has no end yet."""
    return len(step) == _ENTERED and entry["payload"]["stepClass"] == f"{step[3]}.{step[2]}"


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
