"""A release is restored, or taken back, by command and API."""

import json
from io import StringIO
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command

from config_admin.models import CePolicy, CeRelease
from config_admin.releases import head
from config_admin.releases.change_set import change_set
from tests.api import Caller, make_key
from tests.config_admin.builders import make

pytestmark = pytest.mark.django_db


@pytest.fixture
def releases() -> list[int]:
    """The numbers of three releases: a policy, another one, and a change of the first."""
    made = []
    with change_set(reason="one"):
        make(CePolicy, policy_id=1, pattern="cvv")
    made.append(head.newest())
    with change_set(reason="two"):
        make(CePolicy, policy_id=2, pattern="pin")
    made.append(head.newest())
    with change_set(reason="three"):
        CePolicy.objects.filter(pk=1).update(pattern="cvc")
    return [*made, head.newest()]


def patterns() -> list[str]:
    return list(CePolicy.objects.order_by("pk").values_list("pattern", flat=True))


def run(*args: Any) -> str:
    out = StringIO()
    call_command("config_rollback", *args, stdout=out)
    return out.getvalue()


def test_the_command_rolls_back_to_a_release(releases: list[int]) -> None:
    assert "Nothing was changed." in run(releases[0], "--preview")
    assert patterns() == ["cvc", "pin"]
    User.objects.create_superuser("ada")
    made = json.loads(run(releases[0], "--json", "--author", "ada", "--reason", "wrong"))
    release = CeRelease.objects.get(pk=made["release"])
    assert (patterns(), release.origin, release.author, release.reason) == (["cvv"], "ROLLBACK", "ada", "wrong")
    assert "There is nothing to change." in run(releases[0])


def test_the_command_takes_one_release_back(releases: list[int]) -> None:
    run(releases[1], "--undo")
    assert patterns() == ["cvc"]
    with pytest.raises(CommandError, match="cannot be undone"):
        run(releases[0], "--undo")
    with pytest.raises(CommandError, match="cannot be undone"):
        run(releases[0], "--undo", "--preview")


def test_the_command_refuses_an_unknown_release() -> None:
    for number in (999, 0):
        with pytest.raises(CommandError, match=f"Release {number} does not exist"):
            run(number)


def call(path: str, **body: Any) -> Any:
    caller = Caller(make_key(scopes=["config"]))
    headers = {"Authorization": f"Api-Key {caller.secret}"}
    return caller.client.post(f"/api/v1/config/releases/{path}", json.dumps(body), "application/json", headers=headers)


def test_the_api_rolls_back_and_takes_back(releases: list[int]) -> None:
    preview = call(f"{releases[0]}/restore", apply=False).json()
    assert (preview["release"], list(preview["diff"]), preview["stranded"]) == (None, ["ce_policy"], [])
    assert patterns() == ["cvc", "pin"]

    undone = call(f"{releases[1]}/undo", reason="too much").json()
    assert (patterns(), CeRelease.objects.get(pk=undone["release"]).reason) == (["cvc"], "too much")
    refused = call(f"{releases[0]}/undo")
    assert refused.status_code == 422
    assert "cannot be undone" in refused.json()["problems"][0]
    assert call(f"{releases[0]}/undo", apply=False).status_code == 422

    assert call(f"{releases[0]}/restore").json()["release"] == head.newest()
    assert patterns() == ["cvv"]
    assert [call(f"{number}/restore").status_code for number in (999, 0)] == [404, 404]
    assert patterns() == ["cvv"]


def test_the_api_lists_releases(releases: list[int]) -> None:
    caller = Caller(make_key(scopes=["config"]))
    headers = {"Authorization": f"Api-Key {caller.secret}"}
    listed = caller.client.get("/api/v1/config/releases", headers=headers).json()["releases"]
    assert [each["release"] for each in listed[:3]] == releases[::-1]
    assert (listed[0]["reason"], len(listed[0]["contentHash"])) == ("three", 64)
