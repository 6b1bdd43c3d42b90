from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command

pytestmark = pytest.mark.django_db


def create(*arguments: str) -> str:
    out = StringIO()
    call_command("user_create", *arguments, stdout=out)
    return out.getvalue()


def test_a_password_is_made_and_printed_once(client: Any) -> None:
    text = create("ada", "--group", "analyst")
    password = text.partition("Password: ")[2].strip()

    assert client.login(username="ada", password=password)
    assert client.get("/admin/").status_code == 200


def test_a_password_of_the_environment_is_not_printed(monkeypatch: pytest.MonkeyPatch, client: Any) -> None:
    monkeypatch.setenv("DJANGO_SUPERUSER_PASSWORD", "long-enough-4711")

    assert "long-enough" not in create("root", "--superuser")
    assert client.login(username="root", password="long-enough-4711")


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["ada"], "Choose what ada may do: --superuser, or --group"),
        (["ada", "--group", "analysts"], "There is no group analysts. Groups: .*analyst"),
    ],
)
def test_a_user_without_rights_or_with_an_unknown_group_is_refused(arguments: list[str], problem: str) -> None:
    with pytest.raises(CommandError, match=problem):
        create(*arguments)


def test_a_name_that_is_taken_and_a_weak_password_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    create("ada", "--superuser")
    with pytest.raises(CommandError, match="The user ada already exists"):
        create("ada", "--superuser")
    monkeypatch.setenv("DJANGO_SUPERUSER_PASSWORD", "1234")
    with pytest.raises(CommandError, match="DJANGO_SUPERUSER_PASSWORD: This password is too short"):
        create("bo", "--superuser")
