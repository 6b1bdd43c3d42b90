import json
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from config_admin.models import CeIntent, CeResponse, CeRule

pytestmark = pytest.mark.django_db


@pytest.fixture
def loan() -> None:
    CeIntent.objects.create(intent_code="LOAN", description="Wants a loan.")
    CeResponse.objects.get_or_create(
        intent_code="UNKNOWN", state_code="UNKNOWN", defaults={"response_type": "EXACT", "exact_text": "Sorry?"}
    )
    CeResponse.objects.create(intent_code="LOAN", state_code="ANY", response_type="EXACT", exact_text="Hello.")
    for pattern, state in (("pay", "PAYING"), ("^pay bill", "BILL")):
        CeRule.objects.create(
            intent_code="LOAN",
            state_code="ANY",
            rule_type="REGEX",
            match_pattern=pattern,
            action="SET_STATE",
            action_value=state,
        )


def _run_check(*arguments: str, **options: Any) -> str:
    out = StringIO()
    call_command("config_check", *arguments, stdout=out, stderr=StringIO(), **options)
    return out.getvalue()


def test_findings_are_printed_with_an_example_and_counted(loan: None) -> None:
    output = _run_check()

    assert "WARNING SURPRISES RULE_COLLISION  Rule " in output
    assert 'For example: {"intent": "LOAN"' in output
    assert "0 errors, 2 warnings." in output


def test_scripts_get_one_document(loan: None) -> None:
    document = json.loads(_run_check("--json"))

    assert [finding["code"] for finding in document["findings"]] == ["RULE_COLLISION", "RULE_LOOP"]
    assert (document["errorCount"], document["warningCount"], document["leftOut"]) == (0, 2, {})
    assert document["findings"][0]["witness"]["userText"] == "pay bill"
    assert json.loads(_run_check("--json", "--code", "rule_loop"))["findings"] == document["findings"][1:]
    assert json.loads(_run_check("--json", "--table", "ce_response"))["findings"] == []


def test_an_error_ends_with_status_1(loan: None) -> None:
    CeRule.objects.create(
        intent_code="LOAN",
        state_code="ANY",
        rule_type="EXACT",
        match_pattern="x",
        action="SET_TASK",
        action_value="gone",
    )

    with pytest.raises(CommandError) as ended:
        _run_check()
    assert ended.value.returncode == 1
    assert "REFERENCE_GONE" not in _run_check("--code", "RULE_COLLISION")


def test_a_table_that_there_is_not_is_refused() -> None:
    with pytest.raises(CommandError, match=r"Unknown table ce_rules\. Tables: ce_intent"):
        _run_check("--table", "ce_rules")
