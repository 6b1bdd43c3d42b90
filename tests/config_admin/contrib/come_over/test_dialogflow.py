"""An agent of Dialogflow is read whole, or refused with the file and the remedy; the plan names every part of it."""

import json
from pathlib import Path
from typing import Any

import pytest

from config_admin.contrib.come_over.dialogflow import LAYOUT, read_project
from config_admin.contrib.come_over.files import read_files
from config_admin.contrib.come_over.outcomes import Outcome
from config_admin.contrib.come_over.plan import Plan, plan_project
from config_admin.transfer.document import FileRefused

COMES, PARTLY, PERSON, UNNEEDED = Outcome.COMES, Outcome.PARTLY, Outcome.PERSON, Outcome.UNNEEDED
AGENT = {"language": "en", "supportedLanguages": ["de"]}
#: The lines of the star tower, by part and name.
LINES = {
    ("intent", "Welcome"): (COMES, "Answer WELCOME", ""),
    ("intent", "Default Fallback"): (COMES, "Answer for NOT_UNDERSTOOD", ""),
    ("intent", "opening hours"): (COMES, "Answer OPENING_HOURS", ""),
    ("intent", "book visit"): (PARTLY, "Flow BOOK_VISIT", "without action bookvisit.bookvisit-yes"),
    ("intent", "book visit - yes"): (
        COMES, "Confirmation of book visit", "check that it asks for a yes to the values",
    ),
    ("intent", "book visit - no"): (PARTLY, "", "after a no, the flow asks what to change; without its text"),
    ("intent", "report fault"): (COMES, "Flow REPORT_FAULT", ""),
    ("intent", "sky tonight"): (PERSON, "", "code answers it: action sky.tonight"),
    ("intent", "parking"): (PARTLY, "Answer PARKING", "without card"),
    ("yes or no", "yes after parking"): (COMES, "Rules of PARKING", ""),
    ("yes or no", "no after parking"): (COMES, "Rules of PARKING", ""),
    ("intent", "parking - walk"): (
        PERSON, "", "users say it only after parking: make it a field, or a rule and a state",
    ),
    ("intent", "human"): (COMES, "Hand-over HUMAN", ""),
    ("parameter", "book visit.day"): (COMES, "Field, date", "by its entity"),
    ("parameter", "book visit.mail"): (COMES, "Field, email", "by its entity; nobody is asked for it"),
    ("parameter", "report fault.blocked"): (
        COMES, "Field, choice", "by values, buttons, intents, lookup table and synonyms",
    ),
    ("entity", "instrument"): (COMES, "Choices", ""),
    ("entity", "mount"): (COMES, "Pattern", ""),
    ("webhook", "action sky.tonight"): (PERSON, "", "register a task, and name it in the flow; or a tool"),
    ("section", "small talk"): (PERSON, "", "write what you want to keep of it as answers"),
    ("section", "languages"): (PERSON, "", "set Session/LANGUAGES to en, de"),
}  # fmt: skip
#: Broken exports: their files, and what the refusal says.
REFUSED: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    "no agent": ({"intents/a.json": {"name": "a"}}, ("bot", "no export of a Dialogflow ES agent", "Export")),
    "something else": ({"agent.json": {"name": "other"}}, ("bot", "no export of a Dialogflow ES agent")),
    "an agent of CX": ({"agent.json": {"defaultLanguageCode": "en"}}, ("bot", "Dialogflow CX")),
    "no intents": ({"agent.json": AGENT}, ("bot", "has no intents")),
    "not JSON": ({"agent.json": AGENT, "intents/a.json": '{"name":\n'}, ("intents/a.json, line 2", "Correct")),
    "a wrong shape": (
        {"agent.json": AGENT, "intents/a.json": {"name": "a", "responses": [{"messages": [{"speech": 3}]}]}},
        ("intents/a.json: responses.0.messages.0.speech", "Export the agent again"),
    ),
    "phrases of nothing": (
        {"agent.json": AGENT, "intents/a_usersays_en.json": []}, ("intents/a.json: is missing", "usersays"),
    ),
}  # fmt: skip


def write_plan(folder: Path) -> Plan:
    return plan_project(read_project("bot", read_files(folder, LAYOUT)))


def write(folder: Path, files: dict[str, Any]) -> Path:
    for name, document in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(document if isinstance(document, str) else json.dumps(document))
    return folder


def describe_intent(name: str, *phrases: str, text: str = "", **values: Any) -> dict[str, Any]:
    """The files of an intent."""
    messages = [{"type": 0, "lang": "en", "speech": text}]
    response = {"messages": messages, "parameters": values.pop("parameters", [])}
    return {
        f"intents/{name}.json": {"id": name, "name": name, "responses": [response], **values},
        f"intents/{name}_usersays_en.json": [{"data": [{"text": phrase}]} for phrase in phrases],
    }


@pytest.fixture(scope="module")
def tower() -> Plan:
    return write_plan(Path(__file__).with_name("star_tower"))


@pytest.mark.parametrize("key", LINES)
def test_a_part_has_its_line(key: tuple[str, str], tower: Plan) -> None:
    [line] = [line for line in tower.entries if (line.part, line.name) == key]
    assert (line.outcome, line.becomes, line.reason) == LINES[key]


def test_what_users_say_after_an_answer_is_no_phrase(tower: Plan) -> None:
    phrases = {phrase for flow in tower.flows for phrase in flow["phrases"]}
    assert {"hello tower", "hallo Turm", "the mount MT-204 is broken"} <= phrases
    assert not {"yes", "ja", "no", "go ahead", "and from there"} & phrases


def test_texts_and_words_are_in_both_languages(tower: Plan) -> None:
    [flow] = [flow for flow in tower.flows if flow["code"] == "BOOK_VISIT"]
    day, _, instrument, mail = flow["fields"]
    assert day["question"] == {
        "en": "On which night would you like to come?", "de": "In welcher Nacht möchten Sie kommen?",
    }  # fmt: skip
    assert instrument["options"][0] == {
        "value": "reflector",
        "label": {"en": "", "de": "Spiegelteleskop"},
        "synonyms": {"en": ["mirror telescope", "big one"], "de": ["Spiegel"]},
    }
    assert mail == {"name": "mail", "title": "Mail", "required": False, "type": "email"}
    assert flow["title"] == "Book visit"


def test_parts_of_a_composite_entity_are_fields(tmp_path: Path) -> None:
    meal = {"name": "meal", "dataType": "@meal", "required": True, "prompts": [{"value": "What would you like?"}]}
    plan = write_plan(write(tmp_path, {
        "agent.json": AGENT,
        **describe_intent("order", "I am hungry", text="$meal.drink and $food for $5", parameters=[meal]),
        "entities/meal.json": {"name": "meal", "entries": [{"value": "@dish:food with @drink:drink"}]},
        "entities/dish.json": {"name": "dish", "entries": [{"value": "soup", "synonyms": ["soup", "broth"]}]},
        "entities/drink.json": {"name": "drink", "automatedExpansion": True, "entries": [{"value": "tea"}]},
    }))  # fmt: skip
    [flow] = plan.flows
    assert [(field["name"], field.get("question")) for field in flow["fields"]] == [
        ("food", "What would you like?"), ("drink", None),
    ]  # fmt: skip
    assert flow["answer"] == "{{ drink }} and {{ food }} for $5"
    reasons = {line.name: (line.outcome, line.reason) for line in plan.entries if line.part == "entity"}
    assert reasons["meal"] == (PARTLY, "each of its parts is a field that is asked for")
    assert reasons["drink"] == (PARTLY, "it takes no other values")


def test_intents_that_nobody_can_say_make_no_flow(tmp_path: Path) -> None:
    plan = write_plan(write(tmp_path, {
        "agent.json": AGENT,
        **describe_intent("off", "say nothing", text="Nothing", priority=-1),
        **describe_intent("begin", text="Ahoy", events=[{"name": "WELCOME"}]),
        **describe_intent("deep", "deeper", text="Deep", contexts=["cave"]),
        **describe_intent("ask", "ask me", text="Really?", parentId=""),
        **describe_intent("ask - yes", "yes", text="Really", parentId="ask"),
        **describe_intent("ask - yes - more", "more", text="More", parentId="ask - yes"),
    }))  # fmt: skip
    lines = {line.name: (line.outcome, line.reason) for line in plan.entries if line.part in ("intent", "yes or no")}
    where = "make it a field, or a rule and a state"
    assert lines == {
        "off": (UNNEEDED, "it is switched off"),
        "begin": (PERSON, "only the event WELCOME begins it: let the caller say its text"),
        "deep": (PERSON, f"users say it only in the context cave, which code sets: {where}"),
        "ask": (COMES, ""),
        "yes after ask": (COMES, ""),
        "ask - yes - more": (PERSON, f"users say it only after ask → ask - yes: {where}"),
    }
    assert [flow["code"] for flow in plan.flows] == ["ASK"]


@pytest.mark.parametrize("case", REFUSED)
def test_a_broken_export_is_refused(case: str, tmp_path: Path) -> None:
    files, expected = REFUSED[case]
    with pytest.raises(FileRefused) as refused:
        write_plan(write(tmp_path, files))
    assert [part for part in expected if part not in str(refused.value)] == []
