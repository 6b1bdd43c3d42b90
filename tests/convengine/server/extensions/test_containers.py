import threading
from datetime import UTC, datetime
from typing import Any

import pytest

from convengine.engine.errors import InvalidContainerInterceptor, InvalidContainerTransformer
from convengine.engine.turn.ports import ContainerAnswer, ContainerRequest
from convengine.engine.turn.recording import Playback, Recording
from convengine.engine.turn.session import Session
from convengine.server.extensions.ports import Containers
from convengine.server.extensions.registry import Registry, interceptor, transformer

SESSION = Session("c", intent="LOAN", state="CONFIRM")


def request(**values: Any) -> ContainerRequest:
    return ContainerRequest(1, 2, 3, {"faq": "hi"}, **{"intent": "LOAN", "state": "CONFIRM", **values})


def echo(request: ContainerRequest, session: Any) -> Any:
    return request.input_params


def make_registry(provider: Any = echo, *around: type, transform: type | None = None) -> Registry:
    """A registry of one default provider; classes around it name their scope and order themselves."""
    registry = Registry(providers={(None, None, None): provider})
    for each in around:
        intent, state = getattr(each, "scope", ("*", "*"))
        order = getattr(each, "order", 0)
        registry.interceptors.append(interceptor(each, intent, state, order, InvalidContainerInterceptor))
    if transform:
        registry.container_transformers.append(transformer(transform, "loan", "ANY", (), InvalidContainerTransformer))
    return registry


def fetch(registry: Registry, **values: Any) -> ContainerAnswer:
    return Containers(registry, Recording()).fetch(request(**values), SESSION)


class AddsA:
    order = 10

    def before(self, request: ContainerRequest, session: Any) -> None:
        request.input_params["seen"] = request.input_params.get("seen", "") + "a"

    def after(self, response: Any, session: Any) -> Any:
        return {**response, "after": response.get("after", "") + "a"}


class AddsB:
    order = 20

    def before(self, request: ContainerRequest, session: Any) -> None:
        request.input_params["seen"] = request.input_params.get("seen", "") + "b"


def test_P2_1_3_V10_interceptors_run_by_their_order() -> None:
    original = request()
    answer = Containers(make_registry(echo, AddsB, AddsA), Recording()).fetch(original, SESSION)

    assert answer.value == {"faq": "hi", "seen": "ab", "after": "a"}
    assert answer.sent == {"faq": "hi", "seen": "ab"}
    assert original.input_params == {"faq": "hi"}


def test_an_interceptor_that_gives_nothing_back_changes_nothing() -> None:
    class Quiet:
        def after(self, response: Any, session: Any) -> None:
            return None

    assert fetch(make_registry(echo, Quiet)).value == {"faq": "hi"}


def test_an_interceptor_of_another_place_stays_out() -> None:
    class Elsewhere(AddsA):
        scope = ("FAQ", "*")

    assert fetch(make_registry(echo, Elsewhere)).value == {"faq": "hi"}


class Faqs:
    def transform(self, response: Any, session: Any, input_params: Any) -> Any:
        return {"faqs": [1], "asked": input_params["faq"], "intent": session["intent"]}


def test_P2_1_3_V9_a_transformer_gives_the_result_its_form() -> None:
    answer = fetch(make_registry(echo, transform=Faqs))

    assert answer.value == {"faqs": [1], "asked": "hi", "intent": "LOAN"}


def test_a_transformer_that_gives_nothing_back_changes_nothing() -> None:
    class Quiet:
        def transform(self, *args: Any) -> None:
            return None

    assert fetch(make_registry(echo, transform=Quiet)).value == {"faq": "hi"}


def test_an_address_without_provider_says_so() -> None:
    answer = fetch(Registry())

    assert (answer.error_type, answer.error_message) == ("NO_PROVIDER", "NO_PROVIDER")


@pytest.mark.parametrize(
    ("provider", "code"),
    [
        (lambda request, session: 1 / 0, "ZeroDivisionError"),
        (lambda request, session: object(), "NOT_JSON"),
        (lambda request, session: "x" * 200, "RESULT_TOO_LARGE"),
    ],
)
def test_what_goes_wrong_is_part_of_the_answer(provider: Any, code: str) -> None:
    answer = fetch(make_registry(provider), max_bytes=100)

    assert (answer.error_type, answer.value) == (code, None)


def test_a_provider_that_takes_too_long_is_not_waited_for() -> None:
    gate = threading.Event()
    try:
        answer = fetch(make_registry(lambda request, session: gate.wait()), timeout_ms=20)
    finally:
        gate.set()

    assert answer.error_type == "TimeoutError"
    assert answer.duration_ms >= 20


def test_a_replay_asks_nobody() -> None:
    tape = Recording()
    live = Containers(make_registry(echo, AddsA, transform=Faqs), tape).fetch(request(), SESSION)

    assert Containers(Registry(), Playback(tape.entries)).fetch(request(), SESSION) == live


def test_a_provider_knows_the_time_of_the_turn() -> None:
    def tell(request: ContainerRequest, session: Any) -> Any:
        return session["clock"]

    session = SESSION.evolve(now=datetime(2026, 1, 1, 12, tzinfo=UTC))
    answer = Containers(make_registry(tell), Recording()).fetch(request(), session)

    assert answer.value == {
        "now": "2026-01-01T12:00:00+00:00",
        "today": "2026-01-01",
        "weekday": "Thursday",
        "hour": 12,
    }
