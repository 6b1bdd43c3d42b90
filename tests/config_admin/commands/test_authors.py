"""`--author` names a user who may do what the command does, for every command that has it."""

import json
from argparse import ArgumentParser
from collections.abc import Callable, Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.core.management import BaseCommand, CommandError, call_command, get_commands, load_command_class

from config_admin import models as m
from config_admin.releases import head
from tests.config_admin.builders import make

pytestmark = pytest.mark.django_db
POLICY = {"policy_id": 7, "rule_type": "CONTAINS", "pattern": "cvv", "response_text": "No cards."}
FLOW = {"code": "BOOKING", "title": "Book", "phrases": ["book"], "kind": "answer", "answer": "Done."}
#: One call of each, without the author.
CALLS: dict[str, Callable[[Path], list[str]]] = {
    "apply": lambda folder: ["apply", write(folder, {"ce_policy": [POLICY]})],
    "config_import": lambda folder: ["config_import", write(folder, {"ce_policy": [POLICY]}), "--apply"],
    "config_import --draft": lambda folder: [
        *("config_import", write(folder, {"ce_policy": [POLICY]})),
        *("--apply", "--draft", "Other"),
    ],
    "come_over": lambda folder: ["come_over", "rasa", str(folder), "--apply"],
    "config_rollback": lambda folder: ["config_rollback", "1"],
    "config_rollback --undo": lambda folder: ["config_rollback", "1", "--undo"],
    "start_flow": lambda folder: ["start_flow", write(folder, FLOW)],
    "start_flow --update": lambda folder: ["start_flow", write(folder, FLOW), "--update"],
    "test_cases import": lambda folder: ["test_cases", "import", str(folder)],
    "gradual stop": lambda folder: ["gradual", "stop"],
    "gradual all": lambda folder: ["gradual", "all"],
    "draft create": lambda folder: ["draft", "create", "New"],
    "draft send": lambda folder: ["draft", "send", "Cards", "--reviewer", "bob"],
    "draft comment": lambda folder: ["draft", "comment", "Cards", "--text", "Why?"],
    "draft approve": lambda folder: ["draft", "approve", "Cards"],
    "draft return": lambda folder: ["draft", "return", "Cards", "--text", "No."],
    "draft publish": lambda folder: ["draft", "publish", "Cards"],
    "draft schedule": lambda folder: ["draft", "schedule", "Cards", "--at", "2099-12-24T08:00"],
    "draft cancel": lambda folder: ["draft", "cancel", "Cards"],
    "draft discard": lambda folder: ["draft", "discard", "Cards"],
}


def write(folder: Path, document: Any) -> str:
    path = folder / "some.json"
    path.write_text(json.dumps(document))
    return str(path)


@pytest.fixture(autouse=True)
def draft(tmp_path: Path) -> m.CeDraft:
    make(m.CePolicy, policy_id=6, rule_type="CONTAINS", pattern="pin", response_text="No.")
    User.objects.create_user("eve", is_staff=True)
    call_command(
        "config_import", write(tmp_path, {"ce_policy": [POLICY]}), "--apply", "--draft", "Cards", stdout=StringIO()
    )
    return m.CeDraft.objects.get()


def refuse(arguments: list[str]) -> tuple[int, str]:
    """The status and what was said."""
    out = StringIO()
    try:
        call_command(*arguments, stdout=out)
    except CommandError as error:
        return error.returncode, str(error)
    except SystemExit as ended:
        return int(str(ended.code)), out.getvalue()
    return 0, out.getvalue()


def count_rows() -> list[int]:
    tables = (m.CeDraft, m.CeDraftReview, m.CeDraftSchedule, m.CeTestCase, m.CePolicy, m.CeIntent)
    return [head.newest(), *(table._default_manager.count() for table in tables)]


@pytest.mark.parametrize("call", CALLS)
def test_an_unknown_author_is_refused_with_the_remedy(call: str, tmp_path: Path) -> None:
    before = count_rows()
    status, said = refuse([*CALLS[call](tmp_path), "--author", "evee"])
    assert status == 2
    assert "--author evee: there is no such user. Did you mean eve?" in said
    assert "leave --author out to do it as the system user." in said
    assert count_rows() == before


@pytest.mark.parametrize("call", CALLS)
def test_an_author_without_the_right_is_refused_with_the_remedy(call: str, tmp_path: Path) -> None:
    before = count_rows()
    status, said = refuse([*CALLS[call](tmp_path), "--author", "eve"])
    assert status == 1
    assert "--author eve: " in said
    assert "Name a user who may, or leave --author out" in said
    assert count_rows() == before


def test_an_author_who_is_not_active_is_refused() -> None:
    User.objects.create_superuser("old", is_active=False)
    assert refuse(["draft", "publish", "Cards", "--author", "old"])[0] == 1


def test_who_publishes_may_change_every_row_of_the_draft(draft: m.CeDraft) -> None:
    user = User.objects.create_user("ana", is_staff=True)
    user.user_permissions.add(Permission.objects.get(codename="publish_draft"))
    for arguments in (["publish"], ["schedule", "--at", "2099-12-24T08:00"]):
        status, said = refuse(["draft", arguments[0], "Cards", *arguments[1:], "--author", "ana"])
        assert (status, "the user may not add policies: only " in said) == (1, True)


def test_a_schedule_of_a_named_author_is_held_when_the_author_is_gone() -> None:
    user = User.objects.create_superuser("ada")
    call_command("draft", "schedule", "Cards", "--at", "2099-12-24T08:00", "--author", "ada", stdout=StringIO())
    schedule = m.CeDraftSchedule.objects.get()
    assert (schedule.author, schedule.people) == (user, ["ada"])


def test_every_command_with_an_author_is_tried() -> None:
    assert {call.removesuffix(" --draft").removesuffix(" --undo").removesuffix(" --update") for call in CALLS} == set(
        find_commands_with_author()
    )


def find_commands_with_author() -> Iterator[str]:
    for name, app in get_commands().items():
        if str(app).startswith(("config_admin", "audit", "convengine")):
            command: BaseCommand = load_command_class(str(app), name)
            parser = command.create_parser("manage.py", name)
            yield from find_parsers_with_author(name, parser)


def find_parsers_with_author(name: str, parser: ArgumentParser) -> Iterator[str]:
    for action in parser._actions:
        if "--author" in action.option_strings:
            yield name
        elif isinstance(action.choices, dict):
            for word, below in action.choices.items():
                yield from find_parsers_with_author(f"{name} {word}", below)
