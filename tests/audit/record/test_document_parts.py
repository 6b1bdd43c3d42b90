"""A document is the sum of its parts, and what remains after any removals has the sealed bytes of before."""

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit import seal as seals
from audit.record import document_parts
from audit.record.document_parts import (
    EVENTS,
    encode_document,
    encode_parts,
    encode_stored_document,
    join_parts,
    read_parts,
)
from audit.record.events import parse_entries
from audit.record.step_times import fold_steps
from audit.seal import Parts, Seal
from convengine.engine.turn.codec import dumps, loads

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=3)
    | st.sampled_from(["\x00", "\ud800", 2**70]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)
STAGES = (
    "USER_INPUT",
    "STEP_ENTER",
    "STEP_EXIT",
    "INTENT_AGENT_LLM_INPUT",
    "A_LLM_OUTPUT (x)",
    "PROMPT_RENDERING",
    "OWN",
)
MORE = st.fixed_dictionaries(
    {}, optional={"session": VALUES, "changed": VALUES, "rows": VALUES, "calls": st.lists(VALUES, max_size=2)}
)
STEP = {"step": "A", "stepClass": "m.n.A"}
#: The events of a step, which say nothing else: they become a list.
STEP_EVENTS = st.sampled_from(
    [("STEP_ENTER", STEP, {}), ("STEP_EXIT", {**STEP, "outcome": "Continue", "durationMs": 3}, {})]
)
EVENT = STEP_EVENTS | st.tuples(st.sampled_from(STAGES), st.dictionaries(st.text(max_size=3), VALUES, max_size=2), MORE)
BITS = {seals.STEPS: document_parts.STEPS, seals.PROMPTS: document_parts.PROMPTS, seals.CALLS: document_parts.CALLS}
WORDS, RECORDING = b'["hello"]', b"recording"


@st.composite
def documents(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Entries as a turn makes them; at the end perhaps one without a stage."""
    entries = [
        {"seq": seq, "stage": stage, "step": payload.get("step"), "ms": seq, "payload": payload, **more}
        for seq, (stage, payload, more) in enumerate(draw(st.lists(EVENT, max_size=8)), start=1)
    ]
    if not entries and draw(st.booleans()):
        entries = [{"seq": 7, "stage": None, "step": None, "ms": 0, "payload": {}, "calls": [{"no": 1}]}]
    return entries


@given(documents())
def test_a_document_is_the_sum_of_its_parts(entries: list[dict[str, Any]]) -> None:
    text, pieces = encode_document(fold_steps(entries))

    assert parse_entries(text) == loads(dumps(entries))
    assert list(pieces) == encode_parts(read_parts(text))
    assert join_parts(read_parts(text)) == loads(text)


@given(documents(), st.lists(st.sampled_from([*BITS, seals.CONTENTS, seals.ERASED]), max_size=4), st.data())
def test_what_remains_after_any_removals_is_what_was_sealed(
    entries: list[dict[str, Any]], removals: list[int], data: st.DataObject
) -> None:
    text, pieces = encode_document(fold_steps(entries))
    row: dict[str, Any] = {"words": WORDS, "events": text, "recording": RECORDING}
    seal = sealed = Seal.create(None, encode_row(row, pieces))

    for bit in removals:
        seal = seal.cut(bit, encode_row(row, encode_parts(read_parts(row["events"]))))
        if bit in BITS and row["events"] is not None:
            parts = read_parts(row["events"])
            parts[BITS[bit]].clear()
            row["events"] = dumps(join_parts(parts))
        elif bit not in BITS:
            row |= {"events": None, "recording": b""} | ({"words": b""} if bit == seals.ERASED else {})
        seal = Seal.read(seal.to_bytes())
        parts_now = encode_row(row, encode_stored_document(row["events"]))
        assert seal.matches(parts_now)
        assert seal.differing(parts_now) == []

    assert seal.hash == sealed.hash
    assert not removals or all(part not in seal.to_bytes() for part in (sealed.salt, *hidden_salts(sealed, removals)))
    name = data.draw(st.sampled_from(["words", "events", "recording"]))
    forged = row | {name: '[{"seq":1,"stage":"USER_INPUT","payload":{}}]' if name == "events" else b"[1]"}
    assert not seal.matches(encode_row(forged, encode_stored_document(forged["events"])))


def encode_row(row: dict[str, Any], pieces: Any) -> Parts:
    return Parts(b"[1]", row["words"], (row["events"] or "").encode(), row["recording"], b"release", pieces)


def hidden_salts(seal: Seal, removals: list[int]) -> list[bytes]:
    """The salts of the parts that removals take."""
    removed = {name for bit in removals for name in seals.list_removed(bit)}
    return [salt for name, salt in zip(seals.PARTS, seals.derive_salts(seal.salt), strict=True) if name in removed]


@pytest.mark.parametrize(
    "forge",
    [
        lambda text: text.replace('"payload":{}', '"payload":{"a":1}', 1),
        lambda text: text.replace('"ms":0', '"ms":1', 1),
        lambda text: text.replace("}]", ',"more":1}]'),
        lambda text: text.replace("}]", '},{"seq":9,"stage":null,"step":null,"ms":0,"payload":{}}]'),
        lambda text: text.replace("}]", '},{"seq":9,"stage":"STEP_ENTER","step":null,"ms":0,"payload":{}}]'),
        lambda text: f"{text} ",
        lambda text: "{}",
        lambda text: '[{"stage":"USER_INPUT"}]',
        lambda text: '[{"seq":1,"stage":["USER_INPUT"]}]',
        lambda text: "no JSON",
    ],
)
def test_no_word_can_hide_beside_the_parts_that_remain(forge: Any) -> None:
    """The rest of a step without its event, and the entry of an event."""
    entries = [
        {"seq": 1, "stage": "STEP_EXIT", "step": None, "ms": 4, "payload": {}, "changed": {"set": {}}},
        {"seq": 2, "stage": "USER_INPUT", "step": None, "ms": 5, "payload": {"text": "hello"}},
    ]
    parts = read_parts(dumps(entries))
    parts[document_parts.STEPS].clear()
    text = dumps(join_parts(parts))
    before = encode_stored_document(text)
    assert before == encode_parts(parts)

    assert forge(text) != text
    assert encode_stored_document(forge(text)) != before


def test_numbers_that_json_cannot_hold_exactly_are_sealed_as_they_are_read() -> None:
    entries = [{"seq": 1, "stage": "USER_INPUT", "step": None, "ms": 0, "payload": {"a": 2**70, "b": Decimal("1.5")}}]

    text, pieces = encode_document(fold_steps(entries))

    assert str(2**70) in text
    assert pieces[EVENTS] == encode_parts(read_parts(text))[EVENTS]
