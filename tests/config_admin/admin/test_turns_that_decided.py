"""From a row and from a release to the turns that it decided, for whoever may read turns."""

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse

from config_admin.models import CeRelease, CeRule, CeVerbose
from tests.config_admin.builders import make
from tests.sign_in import sign_in_superuser

pytestmark = pytest.mark.django_db


@pytest.fixture
def ada() -> Client:
    return sign_in_superuser()


def test_a_row_leads_to_the_turns_that_it_decided(ada: Client) -> None:
    rule, text = make(CeRule), make(CeVerbose)

    shown = ada.get(reverse("admin:config_admin_cerule_change", args=[rule.pk])).content.decode()
    never = ada.get(reverse("admin:config_admin_ceverbose_change", args=[text.pk])).content.decode()

    assert f'href="/admin/audit/ceaudit/find/?table=ce_rule&amp;row={rule.pk}"' in shown
    assert "Turns that used it" not in never


def test_a_release_leads_to_the_turns_that_ran_on_it(ada: Client) -> None:
    make(CeRule)
    release = CeRelease.objects.latest("config_version")
    address = reverse("admin:config_admin_cerelease_change", args=[release.pk])
    user = User.objects.create_user("rita", is_staff=True)
    user.user_permissions.add(Permission.objects.get(codename="view_cerelease"))
    rita = Client()
    rita.force_login(user)

    assert f"/admin/audit/ceaudit/find/?release={release.pk}" in ada.get(address).content.decode()
    assert "Turns that ran on it" not in rita.get(address).content.decode()
