"""Drafts from the command line: imported into, shown, published, discarded."""

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.core.management import CommandError, call_command

from config_admin import models as m
from config_admin.releases import head
from config_admin.releases.change_set import change_set
from tests.config_admin.builders import make

pytestmark = pytest.mark.django_db
POLICY = {"policy_id": 7, "rule_type": "CONTAINS", "pattern": "cvv", "response_text": "No cards."}


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "some.json"
    path.write_text(json.dumps({"ce_policy": [POLICY]}))
    return str(path)


def run(*arguments: str) -> Any:
    out = StringIO()
    call_command(*arguments, "--json", stdout=out)
    return json.loads(out.getvalue())


@pytest.fixture(autouse=True)
def people() -> None:
    """Authors of drafts, who may do everything."""
    for name in ("ada", "ben"):
        User.objects.create_superuser(name)


def test_an_import_into_a_draft_is_published_as_one_release(file: str) -> None:
    before = head.newest()
    assert run("config_import", file, "--draft", "Cards", "--apply", "--author", "ada")["draft"] == "Cards"
    assert head.newest() == before
    assert run("draft", "list") == {"drafts": [{"draft": "Cards", "changes": 1, "createdBy": "ada"}]}
    assert run("draft", "show", "Cards")["changes"] == [{"how": "added", "table": "ce_policy", "row": 7}]

    published = run("draft", "publish", "Cards", "--author", "ben", "--reason", "agreed")
    assert published == {"draft": "Cards", "published": True, "release": before + 1}
    release = m.CeRelease.objects.get(pk=before + 1)
    assert (release.author, release.reason, m.CePolicy.objects.get().pattern) == ("ben", "Cards: agreed", "cvv")


def test_a_preview_makes_no_draft(file: str) -> None:
    run("config_import", file, "--draft", "Cards")
    assert not m.CeDraft.objects.exists()


def test_a_conflict_publishes_nothing_and_has_its_status(file: str) -> None:
    with change_set():
        make(m.CePolicy, **{**POLICY, "pattern": "cvc"})
    run("config_import", file, "--draft", "Cards", "--apply", "--mode", "update")
    m.CePolicy.objects.update(pattern="cvs")
    before, out = head.newest(), StringIO()
    with pytest.raises(SystemExit) as ended:
        call_command("draft", "publish", "Cards", stdout=out)
    assert (ended.value.code, head.newest()) == (1, before)
    assert "conflicts: ce_policy 7 ['pattern']" in out.getvalue()


def publish_in_vain(*options: str) -> str:
    """What the command prints that publishes nothing."""
    out, before = StringIO(), head.newest()
    with pytest.raises(SystemExit) as ended:
        call_command("draft", "publish", "Cards", *options, stdout=out)
    assert (ended.value.code, head.newest()) == (1, before)
    return out.getvalue()


def test_an_empty_draft_says_why_it_is_not_published() -> None:
    run("draft", "create", "Cards")

    assert "problem: The draft has no changes yet, so there is nothing to publish.\n" in publish_in_vain()
    assert json.loads(publish_in_vain("--json"))["problem"].startswith("The draft has no changes yet")
    assert run("draft", "show", "Cards")["problems"] == [
        "The draft has no changes yet, so there is nothing to publish."
    ]


def test_a_draft_whose_changes_were_made_live_says_so(file: str) -> None:
    run("config_import", file, "--draft", "Cards", "--apply", "--author", "ada")
    run("config_import", file, "--apply", "--author", "ben")

    assert "problem: All changes of the draft are live already" in publish_in_vain()


def test_an_empty_draft_is_not_scheduled_either() -> None:
    run("draft", "create", "Cards")
    out = StringIO()
    with pytest.raises(SystemExit):
        call_command("draft", "schedule", "Cards", "--at", "2999-01-01T08:00", stdout=out)

    assert "The draft has no changes yet, so there is nothing to publish." in out.getvalue()


def test_a_discarded_draft_changes_nothing(file: str) -> None:
    run("config_import", file, "--draft", "Cards", "--apply")
    before = head.newest()
    run("draft", "discard", "Cards")
    assert (head.newest(), run("draft", "list")) == (before, {"drafts": []})
    with pytest.raises(CommandError, match="no open draft"):
        call_command("draft", "show", "Cards")


def test_where_changes_are_reviewed_an_import_names_the_remedy(file: str) -> None:
    m.CeConfig.objects.create(config_type="Releases", config_key="MODE", config_value="REVIEWED")
    with pytest.raises(CommandError, match="--draft TITLE"):
        call_command("config_import", file, "--apply", stdout=StringIO())
    run("config_import", file, "--draft", "Cards", "--apply")
    assert m.CeDraft.objects.get().edits.count() == 1


def refuse(*arguments: str) -> Any:
    """Run a command that is refused: status 1."""
    out = StringIO()
    with pytest.raises(SystemExit) as exit:
        call_command(*arguments, "--json", stdout=out)
    assert exit.value.code == 1
    return json.loads(out.getvalue())


def test_a_draft_is_made_once() -> None:
    assert run("draft", "create", "Cards", "--author", "ada") == {"draft": "Cards", "status": "OPEN"}
    assert "already exists" in refuse("draft", "create", "Cards")["problem"]


def test_a_draft_is_reviewed(file: str) -> None:
    user = User.objects.create_user("bob", is_staff=True)
    user.groups.add(Group.objects.get(name="qa"))
    m.CeConfig.objects.create(config_type="Releases", config_key="APPROVALS", config_value="1")
    run("config_import", file, "--draft", "Cards", "--apply", "--author", "ada")
    refused = refuse("draft", "publish", "Cards")
    assert (refused["published"], "1 person must approve" in refused["problem"]) == (False, True)

    assert run("draft", "send", "Cards", "--reviewer", "bob", "--author", "ada")["entry"] == "SENT"
    assert run("draft", "comment", "Cards", "--text", "Why?", "--author", "bob")["entry"] == "COMMENT"
    assert "Say in a comment" in refuse("draft", "return", "Cards", "--author", "bob")["problem"]
    assert run("draft", "approve", "Cards", "--author", "bob") == {"draft": "Cards", "entry": "APPROVED", "by": "bob"}
    shown = run("draft", "show", "Cards")
    assert (shown["approvals"], shown["neededApprovals"], shown["problems"]) == (["bob"], 1, [])
    assert [entry["kind"] for entry in shown["entries"]] == ["SENT", "COMMENT", "APPROVED"]
    assert run("draft", "publish", "Cards")["published"] is True


def test_only_users_with_the_right_approve(file: str) -> None:
    run("config_import", file, "--draft", "Cards", "--apply", "--author", "ada")
    User.objects.create_user("eve", is_staff=True)
    assert "it needs the permission" in refuse("draft", "approve", "Cards", "--author", "eve")["problem"]
    for arguments in ([], ["--author", "nobody"]):
        with pytest.raises(CommandError) as wrong:
            run("draft", "approve", "Cards", *arguments)
        assert wrong.value.returncode == 2


def test_a_draft_is_scheduled_and_cancelled(file: str) -> None:
    run("config_import", file, "--draft", "Cards", "--apply", "--author", "ada")
    times = run("draft", "schedule", "Cards", "--at", "2099-12-24T08:00", "--until", "2099-12-27T08:00")
    assert (times["publishAt"], times["takeBackAt"]) == ("2099-12-24T08:00:00+00:00", "2099-12-27T08:00:00+00:00")
    assert run("draft", "show", "Cards")["schedule"]["status"] == "WAITING"
    assert run("draft", "cancel", "Cards") == {"draft": "Cards", "scheduled": False}
    assert "The time has passed" in refuse("draft", "schedule", "Cards", "--at", "2020-01-01T08:00")["problem"]
    with pytest.raises(CommandError, match="is not a time"):
        run("draft", "schedule", "Cards", "--at", "soon")
