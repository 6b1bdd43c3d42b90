"""The plan names every part of a project, with what becomes of it and why."""

from pathlib import Path

import pytest

from config_admin.contrib.come_over.files import read_files
from config_admin.contrib.come_over.outcomes import Outcome, PlanEntry
from config_admin.contrib.come_over.paths import Reply
from config_admin.contrib.come_over.plan import Plan, plan_project
from config_admin.contrib.come_over.project import Project
from config_admin.contrib.come_over.rasa import LAYOUT, read_project
from convengine.evaluation.labelled import LabelledMessage

COMES, PARTLY, PERSON, UNNEEDED = Outcome.COMES, Outcome.PARTLY, Outcome.PERSON, Outcome.UNNEEDED
#: The lines of the kayak hire, by part and name.
LINES = {
    ("intent", "greet"): (PARTLY, "Answer GREET", "without buttons: What is new?"),
    ("intent", "affirm"): (UNNEEDED, "", "the engine reads 2 of its 2 examples as a yes"),
    ("intent", "deny"): (UNNEEDED, "", "the engine reads 2 of its 2 examples as a no"),
    ("yes or no", "no after greet"): (COMES, "Rules of GREET", ""),
    ("intent", "hire_kayak"): (PARTLY, "Flow HIRE_KAYAK", "without action_book_boat"),
    ("intent", "give_details"): (UNNEEDED, "", "values are read from any message; its marks are words of choices"),
    ("intent", "ask_swimming"): (COMES, "Answer ASK_SWIMMING", ""),
    ("intent", "speak_to_human"): (COMES, "Hand-over SPEAK_TO_HUMAN", ""),
    ("intent", "faq"): (COMES, "", "each of its parts is an intent"),
    ("intent", "faq/ask_price"): (COMES, "Answer FAQ_ASK_PRICE", ""),
    ("intent", "weather_today"): (PARTLY, "Answer WEATHER_TODAY", "its text reads river_level, which code has to set"),
    ("intent", "nlu_fallback"): (COMES, "Answer for NOT_UNDERSTOOD", ""),
    ("form", "hire_form"): (COMES, "Form of HIRE_KAYAK", ""),
    ("slot", "hire_form.confirm_hire"): (COMES, "Confirmation", ""),
    ("slot", "river_level"): (PERSON, "", "no form asks for it: code or a rule sets it"),
    ("lookup", "boat"): (COMES, "Choices", ""),
    ("regex", "postbox"): (PERSON, "", "no field reads this entity"),
    ("synonym", "2 words"): (COMES, "Words of choices", ""),
    ("rule", "end of hire"): (PERSON, "", "after hire_form it does utter_booked, action_book_boat"),
    ("story", "a question in between"): (COMES, "The flows of its intents", ""),
    ("story", "after a hello, a no"): (COMES, "The flows of its intents", ""),
    ("action", "action_book_boat"): (PERSON, "", "register a task, and name it in the flow; or a tool"),
    ("test", "Hire a boat, and ask in between"): (COMES, "Scenario file", ""),
    ("test", "River level"): (
        PARTLY, "Scenario file", "what action_look_up_level does is code; a message for ask_the_unknown has no text",
    ),
    ("section", "pipeline"): (UNNEEDED, "", "phrases count at once, nothing is trained"),
}  # fmt: skip


@pytest.fixture(scope="module")
def plan() -> Plan:
    return plan_project(read_project("kayak_hire", read_files(Path(__file__).with_name("kayak_hire"), LAYOUT)))


@pytest.mark.parametrize("key", LINES)
def test_a_part_has_its_line(key: tuple[str, str], plan: Plan) -> None:
    [line] = [line for line in plan.entries if (line.part, line.name) == key]
    assert (line.outcome, line.becomes, line.reason) == LINES[key]


def test_nothing_needs_a_person_without_a_reason(plan: Plan) -> None:
    assert [line for line in plan.entries if line.outcome in (PARTLY, PERSON) and not line.reason] == []


def test_a_flow_has_the_fields_of_the_form(plan: Plan) -> None:
    [flow] = [flow for flow in plan.flows if flow["kind"] == "collect"]
    assert [(field["name"], field["type"]) for field in flow["fields"]] == [
        ("boat", "choice"), ("licence", "pattern"), ("hire_date", "date"), ("persons", "number"), ("shore", "choice"),
        ("life_vest", "yes_no"),
    ]  # fmt: skip
    boat = flow["fields"][0]
    assert boat["question"] == "Lovely, let us get you on the water.\n\nWhich boat would you like?"
    assert boat["again"] == "Which boat would you like?"
    assert boat["options"][1] == {"value": "double kayak", "synonyms": ["two seater", "tandem"]}
    assert flow["confirmation"] == "A {{ boat }} for {{ persons }}, shall I book it?"
    assert flow["resume"] is True


def test_the_buttons_of_an_answer_send_what_a_user_would_say(plan: Plan) -> None:
    [greeting] = [flow["answer"] for flow in plan.flows if flow["code"] == "GREET"]
    assert greeting == (
        "Ahoy! This is Kingfisher Kayaks.\n"
        '{{ button("Go on the river", "I would like to hire a kayak") }}\n'
        '{{ button("North shore", "north") }}\n'
        '{{ button("Prices", "what does an hour cost") }}\n'
        "{% or %}\n"
        "Welcome to Kingfisher Kayaks."
    )


@pytest.mark.parametrize(
    ("title", "payload", "call", "lost"),
    [
        ("Hi {boat}!", "{boat} please", 'button("Hi " ~ context.boat ~ "!", context.boat ~ " please")', ""),
        ('Say "hi" }}', "/go", 'button("Say \\"hi\\" }}", "let us go")', ""),
        ("Small", '/go{"size": "s"}', 'button("Small", "s")', ""),
        ("Both", '/go{"size": ["s", "l"]}', "", "Both"),
        ("True", '/go{"is_small": true}', "", "True"),
        ("Deep", '/go{"size": {"in": "cm"}}', "", "Deep"),
        ("Our site", "https://kayaks.example/hire", "", "Our site"),
    ],
)
def test_odd_buttons_come_along_or_are_named(title: str, payload: str, call: str, lost: str) -> None:
    project = make_project(story("utter_a"), go="let us go")
    project.responses["utter_a"] = [{"text": "A", "buttons": [{"title": title, "payload": payload}]}]
    [flow] = plan_project(project).flows
    assert flow["answer"] == "\n".join(filter(None, ["A", call and f"{{{{ {call} }}}}"]))
    assert ("without buttons: " + lost in find_line(project).reason) == bool(lost)


def test_a_test_story_expects_the_slots_that_it_sets(plan: Plan) -> None:
    [turns] = [each["turns"] for each in plan.scenarios if each["id"] == "001-hire-a-boat-and-ask-in-between"]
    assert [turn["expect"].get("context") for turn in turns] == [
        None, None, {"$.boat": {"equals": "double kayak"}}, {"$.licence": {"equals": "KP-4471"}},
    ]  # fmt: skip


def make_project(*replies: Reply, **examples: str) -> Project:
    """A project with these examples, one for each intent."""
    responses = {f"utter_{name}": [{"text": name}] for name in "abc"}
    project = Project("x", responses=responses, forms={"form_a": {"boat": []}, "form_b": {"boat": []}})  # type: ignore[arg-type]
    project.slots["boat"] = {"type": "text", "mappings": []}
    project.replies = list(replies)
    project.examples = {intent: [LabelledMessage(text, intent)] for intent, text in examples.items()}
    return project


def story(*actions: str, intent: str = "go", **values: object) -> Reply:
    return Reply(("story", "x"), [intent], actions=[*actions], is_first=True, **values)  # type: ignore[arg-type]


def find_line(project: Project, name: str = "go") -> PlanEntry:
    return next(line for line in plan_project(project).entries if (line.part, line.name) == ("intent", name))


def test_paths_that_differ_come_along_as_far_as_they_agree() -> None:
    line = find_line(make_project(story("utter_a", "utter_b"), story("utter_a", "utter_c"), go="let us go"))
    assert (line.outcome, line.becomes, line.reason) == (PARTLY, "Answer GO", "2 paths go different ways")
    line = find_line(make_project(story("utter_b"), story("utter_c"), go="let us go"))
    assert (line.outcome, line.reason) == (PERSON, "2 paths go different ways")


def test_a_rule_counts_before_stories() -> None:
    rule = Reply(("rule", "x"), ["go"], actions=["utter_b"], is_first=True)
    assert find_line(make_project(story("utter_c"), rule, go="let us go")).outcome is COMES


@pytest.mark.parametrize(
    ("replies", "reason"),
    [
        ((), "nothing says what follows it"),
        ((story("action_x"),), "code answers it: action_x"),
        ((story("utter_a", is_conditional=True),), "it answers in certain cases only"),
        ((story("form_a"), story("form_b")), "2 paths go different ways; it begins form_a, form_b"),
        ((story("action_x", loop="form_a"),), "only form_a answers it"),
    ],
)
def test_what_has_no_single_way_needs_a_person(replies: tuple[Reply, ...], reason: str) -> None:
    line = find_line(make_project(*replies, go="let us go"))
    assert (line.outcome, line.reason) == (PERSON, reason)


def test_one_phrase_leads_to_one_intent() -> None:
    project = make_project(story("utter_a"), story("utter_b", intent="leave"), go="let us go", leave="Let us go")
    line = find_line(project, "leave")
    assert (line.outcome, line.reason) == (PERSON, "1 of its examples lead to GO")


def test_names_with_the_same_code_get_codes_of_their_own() -> None:
    project = make_project(story("utter_a", intent="go-on"), story("utter_b", intent="go_on"))
    project.examples = {"go-on": [LabelledMessage("proceed")], "go_on": [LabelledMessage("continue")]}
    assert [flow["code"] for flow in plan_project(project).flows] == ["GO_ON", "GO_ON_1"]


def test_intents_that_only_answer_a_form_are_not_needed() -> None:
    project = make_project(story("form_a"), Reply(("story", "x"), ["tell"], actions=["form_a"], loop="form_a"), go="go")
    project.examples["tell"] = [LabelledMessage("a canoe", values={"boat": "canoe"})]
    assert find_line(project, "tell").outcome is UNNEEDED


def test_the_default_of_rasa_answers_what_is_not_understood() -> None:
    project = make_project()
    project.responses["utter_default"] = [{"text": "Pardon?"}]
    plan = plan_project(project)
    assert plan.tables["ce_response"][0]["exact_text"] == "{% if question %}{{ question }}{% else %}Pardon?{% endif %}"
    assert [line.becomes for line in plan.entries if line.name == "utter_default"] == ["Answer for NOT_UNDERSTOOD"]


def test_a_language_that_is_not_read_needs_a_person() -> None:
    project = make_project()
    project.language = "ru"
    [line] = [line for line in plan_project(project).entries if line.name == "language"]
    assert line.reason == "ru: dates, numbers and a yes are read in de, en, es, fr, it, nl, pt only"


def test_an_intent_may_say_a_value_of_its_form() -> None:
    project = make_project(story("form_a"), go="let us go")
    project.forms["form_a"]["reason"] = []
    mapping = {"type": "from_trigger_intent", "intent": "go", "value": "a walk"}
    project.slots["reason"] = {"type": "text", "mappings": [mapping]}
    plan = plan_project(project)
    assert [field["name"] for field in plan.flows[0]["fields"]] == ["boat"]
    assert plan.tables["ce_rule"][0]["action_value"] == "reason:a walk"


def test_the_answer_to_something_else_is_that_of_messages_not_understood() -> None:
    project = make_project(story("utter_a", intent="out_of_scope"), out_of_scope="what is the capital of peru")
    project.responses["utter_a"] = [{"text": "a"}, {"text": "b"}]
    plan = plan_project(project)
    assert plan.flows[0]["title"] == "Something else"
    assert plan.tables["ce_response"][0]["exact_text"] == (
        "{% if question %}{{ question }}{% else %}a{% endif %}\n{% or %}\n"
        "{% if question %}{{ question }}{% else %}b{% endif %}"
    )


def test_flows_and_their_built_in_texts_speak_the_language_of_the_project() -> None:
    project = make_project(story("form_a"), go="los geht es", affirm="jawohl")
    project.language = "de"
    plan = plan_project(project)
    assert (plan.flows[0]["locale"], plan.flows[0]["answer"]) == ("de", "Danke, ich habe es notiert.")
    assert find_line(project, "affirm").reason == "the engine reads 1 of its 1 examples as a yes"
    project.language = "en"
    assert "locale" not in plan_project(project).flows[0]
