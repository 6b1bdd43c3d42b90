"""Answers as models really write them: what is for nobody's eyes is cut, and the call log has it."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from config_admin import models as m
from convengine.engine.llm.ask import ModelQuestion, Reply, ask
from convengine.engine.turn.turn import Turn
from convengine.server import wiring
from convengine.server.extensions.registry import Registry
from convengine.server.model_clients.connections import read_connections
from convengine.server.wiring import OutsideWorld
from tests.api import Caller
from tests.builders import make_session, make_snapshot, make_turn
from tests.fakes.openai_server import ModelServer, Says, model_server

HARMONY = "<|channel|>analysis<|message|>A city? Rome.<|end|><|start|>assistant<|channel|>final<|message|>"
#: Texts, and what of each is for the user.
TEXTS = {
    "plain": ("Rome it is.", "Rome it is."),
    "about thinking": ("I think so.", "I think so."),
    "think": ("<think>A city. Rome?</think>\n\nRome", "Rome"),
    "thinking": ("<thinking>A city.</thinking>Rome", "Rome"),
    "thought with an attribute": ('<thought level="2">A city.</thought>\nRome', "Rome"),
    "in capitals": ("<THINK>A city.</THINK>Rome", "Rome"),
    "with a prefix": ("<seed:think>A city.</seed:think>Rome", "Rome"),
    "in brackets": ("[THINK]A city.[/THINK]Rome", "Rome"),
    "a closing tag alone": ("A city. Rome?\n</think>\nRome", "Rome"),
    "two closing tags": ("A city.</think>Or a town?</think>Rome", "Rome"),
    "thoughts behind": ("Rome <think>or not</think>", "Rome"),
    "thoughts without end": ("<think>I never end", ""),
    "channels": (f"{HARMONY}Rome<|return|>", "Rome"),
    "a channel without a final one": ("<|channel|>analysis<|message|>A city?", ""),
    "a channel with a constraint": (
        "<|channel|>final <|constrain|>text<|message|>Rome<|end|>",
        "Rome",
    ),
    "another sign of a channel": ("<|channel>thought\nA city.<channel|>Rome", "Rome"),
    "the end of a message": ("Rome<|im_end|>", "Rome"),
    "the end of a turn": ("Rome<end_of_turn>\n", "Rome"),
    "the end of a text": ("Rome</s>", "Rome"),
    "the end of a sentence": ("Rome<｜end▁of▁sentence｜>", "Rome"),
    "the next message of a user": ("Rome<|im_end|>\n<|im_start|>user\nAnd Oslo?", "Rome"),
    "who speaks": ("<|im_start|>assistant\nRome<|im_end|>", "Rome"),
    "who speaks, in a header": ("<|start_header_id|>assistant<|end_header_id|>\n\nRome<|eot_id|>", "Rome"),
    "a call of a tool": ('Rome<tool_call>{"name": "book"}</tool_call>', "Rome"),
    "only a call of a tool": ('<tool_call>\n{"name": "book"}', ""),
    "calls in another form": ('Rome[TOOL_CALLS][{"name": "book"}]', "Rome"),
    "an instruction": ("[INST]Rome[/INST]", "Rome"),
    "an empty thought": ("<think/>Rome", "Rome"),
    "an analysis": ("<analysis>A city.</analysis>\nRome", "Rome"),
    "a thought between tokens": ("<|begin_of_thought|>A city.<|end_of_thought|>Rome", "Rome"),
    "a thought between tokens of another form": ("<|thinking|>A city.<|/thinking|>Rome", "Rome"),
    "a frame around the answer": ("<think>A city.</think><answer>Rome</answer>", "Rome"),
    "the next message of a user, after one token": ("<|assistant|>Rome<|user|>And Oslo?", "Rome"),
    "the next message of a user, in a header": ("Rome<|im_start|>user\nAnd Oslo?", "Rome"),
    "a role between tokens": ("<|start_of_role|>assistant<|end_of_role|>Rome<|end_of_text|>", "Rome"),
    "a call named in its mark": ('Rome<function=book>{"a": 1}</function>', "Rome"),
    "a section of calls": ("Rome<|tool_calls_section_begin|>book<|tool_calls_section_end|>", "Rome"),
    "the result of a call": ("<tool_response>Booked.</tool_response>Rome", "Rome"),
    "a mark of bytes": ("\ufeffRome", "Rome"),
    "a text with markup": ("<b>Rome</b> <s>20</s> 15 € &lt;3", "<b>Rome</b> <s>20</s> 15 € &lt;3"),
    "a text about an answer": ("The <answer> of <function> users", "The <answer> of <function> users"),
    "less and more": ("1 < 2 > 0, <i>a|b</i>", "1 < 2 > 0, <i>a|b</i>"),
}
ROME = {"city": "Rome"}
PLAIN = json.dumps(ROME)
#: Texts and the JSON values in them. Null stands for a text without JSON.
DOCUMENTS = {
    "plain": (PLAIN, ROME),
    "a mark of bytes": (f"\ufeff{PLAIN}", ROME),
    "thinking": (f"<think>{{a city}}</think>{PLAIN}", ROME),
    "thinking without its first mark": (f'{{"city": "Oslo"}} no.</think>\n{PLAIN}', ROME),
    "channels": (f"{HARMONY}{PLAIN}", ROME),
    "the end of a message": (f"{PLAIN}<|im_end|>", ROME),
    "a fence": (f"```json\n{PLAIN}\n```", ROME),
    "a fence of tildes": (f"~~~json\n{PLAIN}\n~~~", ROME),
    "a fence on one line": (f"```{PLAIN}```", ROME),
    "a fence with a name on one line": (f"```json {PLAIN} ```", ROME),
    "four backticks": (f"````\n{PLAIN}\n````", ROME),
    "a fence without end": (f"```json\n{PLAIN}", ROME),
    "words in front": (f"Here it is: {PLAIN}", ROME),
    "words behind": (f"{PLAIN}\nDone.", ROME),
    "words around": (f"Sure [1].\n{PLAIN}\nDone {{so far}}.", ROME),
    "a second thought": (f'{{"city": "Oslo"}} is wrong. So: {PLAIN}', ROME),
    "a list of objects": (f"The list: [{PLAIN}]", [ROME]),
    "marks inside of a text": ('{"city": "<think>Rome</think>"}', {"city": "<think>Rome</think>"}),
    "a fence inside of a text": ('{"city": "```Rome```"}', {"city": "```Rome```"}),
    "no JSON": ("Rome [1]", None),
    "only thoughts": (f"<think>{PLAIN}</think>", None),
    "a document without end": ('{"city": "Ro', None),
}


@contextmanager
def serve(*says: Says) -> Iterator[tuple[OutsideWorld, ModelServer]]:
    with model_server(*says) as server:
        model = wiring.make_model_client(read_connections({"desk": {"base_url": server.url, "models": ["small"]}}))
        yield OutsideWorld(Registry(), model), server
        model.close()


def ask_model(*says: Says, **question: Any) -> tuple[Reply, Turn]:
    with serve(*says) as (world, _):
        turn = make_turn(make_snapshot(), model=world.model)
        return ask(make_session(), turn, ModelQuestion("RESPONSE_TEXT", "Be kind.", "Which city?", **question)), turn


@pytest.mark.parametrize(("said", "shown"), TEXTS.values(), ids=TEXTS)
def test_only_the_answer_reaches_the_user(said: str, shown: str) -> None:
    reply, turn = ask_model(Says(said))

    assert reply.text == shown
    assert (reply.error and reply.error.code) == (None if shown else "LLM_EMPTY_RESPONSE")
    assert turn.model_calls[0].answer.text == said


@pytest.mark.parametrize(("said", "value"), DOCUMENTS.values(), ids=DOCUMENTS)
def test_json_is_found_in_what_is_left(said: str, value: Any) -> None:
    reply, _ = ask_model(Says(said), want_json=True, lenient=True)

    assert reply.value == value
    assert (reply.error is None) == (value is not None)


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning"])
def test_thoughts_beside_the_text_are_recorded_as_such(name: str) -> None:
    reply, turn = ask_model(Says("Rome", message={name: "A city."}))

    assert reply.text == "Rome"
    assert turn.model_calls[0].answer.text == "<think>A city.</think>\nRome"


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("says", "answer"),
    [
        ((Says("Ro", finish_reason="length"), Says("Rome")), "Rome"),
        ((Says("Ro", finish_reason="length"),), "Call us."),
        ((Says("<think>Hm</think>"),), "Call us."),
        ((Says("<think>Hm</think>Rome<|im_end|>"),), "Rome"),
    ],
    ids=["more tokens", "cut off twice", "only thoughts", "marks"],
)
def test_the_text_of_the_row_stands_in_for_an_answer_that_fails(says: tuple[Says, ...], answer: str) -> None:
    scope = {"intent_code": "KIND", "state_code": "IDLE"}
    m.CeIntent.objects.create(intent_code="KIND", description="Asks for a city.")
    m.CeIntentClassifier.objects.create(**scope, rule_type="EXACT", pattern="which city")
    m.CeResponse.objects.create(**scope, response_type="DERIVED", exact_text="Call us.", derivation_hint="Be short.")
    m.CePromptTemplate.objects.create(**scope, response_type="TEXT", system_prompt="Be kind.", user_prompt="Which?")
    with serve(*says) as (world, _), wiring.replace_outside_world(world):
        heard = Caller().say("which city")

    assert heard["payload"]["value"] == answer
