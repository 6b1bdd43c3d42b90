"""Imports are made as one release or not at all, and bundles come back to the same bytes."""

import json
import time
from typing import Any

import pytest

from config_admin import models as m
from config_admin.releases import head
from config_admin.releases.change_set import change_set
from config_admin.transfer import apply_import
from config_admin.transfer.apply_import import ImportFailed, ImportRefused, add_rows, import_document
from config_admin.transfer.document import Document, ImportMode
from config_admin.transfer.files import JSON, YAML, export_configuration, read_bytes
from config_admin.transfer.import_plan import plan_import
from convengine.server.deployment.folders import find_shipped
from tests.config_admin.builders import make, rules
from tests.config_admin.transfer.conftest import delete_all_rows, document

INTENT = {"intent_code": "LOAN", "description": "Wants a loan."}
RULE = {"intent_code": "LOAN", "state_code": "ANY", "rule_type": "EXACT", "match_pattern": "yes", "action": "SET_STATE"}


def import_as_ada(given: Document, **options: Any) -> apply_import.ImportResult:
    return import_document(given, author="ada", reason="from elsewhere", **options)


@pytest.mark.usefixtures("bank")
@pytest.mark.parametrize("form", [YAML, JSON])
def test_a_row_of_every_kind_comes_back_to_the_same_bytes(form: str) -> None:
    data = export_configuration(form=form, with_base=False)
    # Row by row it may be wrong: that is for the checks, which have tests of their own.
    delete_all_rows()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("config_admin.releases.restore_rows.check_row", lambda *row: [])
        done = import_as_ada(read_bytes("x", data))
    assert done.release is not None
    assert export_configuration(form=form, with_base=False) == data
    assert b"tool_code: loan.rate" in data or form == JSON
    assert m.CeMcpDbTool.objects.get().tool.tool_code == "loan.rate"


@pytest.fixture
def big(db: None) -> bytes:
    """The bundle of 5,000 rules, which is not in the database any more."""
    with change_set():
        m.CeIntent.objects.bulk_create(m.CeIntent(intent_code=f"I{n}", description="Some.") for n in range(50))
        m.CeRule.objects.bulk_create(rules(5000))
    data = export_configuration(form=JSON, with_base=False)
    delete_all_rows()
    return data


@pytest.mark.nightly
def test_5000_rules_come_back_in_time_and_one_bad_one_refuses_them_all(big: bytes) -> None:
    spoilt = json.loads(big)
    bad = spoilt["tables"]["ce_rule"][4321]
    bad |= {"rule_type": "REGEX", "match_pattern": "("}
    version = head.newest()
    with pytest.raises(ImportRefused) as refused:
        import_as_ada(read_bytes("x", json.dumps(spoilt).encode()))
    [error] = refused.value.plan.errors
    assert (error.where, error.finding.field) == ("Rules, row 4322", "match_pattern")
    assert "is not valid" in error.finding.message
    assert head.newest() == version
    assert not m.CeRule.objects.exists()

    stages: list[tuple[str, int, int]] = []
    started = time.process_time()
    import_as_ada(read_bytes("x", big), progress=lambda *news: stages.append(news))
    assert time.process_time() - started < 20
    assert export_configuration(form=JSON, with_base=False) == big
    assert [stage for stage, done, of in stages if done == of] == ["read", "judged", "written"]


@pytest.mark.django_db
def test_rows_that_name_each_other_are_judged_together() -> None:
    done = import_as_ada(document(ce_rule=[{**RULE, "action_value": "DONE"}], ce_intent=[INTENT]))
    assert done.plan.errors == []
    assert m.CeRule.objects.get(intent_code="LOAN").action_value == "DONE"


@pytest.mark.django_db
def test_the_rest_comes_without_what_is_refused_and_what_hangs_on_it() -> None:
    rows = [{**RULE, "action_value": "DONE"}, {**RULE, "intent_code": "ANY", "action_value": "DONE"}]
    given = document(ce_intent=[{**INTENT, "description": " "}], ce_rule=[*rows, {**RULE, "colour": "red"}])
    with pytest.raises(ImportRefused, match="colour"):
        import_as_ada(given)
    done = import_as_ada(given, rest=True)
    assert [rule.intent_code for rule in m.CeRule.objects.all()] == ["ANY"]
    assert not m.CeIntent.objects.filter(intent_code="LOAN").exists()
    assert [(error.where, error.finding.code) for error in done.plan.left_out] == [
        ("Rules, row 3", "COLUMN_UNKNOWN"),
        ("Intents, row 1", "DESCRIPTION_BLANK"),
        ("Rules, row 1", "INTENT_UNKNOWN"),
    ]


@pytest.mark.django_db
def test_what_is_judged_is_what_is_there_when_it_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    make(m.CeIntent, intent_code="LOAN")
    judge = apply_import.plan_import

    def meanwhile(*args: Any, **options: Any) -> Any:
        verdict = judge(*args, **options)
        monkeypatch.setattr(apply_import, "plan_import", judge)
        m.CeIntent.objects.filter(intent_code="LOAN").delete()
        return verdict

    monkeypatch.setattr(apply_import, "plan_import", meanwhile)
    with pytest.raises(ImportRefused, match="The intent LOAN does not exist"):
        import_as_ada(document(ce_rule=[{**RULE, "action_value": "DONE"}]))
    assert not m.CeRule.objects.exists()


@pytest.mark.django_db
def test_what_the_database_alone_refuses_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("config_admin.releases.restore_rows.check_row", lambda *row: [])
    with pytest.raises(ImportFailed, match="nothing was imported"):
        import_as_ada(document(ImportMode.ADD, ce_rule=[{**RULE, "intent_code": " "}], ce_intent=[INTENT]))
    assert not m.CeIntent.objects.filter(intent_code="LOAN").exists()


ANSWER = {"intent_code": "UNKNOWN", "state_code": "IDLE", "response_type": "EXACT"}


def add_answers(*rows: dict[str, str]) -> apply_import.ImportResult:
    return add_rows({"ce_response": [{**ANSWER, **row} for row in rows]}, author="ada", reason="from elsewhere")


@pytest.mark.django_db
def test_older_template_forms_are_added_as_jinja_and_reported() -> None:
    result = add_answers({"exact_text": "Hi [(${name})]"}, {"exact_text": "Bye {{ name }}"})

    row = m.CeResponse.objects.get(exact_text="Hi {{ name }}")
    conversions = result.plan.placed.conversions
    assert len(result.plan.differences["ce_response"]) == 2
    assert {key: [tuple(change) for change in changes] for key, changes in conversions.items()} == {
        ("ce_response", row.pk): [("exact_text", "[(${name})]", "{{ name }}")]
    }


@pytest.mark.django_db
def test_one_template_that_cannot_be_converted_refuses_all_added_rows() -> None:
    before = m.CeRelease.objects.count()
    with pytest.raises(ImportRefused, match="This template is not valid"):
        add_answers({"exact_text": "Fine."}, {"exact_text": "#{T(java.lang.Runtime)}"})

    assert not m.CeResponse.objects.filter(exact_text="Fine.").exists()
    assert m.CeRelease.objects.count() == before


@pytest.mark.django_db
def test_adding_rows_changes_no_existing_row() -> None:
    m.CeIntent.objects.create(intent_code="LOAN", description="Mine.")
    intent = {"intent_code": "LOAN", "description": "Theirs."}
    with pytest.raises(ImportRefused, match="Row LOAN already has this name"):
        add_rows({"ce_intent": [intent]}, author="ada", reason="from elsewhere")

    assert m.CeIntent.objects.get(intent_code="LOAN").description == "Mine."


HAND_WRITTEN = """
tables:
  ce_intent:
  - {intent_code: loan, description: Wants a loan.}
  ce_intent_classifier:
  - {intent_code: LOAN, rule_type: CONTAINS, pattern: a loan}
  - {intent_code: LOAN, rule_type: CONTAINS, pattern: borrow, priority: 20}
  ce_rule:
  - {intent_code: LOAN, state_code: ANY, rule_type: EXACT, match_pattern: "yes", action: SET_STATE, action_value: DONE}
  - {intent_code: LOAN, state_code: ANY, rule_type: EXACT, match_pattern: "no", action: SET_STATE, action_value: IDLE}
  ce_response:
  - {intent_code: LOAN, state_code: ANY, response_type: EXACT, exact_text: "How much, #{name}?"}
  - {intent_code: UNKNOWN, state_code: UNKNOWN, response_type: EXACT, exact_text: Pardon.}
  ce_prompt_template:
  - {intent_code: LOAN, state_code: ANY, response_type: TEXT, system_prompt: Be kind., user_prompt: Answer.}
  ce_mcp_tool:
  - {tool_code: loan.rate, tool_group: DB, intent_code: LOAN, state_code: ANY, description: The rate.}
"""


@pytest.mark.django_db
def test_a_bundle_that_was_written_by_hand_comes_in_twice_without_a_change() -> None:
    delete_all_rows()
    first = import_as_ada(read_bytes("x.yaml", HAND_WRITTEN.encode()))
    before = export_configuration(with_base=False)
    again = import_as_ada(read_bytes("x.yaml", HAND_WRITTEN.encode()))
    assert first.release is not None
    assert (again.plan.differences, again.release) == ({}, None)
    assert export_configuration(with_base=False) == before


@pytest.mark.django_db
def test_an_answer_that_a_model_writes_from_now_on_is_the_same_row() -> None:
    delete_all_rows()
    import_as_ada(read_bytes("x.yaml", HAND_WRITTEN.encode()))
    row = m.CeResponse.objects.get(intent_code="LOAN")
    import_as_ada(
        read_bytes("x.yaml", HAND_WRITTEN.replace('EXACT, exact_text: "How', 'DERIVED, exact_text: "How').encode())
    )

    assert list(m.CeResponse.objects.filter(intent_code="LOAN").values_list("pk", "response_type")) == [
        (row.pk, "DERIVED")
    ]


@pytest.mark.django_db
def test_an_edited_line_of_it_changes_its_row_only() -> None:
    delete_all_rows()
    import_as_ada(read_bytes("x.yaml", HAND_WRITTEN.encode()))
    edited = HAND_WRITTEN.replace("action_value: DONE", "action_value: COLLECT").replace("Be kind.", "Be brief.")
    done = import_as_ada(read_bytes("x.yaml", edited.encode()))
    assert {
        table: [(row.before is not None, row.after is not None) for row in rows]
        for table, rows in done.plan.differences.items()
    } == {"ce_rule": [(True, True)], "ce_prompt_template": [(True, True)]}


@pytest.mark.django_db
def test_taking_away_the_last_answer_of_a_state_is_said() -> None:
    with change_set():
        make(m.CeIntent)
        kept, last = (make(m.CeResponse, intent_code="LOAN", state_code=state) for state in ("ANY", "DONE"))
        make(m.CeResponse, intent_code="LOAN", state_code="ANY", exact_text="Another one.")
    answers = [answer for answer in export_answers() if answer["response_id"] not in (kept.pk, last.pk)]

    plan = import_as_ada(document(ImportMode.REPLACE, ce_response=answers)).plan

    (warning,) = [each.finding for each in plan.findings if each.finding.code == "LAST_ANSWER_REMOVED"]
    assert (warning.row, warning.is_error) == (last.pk, False)
    assert warning.message == "After the import, no answer is left for intent LOAN, state DONE."


@pytest.mark.django_db
def test_the_answers_of_an_intent_that_goes_with_them_are_not_missed() -> None:
    with change_set():
        make(m.CeIntent)
        make(m.CeResponse, intent_code="LOAN", state_code="DONE")
    answers = [answer for answer in export_answers() if answer["intent_code"] != "LOAN"]

    plan = import_as_ada(document(ImportMode.REPLACE, ce_response=answers, ce_intent=[])).plan

    assert "LAST_ANSWER_REMOVED" not in {each.finding.code for each in plan.findings}


@pytest.mark.django_db
@pytest.mark.parametrize("name", ["demo/configuration.json", "bicycle_workshop.json"])
def test_a_shipped_configuration_removes_no_row_of_a_new_installation(name: str) -> None:
    plan = plan_import(read_bytes("x", (find_shipped("fixtures") / name).read_bytes()))

    assert [row for rows in plan.differences.values() for row in rows if row.after is None] == []


def export_answers() -> list[dict[str, Any]]:
    answers: list[dict[str, Any]] = json.loads(export_configuration(form=JSON))["tables"]["ce_response"]
    return answers
