"""Signing in with a browser: through a provider, with second factors, and out of all sessions."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.axe import no_violations
from tests.convengine.server.sign_in.fixtures import SetUser
from tests.convengine.server.sign_in.site import LABEL, PASSWORD, Site, find_free_port, make_code, serve

pytestmark = pytest.mark.browser
FACTORS = "/admin/account/second-factor/"


def sign_in_by_password(page: Page, site: Site, name: str) -> None:
    page.goto(f"{site.url}/admin/login/")
    page.get_by_label("Username").fill(name)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Log in").click()


def add_app(page: Page, site: Site) -> str:
    """Add an authenticator app; gives its secret."""
    page.goto(f"{site.url}{FACTORS}totp/activate/")
    if page.get_by_label("Password").count():
        page.get_by_label("Password").fill(PASSWORD)
        page.get_by_role("button", name="Confirm").click()
    secret = page.get_by_label("Authenticator secret").input_value()
    page.get_by_label("Authenticator code").fill(make_code(secret))
    page.get_by_role("button", name="Activate").click()
    return secret


@pytest.fixture
def tab(browser: Browser) -> Page:
    return browser.new_context(viewport={"width": 1280, "height": 900}).new_page()


def test_a_user_signs_in_by_the_provider_and_returns_to_the_page(tab: Page, site: Site, set_user: SetUser) -> None:
    set_user("walker", "bots-analyst")
    tab.goto(f"{site.url}/admin/config_admin/cerule/")
    no_violations(tab)
    tab.get_by_role("button", name=LABEL).click()

    expect(tab).to_have_url(f"{site.url}/admin/config_admin/cerule/")

    set_user("walker", "bots-qa")
    site.age_sessions(181)
    tab.goto(f"{site.url}/admin/config_admin/cerule/")
    expect(tab.get_by_role("link", name="Add")).to_have_count(0)
    set_user("walker")
    site.age_sessions(181)
    tab.reload()
    expect(tab.get_by_text("Your session has ended: you are in no group that may work here.")).to_be_visible()


@pytest.mark.extra("saml-provider")
def test_a_user_signs_in_by_saml_and_again_after_an_hour(tab: Page, saml_site: Site, set_user: SetUser) -> None:
    set_user("rambler", "bots-analyst")
    page = f"{saml_site.url}/admin/config_admin/cerule/"
    for words in ("Or with a password:", "Your session has ended: the provider must confirm it again."):
        tab.goto(page)
        expect(tab.get_by_text(words)).to_be_visible()
        no_violations(tab)
        tab.get_by_role("button", name=LABEL).click()
        expect(tab).to_have_url(page)
        saml_site.age_sessions(3601)


@pytest.mark.extra("saml-provider")
def test_a_saml_answer_goes_on_without_scripts(browser: Browser, saml_site: Site) -> None:
    tab = browser.new_context(java_script_enabled=False).new_page()
    tab.set_content(
        f"<form method='post' action='{saml_site.url}/admin/account/provider/answer/'><button>Send</button></form>"
    )
    tab.get_by_role("button", name="Send").click()
    tab.get_by_role("button", name="Continue").click()
    expect(tab.get_by_text("the provider's answer is refused: it cannot be read")).to_be_visible()


def test_a_second_factor_a_recovery_code_and_the_end_of_all_sessions(tab: Page, site: Site, browser: Browser) -> None:
    sign_in_by_password(tab, site, "local-qa")
    secret = add_app(tab, site)
    codes = re.findall(r"\b\d{8}\b", tab.get_by_label("Unused codes").input_value())
    assert len(codes) == 10
    no_violations(tab)

    other = browser.new_context().new_page()
    sign_in_by_password(other, site, "local-qa")
    expect(other.get_by_role("heading", name="Two-Factor Authentication")).to_be_visible()
    no_violations(other)
    other.get_by_label("Code").fill("000000")
    other.get_by_role("button", name="Sign In").click()
    expect(other.get_by_text("Incorrect code.")).to_be_visible()
    assert ("local-qa", "second factor: wrong code") in site.read_log("SIGN_IN_REFUSED")
    used = make_code(secret)
    other.get_by_label("Code").fill(used)
    other.get_by_role("button", name="Sign In").click()
    expect(other).to_have_url(f"{site.url}/admin/")
    assert ("local-qa", "password, authenticator app") in site.read_log("SIGN_IN")

    third = browser.new_context().new_page()
    sign_in_by_password(third, site, "local-qa")
    third.get_by_label("Code").fill(used)
    third.get_by_role("button", name="Sign In").click()
    expect(third.get_by_text(re.compile("was used already|Incorrect code"))).to_be_visible()
    third.get_by_label("Code").fill(codes[0])
    third.get_by_role("button", name="Sign In").click()
    expect(third).to_have_url(f"{site.url}/admin/")
    assert ("local-qa", "password, recovery codes") in site.read_log("SIGN_IN")

    third.goto(f"{site.url}/admin/account/sessions/")
    no_violations(third)
    third.get_by_role("button", name="End all other sessions").click()
    for ended in (tab, other):
        ended.goto(f"{site.url}/admin/")
        expect(ended.get_by_label("Username")).to_be_visible()
    third.goto(f"{site.url}/admin/")
    expect(third.get_by_label("Username")).to_have_count(0)


def test_a_security_key_signs_in(tab: Page, site: Site, browser: Browser) -> None:
    session = tab.context.new_cdp_session(tab)
    session.send("WebAuthn.enable")
    options = {"protocol": "ctap2", "transport": "usb", "automaticPresenceSimulation": True, "isUserVerified": True}
    session.send("WebAuthn.addVirtualAuthenticator", {"options": {**options, "hasUserVerification": True}})
    address = site.url.replace("127.0.0.1", "localhost")
    here = Site(address, site.file)
    sign_in_by_password(tab, here, "local-operator")
    tab.goto(f"{address}{FACTORS}webauthn/add/")
    if tab.get_by_label("Password").count():
        tab.get_by_label("Password").fill(PASSWORD)
        tab.get_by_role("button", name="Confirm").click()
    tab.get_by_role("button", name="Add").click()
    expect(tab.get_by_text("Recovery Codes").first).to_be_visible()
    tab.context.clear_cookies()
    sign_in_by_password(tab, here, "local-operator")
    tab.get_by_role("button", name="Use a security key").click()

    expect(tab).to_have_url(f"{address}/admin/")
    assert ("local-operator", "password, security key") in site.read_log("SIGN_IN")


def test_an_administrator_ends_sessions_and_removes_a_lost_second_factor(
    tab: Page, site: Site, browser: Browser
) -> None:
    sign_in_by_password(tab, site, "local-integrator")
    add_app(tab, site)
    ada = browser.new_context().new_page()
    sign_in_by_password(ada, site, "ada")
    for page, removed in (("usersessions/usersession", "user session removed"), ("mfa/authenticator", "removed: ")):
        ada.goto(f"{site.url}/admin/{page}/?q=local-integrator")
        no_violations(ada)
        ada.locator("#action-toggle").check()
        ada.get_by_label("Select action").or_(ada.locator("select[name=action]")).first.select_option("delete_selected")
        ada.get_by_role("button", name=re.compile("Run|Go")).click()
        ada.get_by_role("button", name=re.compile("Yes")).click()
        assert any(removed in details for _, details in site.read_log("ACCESS_CHANGED"))

    tab.goto(f"{site.url}/admin/")
    expect(tab.get_by_label("Username")).to_be_visible()
    sign_in_by_password(tab, site, "local-integrator")
    expect(tab).to_have_url(f"{site.url}/admin/")


def test_users_who_may_publish_add_the_required_second_factor_first(tab: Page, tmp_path: Path) -> None:
    with serve(tmp_path, "", find_free_port(), CE_SECOND_FACTOR="required") as strict:
        sign_in_by_password(tab, strict, "local-analyst")
        expect(tab.get_by_text("Add a second factor: users who may publish need one.")).to_be_visible()
        tab.goto(f"{strict.url}/admin/config_admin/cerule/")
        expect(tab).to_have_url(f"{strict.url}{FACTORS}")
        add_app(tab, strict)
        expect(tab.get_by_label("Unused codes")).to_be_visible()
        tab.goto(f"{strict.url}/admin/config_admin/cerule/")
        expect(tab).to_have_url(f"{strict.url}/admin/config_admin/cerule/")
