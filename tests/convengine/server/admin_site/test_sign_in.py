"""Guessing passwords gets slow, and nobody is locked out for ever."""

from types import SimpleNamespace
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import DatabaseError
from django.test import Client, RequestFactory, override_settings
from prometheus_client import REGISTRY
from rest_framework.exceptions import NotAuthenticated

from audit.api.access_scope import require_signed_in_reader
from audit.integrity.chains import verify_chains
from audit.integrity.read_record import Ledger
from audit.models import CeAccessLog
from convengine.server.admin_site.sign_in import begin_attempt, describe_wait, end_attempt
from convengine.server.database import throttle

pytestmark = pytest.mark.django_db
LOGIN = "/admin/login/"


def sign_in(password: str, name: str = "ada", **meta: str) -> Any:
    return Client().post(LOGIN, {"username": name, "password": password}, **meta)


@pytest.fixture(autouse=True)
def ada(monkeypatch: pytest.MonkeyPatch) -> User:
    """A user; the time stands still, because hashing passwords takes some."""
    monkeypatch.setattr(throttle, "time", SimpleNamespace(time=lambda: 1_000_000.0))
    return User.objects.create_superuser("ada", password="right")


def test_guessing_gets_slow_even_with_the_right_password() -> None:
    pages = [sign_in(f"wrong {number}").content.decode() for number in range(6)]

    assert all("Too many attempts" not in page for page in pages[:5])
    assert "Too many attempts to sign in. Try again in 1 second." in pages[5]
    assert sign_in("right").status_code == 200
    assert sign_in("right", "ADA").status_code == 200


def test_the_right_password_starts_again() -> None:
    for _ in range(3):
        assert [sign_in("wrong").status_code for _ in range(4)] == [200] * 4
        assert sign_in("right").status_code == 302


def test_another_address_may_sign_in_meanwhile() -> None:
    for _ in range(6):
        sign_in("wrong", REMOTE_ADDR="192.0.2.1")

    assert sign_in("right", REMOTE_ADDR="192.0.2.1").status_code == 200
    assert sign_in("right", REMOTE_ADDR="192.0.2.2").status_code == 302


def test_an_address_that_tries_many_names_gets_slow() -> None:
    pages = [sign_in("wrong", f"user{number}").content.decode() for number in range(31)]

    assert "Too many attempts" in pages[30]


def test_a_name_that_many_addresses_guess_gets_slow_but_not_where_its_owner_signed_in() -> None:
    assert sign_in("right", REMOTE_ADDR="192.0.2.200").status_code == 302
    waits = [begin_attempt("ada", f"192.0.2.{number}") for number in range(1, 40)]

    assert waits[0] == 0
    assert 0 < waits[-1] <= 60
    assert sign_in("right", REMOTE_ADDR="192.0.2.99").status_code == 200
    assert sign_in("right", REMOTE_ADDR="192.0.2.200").status_code == 302


def test_no_delay_is_for_ever() -> None:
    now, longest = 1000.0, 0.0
    for _ in range(40):
        wait = begin_attempt("ada", "192.0.2.1", now)
        longest, now = max(longest, wait), now + max(wait, 0.5)
    assert 60 < longest <= 900
    assert begin_attempt("ada", "192.0.2.1", now + 5000) == 0


@override_settings(CONVENGINE={"TRUSTED_PROXIES": 1})
def test_behind_a_proxy_the_address_is_that_of_its_caller() -> None:
    for number in range(6):
        sign_in("wrong", HTTP_X_FORWARDED_FOR=f"10.0.0.{number}, 192.0.2.1")

    assert "Too many" in sign_in("right", HTTP_X_FORWARDED_FOR="10.9.9.9, 192.0.2.1").content.decode()
    assert sign_in("right", HTTP_X_FORWARDED_FOR="192.0.2.1, 192.0.2.2").status_code == 302


def test_nobody_signs_in_while_attempts_cannot_be_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args: Any) -> float:
        raise DatabaseError

    monkeypatch.setattr(throttle, "count_attempt", fail)

    page = sign_in("right")
    assert page.status_code == 200
    assert "You cannot sign in at the moment. Try again later." in page.content.decode()


def test_a_success_leaves_no_counter_of_the_pair() -> None:
    begin_attempt("ada", "192.0.2.1")
    end_attempt("ada", "192.0.2.1")

    assert throttle.is_remembered("signed in:ada:192.0.2.1")
    assert not throttle.is_remembered("sign-in:ada:192.0.2.1")


@pytest.mark.parametrize(
    ("seconds", "words"), [(0.2, "1 second"), (20, "20 seconds"), (91, "2 minutes"), (900, "15 minutes")]
)
def test_waits_are_said_in_words(seconds: float, words: str) -> None:
    assert describe_wait(seconds) == words


def test_an_attempt_that_is_refused_for_the_sake_of_others_delays_its_own_name_no_longer() -> None:
    for number in range(40):
        begin_attempt("ada", f"192.0.2.{number}", 1000.0)
    for _ in range(10):
        assert 0 < begin_attempt("ada", "198.51.100.1", 1000.0) <= 60

    assert begin_attempt("ada", "198.51.100.1", 1000.0 + 61) == 0


def test_a_delay_that_a_wrong_clock_set_does_not_last() -> None:
    day = 24 * 3600.0
    for _ in range(6):
        begin_attempt("ada", "192.0.2.1", 1000.0 + day)

    assert begin_attempt("ada", "192.0.2.1", 1000.0 + day) > 0
    assert begin_attempt("ada", "192.0.2.1", 1000.0) == 0


def read_log() -> list[tuple[str, str, str]]:
    entries = CeAccessLog.objects.filter(kind__startswith="SIGN_IN").order_by("pk")
    return [(entry.kind, entry.reader, entry.search) for entry in entries]


def test_each_sign_in_and_refusal_is_in_the_access_log() -> None:
    sign_in("right", REMOTE_ADDR="192.0.2.7")
    sign_in("wrong")
    sign_in("my password by mistake", "my password by mistake")
    User.objects.create_user("ben", password="right", is_staff=True, is_active=False)
    before = REGISTRY.get_sample_value("convengine_sign_ins_total", {"result": "refused"}) or 0.0
    sign_in("right", "ben")

    assert REGISTRY.get_sample_value("convengine_sign_ins_total", {"result": "refused"}) == before + 1
    assert read_log() == [
        ("SIGN_IN", "ada", "password"),
        ("SIGN_IN_REFUSED", "ada", "password: wrong user name or password"),
        ("SIGN_IN_REFUSED", "(unknown user)", "password: wrong user name or password"),
        ("SIGN_IN_REFUSED", "ben", "password: wrong user name or password"),
    ]
    assert CeAccessLog.objects.get(kind="SIGN_IN").address == "192.0.2.7"
    assert not list(verify_chains(Ledger.read()))


def test_attempts_that_come_too_early_make_one_entry_a_minute() -> None:
    for number in range(12):
        sign_in(f"wrong {number}")

    assert [search for _, _, search in read_log()].count("password: too many attempts") == 1


def test_administrators_search_the_sign_ins_of_the_access_log() -> None:
    sign_in("wrong")
    client = Client()
    client.post(LOGIN, {"username": "ada", "password": "right"})

    page = client.get("/admin/audit/ceaccesslog/?kind__exact=SIGN_IN_REFUSED").content.decode()

    assert "Refused sign-in" in page
    assert "password: wrong user name or password" in page


@pytest.mark.parametrize(
    ("policy", "methods", "is_refused"),
    [("allowed", [], False), ("required", [], True), ("required", [{"method": "mfa"}], False)],
)
def test_a_reader_by_session_needs_the_required_second_factor(
    client: Client, ada: User, settings: Any, policy: str, methods: list[Any], is_refused: bool
) -> None:
    client.force_login(ada)
    session = client.session
    session["account_authentication_methods"] = methods
    session.save()
    settings.CONVENGINE = {**settings.CONVENGINE, "SIGN_IN": {"second_factor": policy}}
    request = RequestFactory().get("/", headers={"Cookie": f"sessionid={session.session_key}"})

    if is_refused:
        with pytest.raises(NotAuthenticated, match="second factor"):
            require_signed_in_reader(request)
    else:
        assert require_signed_in_reader(request) == ada
