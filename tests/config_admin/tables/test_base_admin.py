"""What the forms of all tables have in common."""

from typing import Any

from django.contrib import admin
from django.test import RequestFactory

from config_admin.models import CeRule


def test_a_column_that_no_section_names_is_in_the_form(monkeypatch: Any, admin_user: Any) -> None:
    rules: Any = admin.site.get_model_admin(CeRule)
    request = RequestFactory().get("/")
    request.user = admin_user
    monkeypatch.setattr(rules, "sections", [("Where", (("phase", "intent_code"), "state_code"))])

    titles = dict(rules.get_fieldsets(request))

    assert titles["More"]["fields"][:2] == ["rule_type", "match_pattern"]
    assert not {"rule_id", "phase", "intent_code", "state_code", "updated_at"} & set(titles["More"]["fields"])
