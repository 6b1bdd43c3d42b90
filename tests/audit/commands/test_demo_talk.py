"""A conversation in the terminal."""

from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command

from config_admin import models as m
from config_admin.releases.change_set import change_set
from tests.worlds import create_help_desk

pytestmark = pytest.mark.django_db(transaction=True)


def talk(monkeypatch: pytest.MonkeyPatch, *lines: str) -> str:
    """What the terminal shows."""
    monkeypatch.setattr("sys.stdin", StringIO("".join(f"{line}\n" for line in lines)))
    output = StringIO()
    call_command("demo_talk", stdout=output)
    return output.getvalue()


def test_a_failed_tool_is_shown_with_its_reason(monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    private = {"stock": {"base_url": "http://127.0.0.1:1"}}
    settings.CONVENGINE = {**settings.CONVENGINE, "HTTP_CONNECTIONS": private}
    create_help_desk()
    with change_set():
        anywhere = {"tool_group": "HTTP_API", "tool_code": "shop.stock", "intent_code": "ANY", "state_code": "ANY"}
        tool = m.CeMcpTool.objects.create(**anywhere)
        m.CeMcpHttpTool.objects.create(
            tool=tool, connection_name="stock", url_template="/", param_schema={"type": "object", "properties": {}}
        )
        m.CeTool.objects.create(**anywhere)

    shown = talk(monkeypatch, "hours", "quit")

    assert "! The tool shop.stock failed: " in shown
    assert "is not public" in shown
    assert "private_hosts" in shown


def test_a_turn_without_a_failure_shows_none(monkeypatch: pytest.MonkeyPatch) -> None:
    create_help_desk()

    assert "! " not in talk(monkeypatch, "hours")
