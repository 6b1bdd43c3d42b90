"""Sign-in by SAML: what users can do, and wrong answers. Each is refused in words, and nothing of it is stored."""

import html
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import requests

from convengine.server.admin_site.rights import GROUPS
from tests.convengine.server.sign_in.fixtures import SetUser
from tests.convengine.server.sign_in.saml_provider import (
    ASSERTION,
    ENTITY,
    RESPONSE,
    Key,
    ScriptedProvider,
    read_request,
    send,
    sign_in_by_page,
)
from tests.convengine.server.sign_in.site import LABEL, PASSWORD, Site, Visitor, find_free_port, serve
from tests.convengine.server.sign_in.test_policies import run
from tests.convengine.server.sign_in.test_provider import compare_rights, list_groups
from tests.convengine.server.sign_in.test_refused_answers import ELSEWHERE
from tests.fakes.http_server import Reply, serving

pytestmark = [pytest.mark.slow, pytest.mark.extra("saml")]
RULES = "/admin/config_admin/cerule/"
SHA1 = "http://www.w3.org/2000/09/xmldsig#rsa-sha1"
OTHER_KEY = Key()


@pytest.fixture(scope="module")
def scripted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[ScriptedProvider, Site]]:
    folder = tmp_path_factory.mktemp("saml")
    provider = ScriptedProvider(Key(), folder / "provider.xml")
    provider.write_metadata()
    variables = {"CE_SAML_ENTITY_ID": ENTITY, "CE_SAML_METADATA": str(provider.file), "CE_SECOND_FACTOR": "required"}
    with serve(folder, "", find_free_port(), **variables) as site:
        yield provider, site


def begin(provider: ScriptedProvider, visitor: Visitor, target: str = "/admin/", **changes: Any) -> dict[str, str]:
    """A sign-in begins; gives the parts of the provider's answer."""
    return provider.describe(read_request(visitor.begin(target)), **changes)


def sign_in(provider: ScriptedProvider, site: Site, target: str = "/admin/", **changes: Any) -> tuple[Visitor, Any]:
    visitor = Visitor(site)
    return visitor, send(visitor, provider.write(begin(provider, visitor, target, **changes)))


def read_refusal(page: Any) -> str:
    found = re.search(r"You cannot sign in: .+", html.unescape(page.text))
    return found[0] if found else str(page.url)


def test_a_user_signs_in_and_returns_to_the_page(scripted: tuple[ScriptedProvider, Site]) -> None:
    provider, site = scripted
    _, page = sign_in(provider, site, RULES, user="sam", groups=["bots-qa", "canteen"])

    assert page.url == f"{site.url}{RULES}"
    assert list_groups(site, "sam") == {"qa"}
    assert ("sam", LABEL) in site.read_log("SIGN_IN")
    assert ("sam", "groups from the provider: +qa") in site.read_log("ACCESS_CHANGED")
    assert site.query("SELECT uid, extra_data FROM socialaccount_socialaccount WHERE uid = 'sam'") == [("sam", "{}")]

    sign_in(provider, site, user="sam", groups=["bots-operator"])
    assert list_groups(site, "sam") == {"operator"}
    _, page = sign_in(provider, site, user="sam", groups=["canteen"])
    assert "you are in no group that may work here" in page.text


@pytest.mark.parametrize(("session", "seconds"), [("", 3600), (7200, 3600), (600, 600)])
def test_a_session_ends_after_an_hour_or_when_the_provider_says(
    scripted: tuple[ScriptedProvider, Site], session: Any, seconds: int
) -> None:
    provider, site = scripted
    visitor, _ = sign_in(provider, site, user="timed", session=session)
    site.age_sessions(seconds - 20)
    assert visitor.is_signed_in
    site.age_sessions(30)

    page = visitor.get(RULES)

    assert "Your session has ended: the provider must confirm it again." in page.text
    assert f'name="next" value="{RULES}"' in page.text
    assert not visitor.is_signed_in


def test_a_session_of_an_openid_provider_with_the_same_name_ends(scripted: tuple[ScriptedProvider, Site]) -> None:
    provider, site = scripted
    visitor, _ = sign_in(provider, site, user="switched")
    site.change_sessions(lambda _: {"issuer": ENTITY})
    assert "Your session has ended: it began at another provider." in visitor.get(RULES).text


def test_an_administrator_connects_their_own_user(scripted: tuple[ScriptedProvider, Site]) -> None:
    provider, site = scripted
    ada = Visitor(site)
    ada.sign_in_by_password("ada")
    send(ada, provider.write(begin(provider, ada, "/admin/account/sessions/", user="ada-at-work", groups=[])))
    ada.post("/admin/account/again/", data={"password": PASSWORD})
    assert ("ada", "sign-in through the provider connected") in site.read_log("ACCESS_CHANGED")

    visitor, _ = sign_in(provider, site, user="ada-at-work", groups=[], context="https://refeds.org/profile/mfa")

    assert visitor.get("/admin/auth/user/").url == f"{site.url}/admin/auth/user/"


@pytest.mark.parametrize(
    ("context", "is_stopped"),
    [
        ("urn:oasis:names:tc:SAML:2.0:ac:classes:PasswordProtectedTransport", True),
        ("https://refeds.org/profile/mfa", False),
    ],
)
def test_the_provider_may_have_checked_the_second_factor(
    scripted: tuple[ScriptedProvider, Site], context: str, is_stopped: bool
) -> None:
    provider, site = scripted
    visitor, _ = sign_in(provider, site, user=f"factor{is_stopped}", groups=["bots-analyst"], context=context)

    assert ("/admin/account/second-factor/" in visitor.get(RULES).url) is is_stopped


def test_the_metadata_of_this_server_names_where_answers_go(scripted: tuple[ScriptedProvider, Site]) -> None:
    _, site = scripted
    address = f"{site.url}/admin/account/provider"

    page = requests.get(f"{address}/metadata/", timeout=30)

    assert f'entityID="{address}/metadata/"' in page.text
    assert f'Location="{address}/answer/"' in page.text
    assert 'WantAssertionsSigned="true"' in page.text
    assert "validUntil" not in page.text


def test_no_answer_leads_to_another_host(scripted: tuple[ScriptedProvider, Site]) -> None:
    provider, site = scripted
    for target in ELSEWHERE[::6]:
        visitor = Visitor(site)
        answer = provider.write(begin(provider, visitor, target, user="traveller"))
        assert send(visitor, answer, RelayState=target).url == f"{site.url}/admin/", target


@pytest.mark.extra("saml-provider")
def test_groups_of_a_real_provider_are_groups_here(saml_site: Site, set_user: SetUser) -> None:
    set_user("paula", "bots-analyst", "canteen")
    visitor = Visitor(saml_site)

    assert sign_in_by_page(visitor, RULES).url == f"{saml_site.url}{RULES}"

    assert list_groups(saml_site, "paula") == {"analyst"}
    set_user("paula")
    assert "you are in no group that may work here" in sign_in_by_page(Visitor(saml_site)).text


# The groups go the way of OpenID, which CI walks through.
@pytest.mark.long
@pytest.mark.nightly
@pytest.mark.extra("saml-provider")
@pytest.mark.parametrize("group", [group.name for group in GROUPS])
def test_a_user_of_a_real_provider_may_open_what_one_with_a_password_may(
    saml_site: Site, set_user: SetUser, group: str
) -> None:
    set_user(f"by-{group}", f"bots-{group}")
    visitor = Visitor(saml_site)
    sign_in_by_page(visitor)
    compare_rights(visitor, group)


#: Changes of what the provider signs, and the words of the refusal.
WRONG_FACTS: dict[str, tuple[dict[str, Any], str]] = {
    "audience": ({"audience": "https://other.example.com"}, "is not a valid audience for this Response"),
    "no audience": ({"audience": ""}, "its assertion is not limited to this server and a time"),
    "destination": ({"destination": "https://other.example.com/"}, "instead of https://other.example.com/"),
    "recipient": ({"recipient": "https://other.example.com/"}, "A valid SubjectConfirmation was not found"),
    "recipient in a query": (
        {"recipient": "https://other.example.com/?{recipient}"},
        "its assertion belongs to another sign-in",
    ),
    "issuer": ({"issuer": "urn:example:other"}, "Invalid issuer"),
    "expired": ({"lasts": -400, "begins": -500}, "expired. Check system clock"),
    "just expired": ({"lasts": -10}, "A valid SubjectConfirmation was not found"),
    "future": ({"begins": 3600, "lasts": 7200}, "not yet valid"),
    "session over": ({"session": -10}, "The attributes have expired"),
    "another request": ({"request": "_1"}, "A valid SubjectConfirmation was not found"),
    "another request around it": ({"response_request": "_1"}, "belongs to no sign-in that began in this browser"),
    "begun at the provider": (
        {"request": "", "response_request": ""},
        "belongs to no sign-in that began in this browser",
    ),
    "begun at the provider, in another response": ({"request": ""}, "its assertion belongs to another sign-in"),
    "transient name": ({"format": "urn:oasis:names:tc:SAML:2.0:nameid-format:transient"}, "differently each time"),
    "nobody": ({"user": ""}, "An empty NameID value found"),
    "too long a name": ({"user": "m" * 300}, "it cannot be read"),
    "refused": ({"status": "Responder"}, "The status code of the Response was not Success, was Responder"),
}


def wrap(shape: int) -> Callable[[ScriptedProvider, dict[str, str]], str]:
    """An attack by signature wrapping: a forged assertion beside or around the signed one."""

    def write(provider: ScriptedProvider, parts: dict[str, str]) -> str:
        from lxml import etree

        answer = etree.fromstring(provider.write(parts).encode())
        signed = answer[-1]
        forged = etree.fromstring(ASSERTION.format(**{**parts, "id": "_forged", "user": "ada"}).encode())
        signature = signed.find("{http://www.w3.org/2000/09/xmldsig#}Signature")
        if shape in (1, 2):
            answer.insert(2 if shape == 1 else 3, forged)
        elif shape == 3:
            answer.replace(signed, forged)
            forged.append(signed)
        elif shape == 4:
            forged.insert(1, signature)
            answer.insert(2, forged)
        elif shape in (5, 6):
            answer.replace(signed, forged)
            forged.insert(1, signature)
            outer = etree.SubElement(signature, "{http://www.w3.org/2000/09/xmldsig#}Object") if shape == 5 else forged
            outer.append(signed)
        elif shape == 7:
            outer = etree.Element("{urn:oasis:names:tc:SAML:2.0:protocol}Extensions")
            outer.append(forged)
            answer.insert(1, outer)
        else:
            # The same ID twice.
            forged.set("ID", signed.get("ID"))
            answer.insert(2, forged)
        return str(etree.tostring(answer, encoding=str))

    return write


def sign_response(provider: ScriptedProvider, parts: dict[str, str]) -> str:
    return provider.key.sign(RESPONSE.format(**parts, assertion=ASSERTION.format(**parts)))


def declare(entities: str, user: str) -> Callable[[ScriptedProvider, dict[str, str]], str]:
    return lambda provider, parts: f"<!DOCTYPE r [{entities}]>{provider.write(parts).replace('mallory', user)}"


Write = Callable[[ScriptedProvider, dict[str, str]], str | bytes]
WRONG_TEXTS: dict[str, tuple[Write, str]] = {
    "unsigned": (lambda p, parts: RESPONSE.format(**parts, assertion=ASSERTION.format(**parts)), "is not signed"),
    "only the response signed": (sign_response, "The Assertion of the Response is not signed"),
    "another key": (lambda p, parts: p.write(parts, OTHER_KEY), "Signature validation failed"),
    "SHA-1": (
        lambda p, parts: RESPONSE.format(**parts, assertion=p.key.sign(ASSERTION.format(**parts), SHA1)),
        "Deprecated signature algorithm",
    ),
    "changed": (lambda p, parts: p.write(parts).replace("mallory", "ada"), "Signature validation failed"),
    "no assertion": (lambda p, parts: RESPONSE.format(**parts, assertion=""), "must contain 1 assertion"),
    "two assertions": (
        lambda p, parts: RESPONSE.format(**parts, assertion=p.key.sign(ASSERTION.format(**parts)) * 2),
        "must contain 1 assertion",
    ),
    **{f"wrapped {shape}": (wrap(shape), "the provider's answer is refused: ") for shape in range(1, 9)},
    "entities": (
        declare('<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">', "&b;"),
        "the provider's answer is refused: it cannot be read",
    ),
    "a file": (declare('<!ENTITY a SYSTEM "file:///etc/passwd">', "&a;"), "it cannot be read"),
    "no XML": (lambda p, parts: "<Response", "it cannot be read"),
    "no base64": (lambda p, parts: b"%%%", "it cannot be read"),
    "empty": (lambda p, parts: b"", "it cannot be read"),
}
CASES: list[Any] = [
    *(pytest.param(facts, None, words, id=name) for name, (facts, words) in WRONG_FACTS.items()),
    *(pytest.param({}, write, words, id=name) for name, (write, words) in WRONG_TEXTS.items()),
]


@pytest.mark.parametrize(("facts", "write", "words"), CASES)
def test_a_wrong_answer_is_refused_in_words_and_nothing_is_stored(
    scripted: tuple[ScriptedProvider, Site], facts: dict[str, Any], write: Write | None, words: str
) -> None:
    provider, site = scripted
    before = site.list_users()
    visitor = Visitor(site)
    parts = begin(provider, visitor, **facts)

    page = send(visitor, (write or ScriptedProvider.write)(provider, parts))

    assert words in read_refusal(page)
    assert not visitor.is_signed_in
    assert site.list_users() == before
    assert site.query("SELECT * FROM socialaccount_socialaccount WHERE uid IN ('mallory', 'ada')") == []
    assert site.read_log("SIGN_IN_REFUSED")[-1][0] == "(unknown user)"


def test_an_answer_is_for_one_sign_in_in_one_browser(scripted: tuple[ScriptedProvider, Site]) -> None:
    provider, site = scripted
    thief, visitor = Visitor(site), Visitor(site)
    parts = begin(provider, visitor, user="robbed")
    thief.begin()
    assert "belongs to no sign-in that began in this browser" in send(thief, provider.write(parts)).text
    assert not thief.is_signed_in
    assert "robbed" not in site.list_users()

    assert send(visitor, provider.write(parts)).url == f"{site.url}/admin/"

    assert "belongs to no sign-in" in send(Visitor(site), provider.write(parts)).text
    again = begin(provider, thief, user="robbed", id=parts["id"])
    assert "its assertion was used already" in send(thief, provider.write(again)).text
    assert not thief.is_signed_in


def test_a_comment_in_a_name_does_not_shorten_it(scripted: tuple[ScriptedProvider, Site]) -> None:
    provider, site = scripted
    visitor = Visitor(site)
    answer = provider.write(begin(provider, visitor, user="ada.evil")).replace("ada.evil", "ada<!---->.evil")

    send(visitor, answer)

    assert site.query("SELECT uid FROM socialaccount_socialaccount WHERE uid LIKE 'ada.%'") == [("ada.evil",)]
    assert visitor.get("/admin/auth/user/").status_code == 403


def test_a_provider_whose_metadata_cannot_be_read_is_not_reached(scripted: tuple[ScriptedProvider, Site]) -> None:
    provider, site = scripted
    for text in ("", "<html/>", provider.file.read_text().replace(ENTITY, "urn:example:other")):
        provider.file.write_text(text)
        page = Visitor(site).post("/admin/account/provider/", "/admin/login/")
        assert "its answer cannot be read" in page.text, text
    provider.write_metadata()


def test_the_metadata_is_read_from_no_other_address() -> None:
    with serving() as other, serving(Reply(302, b"<named/>", {"Location": other.address})) as named:
        code = f"from convengine.server.sign_in.saml import _read; print(_read('{named.address}'))"
        variables = {"CE_SAML_ENTITY_ID": ENTITY, "CE_SAML_METADATA": "/x.xml", "CE_ALLOWED_HOSTS": "a.example"}
        assert "<named/>" in run("shell", "-v0", "-c", code, **variables).stdout
        assert named.asked
        assert not other.asked


@pytest.mark.parametrize(
    ("variables", "words"),
    [
        ({"CE_SAML_METADATA": "/x.xml"}, "CE_SAML_ENTITY_ID and CE_SAML_METADATA must be set together."),
        (
            {"CE_SAML_ENTITY_ID": "x", "CE_SAML_METADATA": "http://a.example/x"},
            "CE_SAML_METADATA must begin with https",
        ),
        ({"CE_SAML_METADATA": "/x.xml", "CE_OIDC_ISSUER": "https://a.example"}, "Users sign in through one provider"),
        (
            {"CE_SAML_ENTITY_ID": "x", "CE_SAML_METADATA": "/x.xml", "CE_ALLOWED_HOSTS": "a.example,.b.example"},
            "CE_ALLOWED_HOSTS must list whole names",
        ),
    ],
)
def test_variables_that_contradict_each_other_stop_the_start(variables: dict[str, str], words: str) -> None:
    assert words in run("check", **variables).stderr
