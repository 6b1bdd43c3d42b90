"""The examples of docs/extending.md run, and register what they say."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.utils.module_loading import import_string

from config_admin.validation.installation import describe_installation
from convengine.engine.pipeline.order import DEFAULT_PIPELINE, order_steps
from convengine.engine.rules import vocabulary
from convengine.engine.rules.conditions import rule
from convengine.engine.turn.finder_port import FoundSpan
from convengine.engine.turn.ports import ContainerRequest
from convengine.engine.turn.recording import Recording
from convengine.engine.turn.session import Exchange, Session
from convengine.engine.turn.verbose import VerboseLine
from convengine.server import wiring
from convengine.server.extensions import registry as registered
from convengine.server.extensions.ports import Containers
from convengine.server.extensions.registry import Registry
from convengine.server.extensions.tasks import TaskCall
from tests.builders import make_session, make_turn
from tests.dialogues.rows.worlds import make_caller

ROOT = Path(__file__).resolve().parent.parent
MANUAL = (ROOT / "docs/extending.md").read_text()
EVERY = re.findall(r"```python\n(.*?)```", MANUAL, re.DOTALL)
EXAMPLES = dict(
    re.findall(r"^## (?:An? )(.+?)\n(?:(?!^## )[\s\S])*?```python\n(.*?)```", MANUAL, re.DOTALL | re.MULTILINE)
)


@pytest.fixture
def names() -> dict[str, Any]:
    """What the examples define."""
    return {}


@pytest.fixture
def own(monkeypatch: pytest.MonkeyPatch, names: dict[str, Any]) -> Registry:
    """What the examples register, and nothing else."""
    registry = Registry()
    monkeypatch.setattr(registered, "registry", registry)
    monkeypatch.setattr(wiring, "registry", registry)
    monkeypatch.setattr("config_admin.validation.installation.registry", registry)
    monkeypatch.setattr(rule, "_custom", {})
    monkeypatch.setattr(vocabulary, "_custom", {})
    for example in EVERY:
        exec(compile(example, "docs/extending.md", "exec"), names)
    return registry


def test_every_kind_has_an_example() -> None:
    assert list(EXAMPLES) == [
        "task", "tool", "finder of values", "container provider", "response transformer", "hook", "progress listener",
        "memory store", "rule type and a rule action", "step of your own",
    ]  # fmt: skip


def test_code_of_a_project_imports_public_modules_alone() -> None:
    """What the manual shows and what the shipped projects do: other modules may move in any version."""
    texts = [path.read_text() for path in (*ROOT.glob("docs/*.md"), *ROOT.glob("fixtures/**/*.py"))]
    pattern = re.compile(r"^ *(?:from|import) (convengine[\w.]*)", re.MULTILINE)
    modules = {module for text in texts for module in pattern.findall(text)}

    assert modules == {f"convengine.{name}" for name in ("client", "embedding", "extensions", "settings", "testing")}


def test_the_example_of_a_task_cancels_what_there_is(own: Registry) -> None:
    cancel = own.tasks["orders"].methods["cancel"]
    call = TaskCall({}, {"orderNumber": "48392"}, {})

    assert cancel(call).data == {"number": "48392"}
    assert call.written_context == {"reference": "C-48392"}
    assert cancel(TaskCall({}, {}, {})).code == "NO_ORDER"


def test_the_other_examples_do_what_they_say(own: Registry) -> None:
    assert own.tools["order.lookup"].run({"orderNumber": "1"}, {}) == {"number": "1", "status": "open"}
    assert own.provider(1, 1, 1) is not None
    plates = own.finders["vehicle_plate"].find("ab12cde or AA00 XXX", {}, {})
    assert plates == [
        FoundSpan(0, 7, value="AB12 CDE"),
        FoundSpan(11, 19, reason="TEST_PLATE", text="That is a test plate."),
    ]
    assert [each.name for each in own.response_transformers["LLM"]] == ["AddReference"]
    assert [type(hook).__name__ for hook in own.hooks] == ["TariffSeason"]
    assert list(own.memory_stores) == ["customers"]


def test_a_fetch_runs_between_the_interceptor_and_the_transformer_of_the_examples(own: Registry) -> None:
    request = ContainerRequest(1, 1, 1, {}, intent="OPENING_HOURS", state="DONE")
    answer = Containers(own, Recording()).fetch(request, Session("c"))

    assert (answer.sent, answer.value) == ({"hours": "saturday"}, {"note": "Closed on Sundays."})


def test_the_example_of_a_step_tells_the_example_of_a_listener(own: Registry, names: dict[str, Any]) -> None:
    step = names["LoyaltyStep"]
    turn = replace(make_turn(), verbose_listeners=wiring.verbose_listeners())
    session = make_session(intent="LOAN", state="IDLE", history=(Exchange("Hi", "Hello"),))
    outcome = step().execute(session, turn)

    assert outcome.session.input_params["loyalty_points"] == 10
    assert names["shown"] == ["INFO LoyaltyStep: You have 10 points."]
    placed = [each.name for each in order_steps([*(import_string(path)() for path in DEFAULT_PIPELINE), step()])]
    assert placed.index("AddContainerDataStep") < placed.index("LoyaltyStep") < placed.index("RulesStep")


def test_a_listener_that_raises_is_nobody_elses_trouble(own: Registry, names: dict[str, Any]) -> None:
    def fail(line: VerboseLine) -> None:
        raise OSError("gone")

    own.verbose_listeners.insert(0, fail)
    for listener in wiring.verbose_listeners():
        listener(make_turn(), VerboseLine("RulesStep", "STEP_ENTER", "LOAN", "IDLE", "INFO", "Working"))

    assert names["shown"] == ["INFO RulesStep: Working"]


def test_a_tool_may_leave_the_call_to_the_engine(own: Registry) -> None:
    asked = own.tools["parcel.track"].run({"number": "P1"}, {})

    assert (asked.connection, asked.path, asked.mapping) == ("carrier", "/parcels/P1", {"mapper": "parcel"})
    assert own.http_mappers["parcel"]({"events": [{"place": "Oslo"}]}) == {"where": "Oslo"}
    assert own.tool_groups["LEGACY"].run("old.one", {"a": 1}, {}) == {"asked": "old.one", "with": {"a": 1}}


def test_rows_may_name_what_the_examples_register(own: Registry) -> None:
    world = describe_installation()

    assert (world.tasks["orders"], world.tool_handlers) == (("cancel",), {"order.lookup", "parcel.track"})
    assert {"WORKFLOW_ACTION", "LEGACY"} <= world.executors
    assert (world.mappers, world.finders) == ({"parcel"}, {"vehicle_plate"})
    assert world.providers == {(1, 1, 1), (1, 1, 2)}
    assert (world.rule_types, world.rule_actions) == ({"LONGER_THAN"}, {"SET_PRIORITY"})


ACCOUNTS = [{"value": "DE02", "label": "Current account"}, {"value": "DE43", "label": "Holiday savings"}]


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("customer", "options", "answer"),
    [
        ("C-17", ACCOUNTS, "Please check: Account: Holiday savings."),
        ("C-18", [], "There is nothing to choose from for “Account” at the moment."),
    ],
)
def test_the_choices_of_the_example_are_those_of_the_customer(
    own: Registry, customer: str, options: list[dict[str, str]], answer: str
) -> None:
    field = json.loads(MANUAL.partition("```json\n")[2].partition("```")[0])
    flow = {"code": "BALANCE", "title": "Balance", "kind": "collect", "phrases": ["my balance"], "fields": [field]}
    data = {"intent_code": "BALANCE", "page_id": 1, "section_id": 1, "container_id": 2, "input_param_name": "accounts"}
    caller = make_caller(flow | {"answer": "Done."}, rows={"ce_container_config": [{**data, "state_code": "COLLECT"}]})
    params = {"inputParams": {"customer": customer}}

    assert caller.say("my balance", **params)["stateReport"]["asked"]["options"] == options
    assert answer in caller.say("the piggy bank", **params)["payload"]["value"]
