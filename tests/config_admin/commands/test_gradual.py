"""A gradual release from the command line."""

import json
from io import StringIO
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command

from config_admin import models as m
from config_admin.drafts.open_draft import open_draft
from config_admin.releases.change_set import change_set
from tests.worlds import create_help_desk

pytestmark = pytest.mark.django_db


def run(*arguments: str) -> Any:
    out = StringIO()
    call_command(*arguments, "--json", stdout=out)
    return json.loads(out.getvalue())


@pytest.fixture
def gradual() -> None:
    User.objects.create_superuser("ada")
    create_help_desk()
    draft = m.CeDraft.objects.create(title="Late hours")
    with open_draft(draft.pk, None, writing=True), change_set():
        m.CeResponse.objects.filter(intent_code="HOURS").update(exact_text="Late.")
    assert run("draft", "publish", "Late hours", "--share", "10", "--guard", "ERRORS")["published"]


def test_it_is_shown_widened_and_given_to_all(gradual: None) -> None:
    shown = run("gradual", "show")
    assert (shown["share"], shown["guard"]["metric"], shown["sides"]["others"]["turns"]) == (10, "ERRORS", 0)
    wider = run("gradual", "audience", "--share", "50", "--channel", "web")
    assert (wider["channels"], wider["guard"]["metric"]) == (["web"], "ERRORS")
    out = StringIO()
    call_command("gradual", "show", stdout=out)
    assert "Not understood: 0 | 0" in out.getvalue()
    assert run("gradual", "all", "--author", "ada")["status"] == "COMPLETE"


def test_it_is_stopped_once(gradual: None) -> None:
    assert run("gradual", "stop", "--reason", "no", "--author", "ada")["endedReason"] == "no"
    with pytest.raises(SystemExit) as refused:
        run("gradual", "stop")
    assert refused.value.code == 1


def test_nobody_is_no_audience(gradual: None) -> None:
    with pytest.raises(SystemExit) as refused:
        run("gradual", "audience", "--share", "0")
    assert refused.value.code == 1
