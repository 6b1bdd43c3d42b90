"""People and groups: what a group may do is all in sight, and comes from nothing else."""

import pytest
from django.contrib.auth.models import Group, Permission, User
from django.test import Client

pytestmark = pytest.mark.django_db


@pytest.fixture
def admin(client: Client) -> Client:
    client.force_login(User.objects.create_superuser("ada"))
    return client


def test_rights_stand_below_what_they_are_about(admin: Client) -> None:
    group = Group.objects.get(name="qa")
    page = admin.get(f"/admin/auth/group/{group.pk}/change/").content.decode()

    assert "<legend>audit event</legend>" in page
    assert "run a background job now" in page
    assert "historical" not in page


def test_rights_are_given_by_ticking_them(admin: Client) -> None:
    group = Group.objects.create(name="guests")
    right = Permission.objects.get(codename="view_cerule")
    admin.post(f"/admin/auth/group/{group.pk}/change/", {"name": "guests", "permissions": [right.pk]})

    assert list(group.permissions.all()) == [right]


def test_a_person_is_given_groups_and_no_rights_of_their_own(admin: Client) -> None:
    ben = User.objects.create_user("ben", is_staff=True)
    page = admin.get(f"/admin/auth/user/{ben.pk}/change/").content.decode()

    assert 'name="groups"' in page
    assert 'name="user_permissions"' not in page


def test_the_last_active_administrator_stays(admin: Client) -> None:
    ada = User.objects.get(username="ada")
    page, fields = f"/admin/auth/user/{ada.pk}/change/", {"username": "ada", "is_staff": "on"}

    for kept in ({"is_active": "on"}, {"is_superuser": "on"}):
        answer = admin.post(page, {**fields, **kept})
        assert "This is the last active administrator. Appoint another one first." in answer.content.decode()
    for address, fields_of_deletion in (
        (f"/admin/auth/user/{ada.pk}/delete/", {"post": "yes"}),
        ("/admin/auth/user/", {"action": "delete_selected", "_selected_action": ada.pk, "post": "yes"}),
    ):
        answer = admin.post(address, fields_of_deletion)
        assert "This is the last active administrator. Appoint another one first." in answer.content.decode()
    User.objects.create_superuser("bea")
    admin.post(page, {**fields, "is_superuser": "on"})

    ada.refresh_from_db()
    assert not ada.is_active
