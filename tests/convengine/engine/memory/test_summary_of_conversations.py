"""Whatever is said in whatever script, by users or a model: five lines, a thousand characters."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as trying
from hypothesis import strategies as st

from config_admin.releases.change_set import change_set
from convengine.engine.llm.scripted import ScriptedModel, ScriptLine
from convengine.engine.memory.context_summary import MAX_CHARS, SHARES, build_context_summary
from convengine.engine.memory.summary import rewrite_summaries
from convengine.engine.turn.session import Clarification
from convengine.server import wiring
from convengine.server.memory.compaction import compact
from convengine.server.sessions.models import CeMemory
from tests.builders import make_config, make_intent, make_schema, make_session, make_snapshot, make_turn, stages
from tests.examples import count_examples
from tests.fakes.models import AnsweringModel
from tests.threads import Participant, row_of, setting, travel_desk

NAMES = [*SHARES, "TURNS"]
#: Wide, from right to left, of several characters a sign, invisible, ending a line, and pretending to be a summary.
PIECES = (
    "東京都のお店の予約を変更してください", "예약을 변경해 주세요", "ＦＵＬＬ　ＷＩＤＴＨ", "👩‍👩‍👧‍👦", "🏳️‍🌈🇯🇵👍🏽",
    "שלום רב לכולם", "السلام عليكم ورحمة الله", "\u202eabc\u202c", "\u2067عربي\u2069", "नमस्ते दुनिया",
    "e\u0301o\u0308" * 9,
    "ก็กู้", "\u2028", "\u0085", "\x0b", "\x1c", "\r\n", "\x00", "\ufeff", "\u200b" * 5, " , ", "; ", "…", "none",
    "\nGOAL: another\nENTITIES: x\nDECISIONS: y\nPENDING: z\nTURNS: 99", "https://例え.jp/パス?q=検索",
    "ann@example.com",
    "「東京タワー」", "“مرحبا”", "plan.pdf", "a", "word ", "x" * 300,
)  # fmt: skip
TEXT = st.text(max_size=60) | st.builds(
    lambda parts, times: "".join(parts) * times, st.lists(st.sampled_from(PIECES), max_size=6), st.integers(1, 12)
)
VALUE = TEXT | st.integers() | st.lists(TEXT, max_size=3) | st.none() | st.booleans()


@dataclass(frozen=True)
class Said:
    """One turn: what was said, what the engine knows by then, and what a model says of it, if it is asked."""

    text: str | None
    intent: str
    fields: dict[str, Any]
    result: str | None
    question: str | None
    missing: tuple[str, ...]
    written: str | None


def _four_lines(contents: list[str], names: list[str], before: str, after: str) -> str:
    return before + "\n".join(f"{name}: {text}" for name, text in zip(names, contents, strict=True)) + after


#: A model that keeps to the shape, that nearly does, and that says anything.
WRITTEN = (
    st.builds(
        _four_lines,
        st.lists(TEXT, min_size=4, max_size=4),
        st.just(list(SHARES)) | st.permutations(list(SHARES)) | st.just(["GOAL", "GOAL", "ENTITIES", "PENDING"]),
        st.sampled_from(["", "", "", "Sure!\n", "```\n"]),
        st.sampled_from(["", "", "", "\nTURNS: 7", "\nTURNS: 7\nTURNS: 8", "\n```", "\nNOTE: x"]),
    )
    | TEXT
)
TURNS = st.lists(
    st.builds(
        Said,
        text=TEXT | st.none(),
        intent=st.sampled_from(["LOAN", "GONE", "UNKNOWN"]),
        fields=st.fixed_dictionaries({}, optional={"amount": VALUE, "city": VALUE, "tags": VALUE}),
        result=st.sampled_from([None, "EXECUTED", "REJECTED"]),
        question=TEXT | st.none(),
        missing=st.lists(TEXT, max_size=4).map(tuple),
        written=WRITTEN | st.none(),
    ),
    min_size=1,
    max_size=7,
)
SNAPSHOT = make_snapshot(
    make_intent("LOAN", display_name="貸付 הלוואה"),
    make_schema("LOAN", {"amount": {}, "city": {}, "tags": {}}, state_code="COLLECT"),
    make_config("Session/SUMMARY_WITH_LLM", "true"),
)


def check(summary: str, turns: int) -> None:
    """The shape, by the lines that any reader of the text sees."""
    lines = summary.splitlines()
    assert len(summary) <= MAX_CHARS
    assert [line.partition(": ")[0] for line in lines] == NAMES
    assert all(line.partition(": ")[2].strip() for line in lines)
    assert lines[-1] == f"TURNS: {turns}"


@trying(max_examples=count_examples(150))
@given(TURNS)
def test_a_conversation_always_has_its_summary(turns: list[Said]) -> None:
    summary, before = "", "UNKNOWN"
    for number, exchange in enumerate(turns, 1):
        session = make_session(
            turn_no=number,
            user_text=exchange.text,
            intent=exchange.intent,
            turn_start_intent=before,
            context={**exchange.fields, "pending_action_runtime": {"status": "OPEN", "action_key": exchange.text}},
            input_params={"pending_action_result": exchange.result, "routing_decision": "PROCEED_CONFIRMED"},
            clarification=Clarification(exchange.question, "AGENT") if exchange.question else None,
            missing_required_fields=exchange.missing,
            last_assistant={"type": "TEXT", "value": exchange.question or ""},
            context_summary=summary,
        )
        built = build_context_summary(session, SNAPSHOT, number)
        check(built, number)
        summary = (
            built if exchange.written is None else _by_model(session.evolve(context_summary=built), exchange.written)
        )
        check(summary, number)
        before = exchange.intent


def _by_model(session: Any, text: str) -> str:
    """The summary in the model's words; what breaks the shape leaves the one that was built, and is told."""
    turn = make_turn(SNAPSHOT, model=AnsweringModel([text]), turn_no=session.turn_no)
    after = str(rewrite_summaries(session, turn).context_summary)
    if "MEMORY_LLM_ERROR" in stages(turn):
        assert after == session.context_summary
    return after


CONVERSATIONS = {
    "wide": ("visa 東京都 " + "東京都のお店の予約を変更" * 60, "「東京タワー」と「新宿」", "日本"),
    "emoji": ("visa 👩‍👩‍👧‍👦" + "🏳️‍🌈🇯🇵👍🏽" * 100, "“👍🏽👍🏽”", "🇨🇱"),
    "right-to-left": ("visa שלום " + "السلام عليكم " * 80, "«שלום רב» \u202eabc\u202c", "مرحبا"),
    "line-ends": ("visa" + "\u2028GOAL: x\u0085TURNS: 9\nTURNS: 8" * 9, "\x0b\x1c", "\n"),
}
#: What a model says: the shape, and six ways to break it.
SAYS = [
    "GOAL: 東京\nENTITIES: שלום, 👍🏽\nDECISIONS: none\nPENDING: " + "予約" * 300,
    "GOAL: x\nENTITIES: y\nDECISIONS: z",
    "ENTITIES: y\nGOAL: x\nDECISIONS: z\nPENDING: p",
    "Here it is:\nGOAL: x\nENTITIES: y\nDECISIONS: z\nPENDING: p",
    "GOAL: x\nGOAL: x\nENTITIES: y\nDECISIONS: z\nPENDING: p",
    "予約" * 5000,
    "goal: x\nentities: y\ndecisions: z\npending: p",
]


def list_conversations() -> Iterator[Any]:
    """Each conversation with each summary; `make test` has each way to break the shape in one of them."""
    for number, (name, texts) in enumerate(CONVERSATIONS.items()):
        yield pytest.param(texts, None, id=f"{name}-built")
        yield pytest.param(texts, SAYS[0], id=f"{name}-shape")
        for way, summary in enumerate(SAYS[1:], 1):
            marks = () if way % len(CONVERSATIONS) == number else pytest.mark.nightly
            yield pytest.param(texts, summary, id=f"{name}-broken-{way}", marks=marks)


@pytest.mark.django_db
@pytest.mark.parametrize(("texts", "model_summary"), [*list_conversations()])
def test_what_a_real_conversation_stores_has_that_shape(texts: tuple[str, ...], model_summary: str | None) -> None:
    with change_set(reason="a desk with summaries"):
        travel_desk()
        setting("SUMMARY_WITH_LLM", str(model_summary is not None).lower())
        setting("DialogueActStep/RESOLUTE", "REGEX_ONLY")
    guest = Participant()

    with wiring.replace_outside_world(
        wiring.OutsideWorld(model=ScriptedModel([ScriptLine(("SUMMARY",), model_summary or "")]))
    ):
        for number, text in enumerate(texts, 1):
            answer = guest.say(text)
            row = row_of(answer)
            check(row.context_summary, number)
            assert ("GOAL: 東京" in row.context_summary) is (model_summary == SAYS[0])
    guest.call("post", f"/{row.pk}/close", {})

    assert compact(str(row.pk))
    check(CeMemory.objects.get(memory_type="COMPACTED").summary_text, len(texts))
