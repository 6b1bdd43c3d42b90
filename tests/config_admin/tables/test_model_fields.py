"""Column types bring values into their one spelling."""

import pytest
from django.core.exceptions import ValidationError

from config_admin import models as m
from config_admin.tables.model_fields import PRIORITY_MAX
from tests.config_admin.builders import make, new

pytestmark = pytest.mark.dialects


@pytest.mark.django_db
def test_a_code_is_stored_trimmed_and_in_capitals():
    rule = make(m.CeRule, intent_code=" cancel_order ", state_code="any")
    assert (rule.intent_code, rule.state_code) == ("CANCEL_ORDER", "ANY")
    rule.refresh_from_db()
    assert (rule.intent_code, rule.state_code) == ("CANCEL_ORDER", "ANY")


@pytest.mark.django_db
def test_a_code_is_found_in_any_spelling():
    rule = make(m.CeRule, intent_code="CANCEL_ORDER")
    assert m.CeRule.objects.get(intent_code=" cancel_order ") == rule


@pytest.mark.django_db
def test_bulk_writes_normalise_too():
    make(m.CeRule)
    m.CeRule.objects.update(intent_code=" faq ")
    m.CeRule.objects.bulk_create([new(m.CeRule, intent_code="faq")])
    assert set(m.CeRule.objects.values_list("intent_code", flat=True)) == {"FAQ"}


@pytest.mark.django_db
def test_an_intent_keeps_one_row_for_all_spellings_of_its_code():
    make(m.CeIntent, intent_code="LOAN")
    again = make(m.CeIntent, intent_code=" loan", description="Other words.")
    assert m.CeIntent.objects.filter(description="Other words.").count() == 1
    assert again.history.count() == 2


@pytest.mark.django_db
def test_a_guardrail_name_is_stored_in_small_letters():
    assert make(m.CeMcpSqlGuardrail, match_value=" PG_Sleep ").match_value == "pg_sleep"


@pytest.mark.django_db
@pytest.mark.parametrize("code", ["1ST", "CANCEL-ORDER", "A B", "É"])
def test_a_form_refuses_a_code_of_another_shape(code):
    with pytest.raises(ValidationError) as refused:
        new(m.CeIntent, intent_code=code).full_clean()
    assert refused.value.error_dict["intent_code"][0].code == "CODE_FORMAT"


@pytest.mark.parametrize("priority", [-1, PRIORITY_MAX + 1])
def test_a_form_refuses_a_priority_out_of_range(priority):
    with pytest.raises(ValidationError) as refused:
        new(m.CeRule, priority=priority).clean_fields()
    assert "0 to 1000000" in refused.value.message_dict["priority"][0]


def test_choices_come_from_the_vocabulary():
    assert ("REGEX", "Regular expression") in list(m.CeRule._meta.get_field("rule_type").choices)
