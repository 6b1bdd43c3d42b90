"""What the forms of all tables have in common."""

from typing import Any

import pytest
from django.contrib import admin
from django.test import Client, RequestFactory

from config_admin.models import CeIntent, CeIntentClassifier, CeResponse, CeRule
from tests.config_admin.builders import make


def test_a_column_that_no_section_names_is_in_the_form(monkeypatch: Any, admin_user: Any) -> None:
    rules: Any = admin.site.get_model_admin(CeRule)
    request = RequestFactory().get("/")
    request.user = admin_user
    monkeypatch.setattr(rules, "sections", [("Where", (("phase", "intent_code"), "state_code"))])

    titles = dict(rules.get_fieldsets(request))

    assert titles["More"]["fields"][:2] == ["rule_type", "match_pattern"]
    assert not {"rule_id", "phase", "intent_code", "state_code", "updated_at"} & set(titles["More"]["fields"])


@pytest.mark.django_db
@pytest.mark.parametrize("model", [CeResponse, CeRule, CeIntentClassifier])
@pytest.mark.parametrize("words", ["rent a bicycle", "Bicycle"])
def test_a_list_is_searched_for_the_names_of_flows(ada: Client, model: Any, words: str) -> None:
    make(CeIntent, intent_code="CYCLES", display_name="Rent a bicycle")
    row = make(model, intent_code="CYCLES", state_code="IDLE")
    make(model, intent_code="CARS", state_code="IDLE")

    page = ada.get(f"/admin/config_admin/{model._meta.model_name}/", {"q": words})

    assert [found.pk for found in page.context["cl"].result_list] == [row.pk]
