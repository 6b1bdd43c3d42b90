"""The weekly page in the admin: for readers of conversations only, and reading it is logged."""

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client
from django.urls import reverse

from audit.models import CeAccessLog

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(("group", "status"), [("qa", 200), ("operator", 403)])
def test_who_may_read_conversations_sees_it(group: str, status: int) -> None:
    user = User.objects.create_user("quinn", is_staff=True)
    user.groups.add(Group.objects.get(name=group))
    client, address = Client(), reverse("admin:audit_ceaudit_weekly")
    client.force_login(user)
    assert client.get(address).status_code == status
    assert CeAccessLog.objects.filter(reader="quinn", path=address).exists() is (status == 200)
    if status == 200:
        response = client.get(address, {"file": ""})
        assert response["Content-Disposition"] == 'attachment; filename="week.html"'
