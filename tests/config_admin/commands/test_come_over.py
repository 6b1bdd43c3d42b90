"""`come_over`: the plan, the draft, and bots that answer, from a folder of Rasa and an archive of Dialogflow."""

import json
from io import StringIO
from pathlib import Path
from shutil import copytree, make_archive
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from config_admin import models as m
from config_admin.contrib.come_over.files import read_files
from config_admin.contrib.come_over.rasa import LAYOUT, read_project
from config_admin.releases import head
from config_admin.releases.active import snapshots
from convengine.evaluation.intents import decide_by
from convengine.testing import make_task_call
from tests.api import Caller
from tests.config_admin.builders import make

pytestmark = pytest.mark.django_db
BOTS = Path(__file__).parents[1] / "contrib" / "come_over"
KAYAK_HIRE, STAR_TOWER = BOTS / "kayak_hire", BOTS / "star_tower"


def run(*arguments: str) -> str:
    out = StringIO()
    call_command(*arguments, stdout=out)
    return out.getvalue()


def come_over(folder: Path, *options: str) -> str:
    return run("come_over", "rasa", str(folder), *options)


def refuse(folder: Path, *options: str) -> str:
    with pytest.raises(CommandError) as refused:
        come_over(folder, *options)
    return str(refused.value)


@pytest.fixture
def moved() -> None:
    come_over(KAYAK_HIRE, "--apply")
    run("draft", "publish", "From kayak_hire")


def test_the_plan_is_a_table_and_changes_nothing() -> None:
    before = head.newest()
    plan = come_over(KAYAK_HIRE)
    assert "intent     hire_kayak" in plan
    assert "needs a person" in plan
    assert plan.endswith("Nothing was changed. Use --apply to make a draft.\n")
    assert (head.newest(), m.CeDraft.objects.count(), m.CeIntent.objects.count()) == (before, 0, 0)


def test_the_report_is_the_plan_as_a_file(tmp_path: Path) -> None:
    report = tmp_path / "plan.html"
    come_over(KAYAK_HIRE, "--report", str(report))
    assert "<h1>What becomes of kayak_hire</h1>" in report.read_text()
    assert "Nothing was written" not in refuse(KAYAK_HIRE, "--report", str(tmp_path))


def test_the_draft_is_one_release_without_an_error(moved: None) -> None:
    assert m.CeIntent.objects.count() == 7
    assert "0 errors" in run("config_check")


def test_a_second_run_changes_nothing(moved: None) -> None:
    assert come_over(KAYAK_HIRE, "--apply").endswith("The configuration has all of it already.\n")
    assert m.CeDraft.objects.filter(status="OPEN").count() == 0


def test_every_intent_answers_its_own_examples(moved: None) -> None:
    decide, project = decide_by(snapshots.current()), read_project("kayak_hire", read_files(KAYAK_HIRE, LAYOUT))
    for code in m.CeIntent.objects.values_list("intent_code", flat=True):
        [examples] = [texts for intent, texts in project.examples.items() if intent.upper().replace("/", "_") == code]
        assert {decide(example.text).intents for example in examples} == {(code,)}


def test_the_bot_asks_confirms_and_answers(moved: None) -> None:
    caller = Caller()
    for message, state, answer in (
        ("I would like to hire a tandem", "COLLECT", "What is the number of your paddling licence?"),
        ("what if I cannot swim?", "COLLECT", "Only people who can swim 50 metres may paddle."),
        ("KP-4471", "COLLECT", "On which day?"),
        ("on 3 June 2099", "COLLECT", "How many people come along?"),
        ("nine", "COLLECT", "“nine” is not possible (from 1 to 4). How many people come along?"),
        ("3", "COLLECT", "From which shore do you start?"),
        ("the north shore", "COLLECT", "Do you need life vests?"),
        ("yes", "CONFIRM", "A double kayak for 3, shall I book it?"),
        ("yes", "DONE", "Your double kayak waits at the North shore."),
        ("may I bring my dog", "IDLE", "Dogs may come along in a canoe."),
        # One of two texts.
        ("ahoy", "IDLE", "Kingfisher Kayaks."),
        ("no", "NO", "Only people who can swim 50 metres may paddle."),
        ("put me through to a colleague", "HAND_OVER", "I am calling somebody from the boathouse."),
    ):
        said = caller.say(message)
        assert said["state"] == state, message
        assert said["payload"]["value"].partition("\n")[0].endswith(answer), message


def test_the_test_stories_are_played_here(moved: None, tmp_path: Path) -> None:
    come_over(KAYAK_HIRE, "--tests", str(tmp_path / "stories"))
    run("test_cases", "import", str(tmp_path / "stories"))
    report = json.loads(run("test_cases", "run", "--configuration", "live", "--json"))
    assert (report["turns"], report["passed"], report["failed"]) == (5, 2, 0)


def test_each_action_of_code_has_a_task_to_fill_in(tmp_path: Path) -> None:
    come_over(KAYAK_HIRE, "--tasks", str(tmp_path / "tasks.py"))
    text = (tmp_path / "tasks.py").read_text()
    assert 'licence = call.context.get("licence")' in text
    names: dict[str, Any] = {}
    exec(text.replace('@task("kayak_hire")', ""), names)
    result = names["KayakHire"]().book_boat(make_task_call(context={"licence": "KP-4471"}))
    assert (result.ok, result.code) == (False, "NOT_WRITTEN")


def test_a_project_that_cannot_be_read_writes_nothing(tmp_path: Path) -> None:
    tmp_path.joinpath("domain.yml").write_text("intents: [\n")
    refusal = refuse(tmp_path, "--apply")
    assert "domain.yml, line 2: the file is not valid YAML" in refusal
    assert refusal.endswith("Nothing was written.")
    assert m.CeDraft.objects.count() == 0


def test_rows_with_errors_write_nothing(tmp_path: Path) -> None:
    tmp_path.joinpath("domain.yml").write_text(
        "intents: [unknown]\nresponses: {utter_a: [{text: a}]}\n"
        "rules: [{rule: r, steps: [{intent: unknown}, {action: utter_a}]}]\n"
        "nlu: [{intent: unknown, examples: ['what is it']}]\n"
    )
    assert refuse(tmp_path, "--apply") == "Nothing was written, because rows have errors."
    assert m.CeDraft.objects.count() == 0


def test_a_second_run_changes_what_the_project_changed_and_removes_nothing(moved: None, tmp_path: Path) -> None:
    changed = tmp_path / "kayak_hire"
    copytree(KAYAK_HIRE, changed)
    for name, old, new in (
        ("domain.yml", "Only people who can swim 50 metres may paddle.", "You must be able to swim."),
        ("data/nlu.yml", "    - is swimming needed\n", "    - must everybody swim\n"),
    ):
        file = changed / name
        file.write_text(file.read_text().replace(old, new))
    come_over(changed, "--apply")
    edits = m.CeDraft.objects.get(status="OPEN").edits.order_by("table_name")
    assert [(edit.table_name, edit.before is None) for edit in edits] == [
        ("ce_intent_classifier", True),
        # The same text follows a no to the greeting.
        ("ce_response", False),
        ("ce_response", False),
    ]


def talk(*turns: tuple[str, str, str], locale: str = "") -> None:
    caller = Caller()
    for message, state, answer in turns:
        said = caller.say(message, inputParams={"locale": locale} if locale else {})
        assert (said["state"], said["payload"]["value"]) == (state, answer), message


#: A form whose end asks something.
_LOCKER = """
slots:
  size: {type: text, mappings: [{type: from_text}]}
  confirm: {type: bool, mappings: [{type: from_intent, intent: affirm, value: true}]}
responses:
  utter_ask_size: [{text: How big?}]
  utter_ask_confirm: [{text: "Do you want {size}?"}]
  utter_kept: [{text: It is kept. Do you need a map?}]
  utter_map: [{text: Left of the gate.}]
forms: {locker_form: {required_slots: [sizeSURE]}}
nlu:
- {intent: locker, examples: [I need a locker, rent a locker]}
rules:
- {rule: begin, steps: [{intent: locker}, {action: locker_form}, {active_loop: locker_form}]}
stories:
- story: map
  steps: [{intent: locker}, {action: locker_form}, {active_loop: locker_form}, {active_loop: null},
    {action: utter_kept}, {intent: affirm}, {action: utter_map}]
"""


@pytest.mark.parametrize("confirmation", [False, True])
def test_a_form_that_asks_something_at_its_end_can_be_begun_again(tmp_path: Path, confirmation: bool) -> None:
    tmp_path.joinpath("domain.yml").write_text(_LOCKER.replace("SURE", ", confirm" if confirmation else ""))
    come_over(tmp_path, "--apply", "--draft", "Lockers")
    run("draft", "publish", "Lockers")
    kept = ("yes", "DONE", "It is kept. Do you need a map?")
    ends = (
        [("two suitcases", "CONFIRM", "Do you want two suitcases?"), kept]
        if confirmation
        else [("two suitcases", *kept[1:])]
    )
    begins = [("I need a locker", "COLLECT", "How big?"), *ends]
    thanks = ("thanks", "DONE", "You're welcome. Is there anything else that I can do for you?")
    talk(*begins, thanks, *begins, ("yes", "YES", "Left of the gate."))


@pytest.fixture
def tower(tmp_path: Path) -> None:
    make(m.CeConfig, config_type="Session", config_key="LANGUAGES", config_value="en-GB, de-DE")
    archive = make_archive(str(tmp_path / "tower"), "zip", STAR_TOWER)
    run("come_over", "dialogflow", archive, "--apply")
    run("draft", "publish", "From tower")


def test_an_agent_of_dialogflow_asks_confirms_and_answers(tower: None, tmp_path: Path) -> None:
    assert "0 errors" in run("config_check")
    assert "has all of it already" in run("come_over", "dialogflow", str(tmp_path / "tower.zip"), "--apply")
    talk(
        ("when does the dome open?", "IDLE", "The dome opens at dusk and closes at midnight."),
        ("I would like to visit the tower", "COLLECT", "On which night would you like to come?"),
        ("on 3 June 2099", "COLLECT", "How many people are you?"),
        ("four", "COLLECT", "Which instrument would you like to look through?"),
        ("the big one", "CONFIRM", "A visit on Wednesday 3 June 2099 for 4 with the reflector. Shall I book it?"),
        ("yes", "DONE", "Your place at the reflector is booked. Dress warmly!"),
        ("where can I park", "IDLE", "Cars stay in the village. Would you like to know the way?"),
        ("yes please", "YES", "Follow the lanterns uphill."),
        ("and from there", "YES", "I only know about the tower. Could you put it another way?"),
    )


def test_an_agent_of_dialogflow_speaks_its_other_language(tower: None) -> None:
    talk(
        ("guten Abend", "IDLE", "Guten Abend vom Sternenturm!"),
        ("ein Teleskop ist kaputt", "COLLECT", "Was steht auf der Montierung?"),
        ("MT-204", "COLLECT", "Bewegt sie sich noch?"),
        ("sie klemmt", "DONE", "Danke, jemand kümmert sich um MT-204."),
        ("wo kann ich parken", "IDLE", "Autos bleiben im Dorf. Möchten Sie den Weg wissen?"),
        ("ja", "YES", "Folgen Sie den Laternen bergauf."),
        locale="de-DE",
    )
