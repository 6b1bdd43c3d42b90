"""The parts of a document that retention removes, each sealed on its own.

`steps` are the list of `step_times`, and the events of steps that hold more; `prompts` are whole events, `calls` are
the model calls of all events. What else such an event holds stays with the other events, because readers of later
events need it: the session, its changes, and deciding rows.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

from audit.record import step_times
from audit.record.events import parse_stored
from convengine.engine.pipeline.stages import STEP_ENTER, STEP_EXIT
from convengine.engine.stages import base_name
from convengine.engine.turn.codec import dump_unchanged, dumps
from convengine.engine.turn.stages import PROMPT_RENDERING
from convengine.json_value import Json

Entry = Mapping[str, Json]
#: The parts, in the order of the seal.
EVENTS, STEPS, PROMPTS, CALLS = range(4)
#: The pieces of each part: an entry, or what belongs to the part of it, with its number.
DocumentParts = tuple[list[Entry], list[Entry], list[Entry], list[Entry]]
#: What belongs to an event itself.
_OWN = ("seq", "stage", "step", "ms", "payload")
_NO_EVENT: Entry = {"stage": None, "step": None, "ms": 0, "payload": {}}


def encode_document(entries: Sequence[Entry]) -> tuple[str, Sequence[bytes]]:
    """The text of entries as they are stored, and the sealed bytes of each part. Raises RecursionError, ValueError."""
    texts: list[bytes] = []
    pieces: tuple[list[bytes], ...] = ([], [], [], [])
    try:
        # Each entry is encoded once, except for the few that belong to several parts.
        for entry in entries:
            texts.append(dump_unchanged(entry))
            for part, piece in _split_entry(entry):
                pieces[part].append(texts[-1] if piece is entry else dump_unchanged(piece))
    except TypeError:
        stored = dumps(entries)
        return stored, encode_parts(read_parts(stored))
    return f"[{b','.join(texts).decode()}]", [b",".join(part) for part in pieces]


def read_parts(text: str | None) -> DocumentParts:
    """The pieces of a stored document by part; none of a text that the product did not write."""
    parts: DocumentParts = ([], [], [], [])
    entries = [entry for entry in parse_stored(text) or () if isinstance(entry, dict)]
    if all(type(entry.get("seq")) is int for entry in entries):
        for entry in entries:
            for part, piece in _split_entry(entry):
                parts[part].append(piece)
    return parts


def join_parts(parts: Sequence[Iterable[Entry]]) -> list[Entry]:
    """The entries of a document from its parts. Some parts may be empty."""
    by_seq: dict[int, Entry] = {}
    for part in (STEPS, PROMPTS, EVENTS, CALLS):
        for piece in parts[part]:
            seq = piece["seq"]
            by_seq[seq] = {**by_seq.get(seq, {"seq": seq, **_NO_EVENT}), **piece}
    return [by_seq[seq] for seq in sorted(by_seq)]


def encode_parts(parts: DocumentParts) -> list[bytes]:
    return [dumps(part)[1:-1].encode() for part in parts]


def encode_stored_document(text: str | None) -> Sequence[bytes]:
    """The sealed bytes of each part of a stored document. Of a text that its parts do not give, they match no seal."""
    pieces = encode_parts(parts := read_parts(text))
    if text is not None and dumps(join_parts(parts)) != text:
        pieces[EVENTS] += text.encode("utf-8", "surrogatepass")
    return pieces


def _split_entry(entry: Entry) -> Iterator[tuple[int, Entry]]:
    """The parts to which an entry belongs, each with its piece of it: itself, if it belongs to one part only."""
    stage = entry.get("stage")
    part = STEPS if step_times.STEPS in entry else _part_of(str(stage or ""))
    if step_times.STEPS in entry or (stage and "calls" not in entry and (part == EVENTS or len(entry) == len(_OWN))):
        yield part, entry
        return
    more = {name: value for name, value in entry.items() if name not in _OWN and name != "calls"}
    event = {name: entry[name] for name in _OWN if name in entry}
    if part == EVENTS and stage:
        event, more = event | more, {}
    if stage:
        yield part, event
    if more:
        yield EVENTS, {"seq": entry["seq"], **more}
    if "calls" in entry:
        yield CALLS, {"seq": entry["seq"], "calls": entry["calls"]}


@lru_cache(1024)
def _part_of(stage: str) -> int:
    name = base_name(stage)
    if name in (STEP_ENTER, STEP_EXIT):
        return STEPS
    return PROMPTS if name.endswith(("_LLM_INPUT", "_LLM_OUTPUT")) or name == PROMPT_RENDERING else EVENTS
