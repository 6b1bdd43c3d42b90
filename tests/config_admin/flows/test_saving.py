"""A stored flow becomes another document: rows are added, changed and deleted by difference, in one release."""

import json
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command

from config_admin import models as m
from config_admin.flows.document import FlowRefused
from config_admin.flows.mapping import normalise_flow
from config_admin.flows.reading import export_flow, read_flow
from config_admin.flows.saving import create_flow, merge_value, update_flow
from config_admin.releases.active import snapshots
from config_admin.releases.change_set import change_set
from convengine.server import wiring
from convengine.server.confirmed_actions.review import Settlement, settle_execution
from convengine.server.confirmed_actions.run_once import Executions
from convengine.server.extensions import registry as registered
from convengine.server.extensions.registry import Registry, task
from convengine.server.sessions.models import CePendingActionExecution
from convengine.server.turns import take_turn
from tests.api import Caller
from tests.config_admin.admin.pages import newest
from tests.config_admin.flows.test_reading import BASE, FIELDS, FULL, QUESTIONS, make_tool
from tests.convengine.server.extensions.test_task_keys import lose_the_database

pytestmark = pytest.mark.django_db

KINDS: dict[str, dict[str, Any]] = {
    "answer": {**BASE, "kind": "answer", "questions_and_answers": QUESTIONS[1:]},
    "handover": {**BASE, "kind": "handover"},
    "collect": {**BASE, "kind": "collect", "fields": FIELDS[:2], "phrases": ["a table please", "book a table"]},
    "lookup": {**BASE, "kind": "lookup", "tool": "shop.sum", "fields": FIELDS[:1]},
    "full": FULL,
}
#: Each kind once before and once after; the other pairs in `make test-nightly`.
SHORT = {*pairwise([*KINDS, "answer"]), ("full", "full")}


def update(flow: dict[str, Any]) -> Any:
    return update_flow(flow, author="ben", reason="change")


def sort_lists(flow: dict[str, Any]) -> dict[str, Any]:
    """The document with the lists sorted whose order means nothing."""
    questions = sorted(flow.get("questions_and_answers", ()), key=lambda item: str(item["answer"]))
    return {**flow, "phrases": sorted(flow["phrases"]), "questions_and_answers": questions}


@pytest.mark.parametrize(
    ("before", "after"),
    [pair if pair in SHORT else pytest.param(*pair, marks=pytest.mark.nightly) for pair in product(KINDS, repeat=2)],
)
def test_any_flow_becomes_any_other(before: str, after: str) -> None:
    make_tool()
    create_flow(KINDS[before], author="ada", reason="begin")
    start = newest().pk
    update(KINDS[after])
    reading = read_flow(snapshots.current(), "BOOKING")

    assert reading is not None
    assert sort_lists(reading.document) == sort_lists(normalise_flow(KINDS[after]))
    assert (reading.other_rows, list(reading.list_changed_columns()), reading.missing) == ((), [], ())
    assert newest().pk == start + (before != after)


def test_a_change_touches_only_its_rows() -> None:
    create_flow(FULL, author="ada", reason="begin")
    result = update({**FULL, "phrases": ["book a table", "a table for two"], "answer": "See you."})
    changed = {
        table: [(row.before is None, row.after is None) for row in rows]
        for table, rows in result.plan.differences.items()
    }

    assert sorted(changed["ce_intent_classifier"]) == [(False, True), (True, False)]
    assert changed["ce_response"] == [(False, False)]
    assert set(changed) == {"ce_intent_classifier", "ce_response"}
    assert (result.release.author, result.release.reason) == ("ben", "change")
    assert update({**FULL, "phrases": ["book a table", "a table for two"], "answer": "See you."}).release is None


def test_what_was_changed_by_hand_stays() -> None:
    create_flow(FULL, author="ada", reason="begin")
    with change_set():
        hand = m.CeIntentClassifier.objects.create(
            intent_code="BOOKING", state_code="COLLECT", rule_type="REGEX", pattern="(?i)table", priority=1
        )
        schema = m.CeOutputSchema.objects.get(intent_code="BOOKING")
        schema.json_schema["properties"]["seats"] = {"type": "array", "items": {"type": "string"}}
        schema.json_schema["properties"]["date"]["x-done"] = "Noted."
        schema.json_schema["required"].append("seats")
        schema.save()
        m.CeIntentClassifier.objects.filter(pattern="book a table").update(priority=7)
        m.CeRule.objects.filter(intent_code="BOOKING", match_pattern="AFFIRM").delete()
    fields = [{**field, "title": f"The {field['name']}"} for field in FIELDS if field["name"] != "time"]
    update({**FULL, "fields": fields})

    schema.refresh_from_db()
    properties = schema.json_schema["properties"]
    assert (properties["date"]["title"], properties["date"]["x-done"]) == ("The date", "Noted.")
    assert ("time" in properties, "seats" in properties) == (False, True)
    assert "seats" in schema.json_schema["required"]
    assert m.CeIntentClassifier.objects.filter(pk=hand.pk).exists()
    assert m.CeIntentClassifier.objects.get(pattern="book a table").priority == 7
    assert not m.CeRule.objects.filter(intent_code="BOOKING", match_pattern="AFFIRM").exists()


def test_questions_keep_their_intents_when_others_go_and_come() -> None:
    create_flow(FULL, author="ada", reason="begin")
    more = [
        {**QUESTIONS[1], "questions": ["where are you", "your address"]},
        {"questions": ["do you have parking"], "answer": "Yes."},
    ]
    update({**FULL, "questions_and_answers": more})

    names = dict(m.CeIntent.objects.filter(pk__startswith="BOOKING_").values_list("pk", "display_name"))
    assert names == {"BOOKING_Q2": "where are you", "BOOKING_Q3": "do you have parking"}
    assert m.CeIntentClassifier.objects.filter(intent_code="BOOKING_Q1").count() == 0
    assert m.CeResponse.objects.filter(intent_code="BOOKING_Q2").count() == 1


def test_a_changed_flow_holds_its_conversation() -> None:
    create_flow(KINDS["collect"], author="ada", reason="begin")
    fields = [{"name": "name", "title": "Name", "type": "text", "question": "Who are you?"}]
    update({**KINDS["collect"], "fields": fields, "answer": "Thanks, {{ name }}."})
    caller = Caller()

    answers = [caller.say(text)["payload"]["value"] for text in ("book a table", "Ann", "yes")]
    assert (answers[0], answers[-1]) == ("Who are you?", "Thanks, Ann.")


def test_a_document_without_a_stored_flow_is_refused() -> None:
    with pytest.raises(FlowRefused, match="BOOKING is not an existing flow"):
        update(FULL)
    with pytest.raises(FlowRefused, match="'code' is a required property"):
        update({})


@pytest.mark.parametrize(
    ("stored", "old", "new", "merged"),
    [
        (1, 1, 2, 2),
        (5, 1, 1, 5),
        (5, 1, 2, 2),
        ({"a": 1, "mine": 2}, {"a": 1, "b": 3}, {"a": 4, "c": 5}, {"a": 4, "c": 5, "mine": 2}),
        (["a", "mine"], ["a", "b"], ["c"], ["c", "mine"]),
        ([{"a": 1}], [{"a": 2}], [{"a": 3}], [{"a": 3}]),
    ],
)
def test_values_are_merged(stored: Any, old: Any, new: Any, merged: Any) -> None:
    assert merge_value(stored, old, new) == merged


def test_the_command_updates_by_difference(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "flow.json"
    file.write_text(json.dumps(KINDS["collect"]))
    with pytest.raises(CommandError, match="is not an existing flow"):
        call_command("start_flow", str(file), "--update")
    call_command("start_flow", str(file))
    file.write_text(json.dumps({**KINDS["collect"], "answer": "See you."}))
    with pytest.raises(CommandError, match="BOOKING already exists"):
        call_command("start_flow", str(file))
    User.objects.create_superuser("ada")
    call_command("start_flow", str(file), "--update", author="ada")

    assert "1 row changed." in capsys.readouterr().out
    assert m.CeResponse.objects.get(intent_code="BOOKING", state_code="DONE").exact_text == "See you."


def test_an_update_takes_back_no_change_that_was_made_since_the_export() -> None:
    create_flow(KINDS["collect"], author="ada", reason="begin")
    exported = export_flow("BOOKING")
    assert exported is not None
    update({**KINDS["collect"], "answer": "Changed in the admin."})

    with pytest.raises(FlowRefused, match=r"^answer: changed here after release \d+, .*BASE_MOVED"):
        update({**exported, "title": "Tables"})
    update({**exported, "title": "Tables", "answer": "Changed in the admin."})
    update_flow({**exported, "answer": "Mine."}, author="ben", reason="mine", overwrite=True)

    reading = read_flow(snapshots.current(), "BOOKING")
    assert reading is not None
    assert reading.document["answer"] == "Mine."


def test_a_changed_field_is_named_and_other_fields_may_change() -> None:
    create_flow(KINDS["collect"], author="ada", reason="begin")
    exported = export_flow("BOOKING")
    assert exported is not None
    first, second = exported["fields"]
    update({**KINDS["collect"], "fields": [{**first, "question": "Here?"}, second]})

    with pytest.raises(FlowRefused, match=f"^field {first['name']}: changed here"):
        update({**exported, "fields": [{**first, "question": "There?"}, second]})


def test_flows_are_written_to_files_that_an_update_reads(tmp_path: Path) -> None:
    create_flow(KINDS["collect"], author="ada", reason="begin")
    (tmp_path / "1-tables.json").write_text(json.dumps(KINDS["collect"]))

    call_command("export_flow", all=tmp_path, verbosity=0)
    document = json.loads((tmp_path / "1-tables.json").read_text())
    assert [file.name for file in tmp_path.iterdir()] == ["1-tables.json"]
    assert document["base"]["release"] == newest().pk

    (tmp_path / "1-tables.json").write_text(json.dumps({**document, "answer": "New."}))
    call_command("start_flow", tmp_path / "1-tables.json", update=True, update_base=True, verbosity=0)
    assert json.loads((tmp_path / "1-tables.json").read_text())["base"]["release"] == newest().pk
    with pytest.raises(CommandError, match="There is no flow NOTHING"):
        call_command("export_flow", "NOTHING")


def create_booking_flow(monkeypatch: pytest.MonkeyPatch, tables: type) -> dict[str, Any]:
    """A flow that runs `tables:book` after the yes."""
    registry = Registry()
    for module in (registered, wiring):
        monkeypatch.setattr(module, "registry", registry)
    monkeypatch.setattr("config_admin.validation.installation.registry", registry)
    task("tables")(tables)
    flow = {
        "code": "BOOKING",
        "title": "Booking",
        "kind": "collect",
        "phrases": ["book a table"],
        "fields": [{"name": "guests", "title": "Guests", "type": "number"}],
        "answer": "Booked.",
        "task": "tables:book",
        "task_failed": "The book is closed.",
    }
    create_flow(flow, author="ada", reason="begin")
    return flow


def test_a_flow_with_a_task_runs_it_after_the_yes_and_says_when_it_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[Any] = []

    class Tables:
        def book(self, call: Any) -> Any:
            ran.append(dict(call.context))
            if len(ran) == 1:
                raise RuntimeError("The book is locked.")
            return True

    flow = create_booking_flow(monkeypatch, Tables)
    caller = Caller()
    answers = [caller.say(text)["payload"]["value"] for text in ["book a table", "4", "yes"] * 2]

    reading = read_flow(snapshots.current(), "BOOKING")

    assert (answers[2], answers[5]) == ("The book is closed.", "Booked.")
    assert reading is not None
    assert (reading.document, reading.other_rows, reading.missing) == (normalise_flow(flow), (), ())
    assert [context["guests"] for context in ran] == [4, 4]


class CountedTables:
    """The task, whose runs are counted."""

    runs = 0

    def book(self, call: Any) -> bool:
        """Book a table, which cannot be done twice."""
        type(self).runs += 1
        return True


def test_the_task_of_a_flow_runs_once_although_its_turn_is_lost_and_the_yes_has_other_words(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(CountedTables, "runs", 0)
    create_booking_flow(monkeypatch, CountedTables)
    caller = Caller()
    for text in ("book a table", "4"):
        caller.say(text)
    with monkeypatch.context() as broken:
        broken.setattr(take_turn, "commit_turn", lose_the_database)
        assert caller.say("yes")["errorCode"] == "CONVERSATION_PERSIST_FAILED"

    assert caller.say("yes please")["payload"]["value"] == "Booked."
    assert CountedTables.runs == 1
    answers = [caller.say(text)["payload"]["value"] for text in ("book a table", "4", "yes")]
    assert (answers[-1], CountedTables.runs) == ("Booked.", 2)


def test_a_flow_does_not_say_that_nothing_was_done_when_nobody_knows_and_reports_what_a_person_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(CountedTables, "runs", 0)
    create_booking_flow(monkeypatch, CountedTables)
    caller = Caller()
    for text in ("book a table", "4"):
        caller.say(text)
    with monkeypatch.context() as broken:
        broken.setattr(Executions, "finish", lose_the_database)
        assert caller.say("yes")["errorCode"] == "CONVERSATION_PERSIST_FAILED"

    answers = [caller.say(text)["payload"]["value"] for text in ("yes", "book a table", "4", "yes")]
    assert answers[0] == answers[-1]
    assert "We are checking it" in answers[0]
    settlement = Settlement(True, User.objects.create_user("ada"), "The book has it.")
    settle_execution(CePendingActionExecution.objects.get().pk, settlement)
    answers = [caller.say(text)["payload"]["value"] for text in ("book a table", "4", "yes")]

    assert (answers[-1], CountedTables.runs) == ("Booked.", 1)


def test_a_date_may_come_after_an_earlier_one_by_its_name() -> None:
    dates = [{"name": name, "title": name.title(), "type": "date"} for name in ("viewing", "trial")]
    flow = {**KINDS["collect"], "fields": [dates[0], {**dates[1], "after": "viewing"}]}
    create_flow(flow, author="ada", reason="begin")
    reading = read_flow(snapshots.current(), "BOOKING")

    assert reading is not None
    assert reading.document["fields"][1]["after"] == "viewing"
    with pytest.raises(
        FlowRefused, match=r"fields.0.after: 'trial' is not an earlier date. Only a date behind another"
    ):
        update({**flow, "fields": [{**dates[0], "after": "trial"}, dates[1]]})
