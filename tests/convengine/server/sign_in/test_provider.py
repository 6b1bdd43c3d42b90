"""Users who sign in through a real OpenID provider, django-oauth-toolkit, which runs beside the server."""

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from django.contrib import admin
from django.urls import NoReverseMatch, reverse

from convengine.server.admin_site.rights import GROUPS
from tests.convengine.server.sign_in.fixtures import SetUser
from tests.convengine.server.sign_in.site import LABEL, Site, Visitor

pytestmark = pytest.mark.slow
RULES, GROUP_PAGE = "/admin/config_admin/cerule/", "/admin/ce_sign_in/cegroupmapping/"


def list_groups(site: Site, name: str) -> set[str]:
    statement = (
        "SELECT g.name FROM auth_group g JOIN auth_user_groups m ON m.group_id = g.id "
        "JOIN auth_user u ON u.id = m.user_id WHERE u.username = ?"
    )
    return {row[0] for row in site.query(statement, name)}


def test_a_new_user_has_the_groups_that_the_claims_are_here(site: Site, set_user: SetUser) -> None:
    set_user("anna", "bots-analyst", "bots-qa", "canteen")
    visitor = Visitor(site)

    page = visitor.sign_in(RULES)

    assert page.url == f"{site.url}{RULES}"
    assert list_groups(site, "anna") == {"analyst", "qa"}
    assert ("anna", LABEL) in site.read_log("SIGN_IN")
    changes = site.read_log("ACCESS_CHANGED")
    assert ("anna", "user added at the first sign-in through the provider") in changes
    assert ("anna", "groups from the provider: +analyst +qa") in changes
    # Of the claims, only the user's number at the provider is stored.
    assert site.query("SELECT extra_data FROM socialaccount_socialaccount") == [("{}",)]
    assert Visitor(site).sign_in().status_code == 200
    assert len([name for name in site.list_users() if name.startswith("anna")]) == 1


def test_rights_follow_the_provider_within_minutes(site: Site, set_user: SetUser) -> None:
    set_user("mover", "bots-analyst")
    visitor = Visitor(site)
    visitor.sign_in()
    assert visitor.get(f"{RULES}add/").status_code == 200

    set_user("mover", "bots-qa")
    assert visitor.get(f"{RULES}add/").status_code == 200
    site.age_sessions(181)
    assert visitor.get(f"{RULES}add/").status_code == 403
    assert visitor.get(RULES).status_code == 200
    assert ("mover", "groups from the provider: +qa -analyst") in site.read_log("ACCESS_CHANGED")

    set_user("mover")
    site.age_sessions(181)
    page = visitor.get(RULES)
    assert page.url.startswith(f"{site.url}/admin/login/")
    assert "Your session has ended: you are in no group that may work here." in page.text
    assert list_groups(site, "mover") == set()
    assert "you are in no group that may work here" in visitor.sign_in().text


def test_a_user_whose_tokens_the_provider_takes_back_is_signed_out(
    site: Site, set_user: SetUser, provider_folder: Path
) -> None:
    set_user("leaver", "bots-analyst")
    visitor = Visitor(site)
    visitor.sign_in()
    with sqlite3.connect(provider_folder / "provider.sqlite3", timeout=20) as connection:
        connection.execute("UPDATE oauth2_provider_refreshtoken SET revoked = CURRENT_TIMESTAMP")
    site.age_sessions(181)

    assert "the provider no longer confirms it" in visitor.get(RULES).text
    assert not visitor.is_signed_in


def test_pages_that_are_opened_at_once_ask_the_provider_once(site: Site, set_user: SetUser) -> None:
    set_user("hasty", "bots-qa")
    visitor = Visitor(site)
    visitor.sign_in()
    site.age_sessions(400)

    with ThreadPoolExecutor(6) as pool:
        pages = list(pool.map(lambda _: visitor.get(RULES), range(6)))

    assert [page.url for page in pages] == [f"{site.url}{RULES}"] * 6
    assert visitor.is_signed_in


def test_a_user_of_the_provider_is_never_one_who_is_here_already(site: Site, set_user: SetUser) -> None:
    set_user("ada", "bots-qa", sub="1", is_superuser=True)
    visitor = Visitor(site)
    visitor.sign_in()

    assert visitor.get("/admin/auth/user/").status_code == 403
    assert site.query("SELECT COUNT(*) FROM auth_user WHERE is_superuser") == [(1,)]


def test_only_administrators_map_groups_and_each_change_is_logged(site: Site, set_user: SetUser) -> None:
    set_user("curious", "bots-config_admin")
    curious, ada = Visitor(site), Visitor(site)
    curious.sign_in()
    assert curious.get(f"{GROUP_PAGE}add/").status_code == 403
    assert ada.sign_in_by_password("ada").status_code == 200

    operator = site.query("SELECT id FROM auth_group WHERE name = 'operator'")[0][0]
    analyst = site.query("SELECT id FROM auth_group WHERE name = 'analyst'")[0][0]
    ada.post(f"{GROUP_PAGE}add/", data={"claim": "night-shift", "group": operator})
    key = site.query("SELECT id FROM ce_group_mapping WHERE claim = 'night-shift'")[0][0]
    ada.post(f"{GROUP_PAGE}{key}/change/", data={"claim": "night-shift", "group": analyst})
    ada.post(f"{GROUP_PAGE}{key}/delete/", data={"post": "yes"})

    assert [details for name, details in site.read_log("ACCESS_CHANGED") if name == "ada"] == [
        "group of the provider added: night-shift → operator",
        "group of the provider changed: night-shift → operator is now night-shift → analyst",
        "group of the provider removed: night-shift → analyst",
    ]


def test_passwords_are_slowed_down_as_before(site: Site) -> None:
    visitor = Visitor(site)
    pages = [visitor.sign_in_by_password("guessed", f"wrong {number}").text for number in range(7)]

    assert "Too many attempts to sign in. Try again in " in pages[-1]
    assert ("(unknown user)", "password: too many attempts") in site.read_log("SIGN_IN_REFUSED")


def test_a_wrong_repeated_password_is_logged(site: Site) -> None:
    visitor = Visitor(site)
    visitor.sign_in_by_password("local-qa")

    visitor.post("/admin/account/again/", data={"password": "wrong"})

    assert ("local-qa", "repeated password: wrong password") in site.read_log("SIGN_IN_REFUSED")


def test_an_administrator_connects_their_own_user(site: Site, set_user: SetUser) -> None:
    set_user("ada-at-work")
    ada = Visitor(site)
    ada.sign_in_by_password("ada")

    again = ada.http.get(ada.begin("/admin/account/sessions/"), timeout=30)
    assert "Enter your password" in again.text
    ada.post("/admin/account/again/", data={"password": "right horse battery"})

    assert ("ada", "sign-in through the provider connected") in site.read_log("ACCESS_CHANGED")
    other = Visitor(site)
    assert other.sign_in().status_code == 200
    assert ("ada", LABEL) in site.read_log("SIGN_IN")
    # The provider appoints no administrators, and dismisses none.
    site.age_sessions(181)
    assert other.is_signed_in


@pytest.mark.long
@pytest.mark.parametrize("group", [group.name for group in GROUPS])
def test_a_user_of_the_provider_may_open_what_one_with_a_password_may(
    site: Site, set_user: SetUser, group: str
) -> None:
    set_user(f"by-{group}", f"bots-{group}")
    visitor = Visitor(site)
    visitor.sign_in()
    compare_rights(visitor, group)


def compare_rights(by_provider: Visitor, group: str) -> None:
    local = Visitor(by_provider.site)
    local.sign_in_by_password(f"local-{group}")
    assert by_provider.is_signed_in
    assert local.is_signed_in
    for address in list_pages():
        expected, status = (visitor.get(address).status_code for visitor in (local, by_provider))
        assert status == expected, address


def list_pages() -> list[str]:
    """The lists of the admin and the forms for new rows, and the pages of a user's own."""
    pages = ["/admin/", RULES, GROUP_PAGE, "/admin/usersessions/usersession/", "/admin/mfa/authenticator/"]
    for model in admin.site._registry:
        for page in ("changelist", "add"):
            try:
                pages.append(reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_{page}"))
            except NoReverseMatch:
                continue
    return pages
