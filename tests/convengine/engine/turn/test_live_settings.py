import pytest

from convengine.engine.turn import live_settings
from convengine.engine.turn.live_settings import boolean, decimal, integer, json_value, one_of, text, text_list
from convengine.engine.turn.turn import Turn
from tests.builders import make_config, make_session, make_snapshot, make_turn, stages

LIMIT = live_settings.Setting("DemoStep", "LIMIT", integer(1, 10), 5, "a limit")
WORDS = live_settings.Setting("DemoStep", "WORDS", text(), "hello", "words")


def value(*rows: object, qualifier: str | None = None, **snapshot: object) -> int:
    return live_settings.read(make_snapshot(*rows, **snapshot), LIMIT, qualifier).value  # type: ignore[arg-type]


def test_without_a_row_the_default_holds() -> None:
    assert value() == 5


def test_a_row_is_found_without_regard_to_case() -> None:
    assert value(make_config("demostep/limit", "7")) == 7


def test_a_qualified_row_comes_before_the_plain_one() -> None:
    rows = (make_config("DemoStep/LIMIT", "7"), make_config("DemoStep/LIMIT.shop", "8"))

    assert value(*rows, qualifier="SHOP") == 8
    assert value(*rows, qualifier="other") == 7


def test_the_deployment_stands_between_row_and_default() -> None:
    defaults = {("DEMOSTEP", "LIMIT"): "9"}

    assert value(defaults=defaults) == 9
    assert value(make_config("DemoStep/LIMIT", "7"), defaults=defaults) == 7


def test_a_row_that_is_off_does_not_count() -> None:
    assert value(make_config("DemoStep/LIMIT", "7", enabled=False)) == 5


def test_out_of_bounds_is_the_nearest_bound() -> None:
    assert value(make_config("DemoStep/LIMIT", "99")) == 10
    assert value(make_config("DemoStep/LIMIT", "-1")) == 1


def test_a_blank_text_is_absent() -> None:
    assert live_settings.read(make_snapshot(make_config("DemoStep/WORDS", "  ")), WORDS).value == "hello"


def unreadable() -> Turn:
    turn = make_turn(make_snapshot(make_config("DemoStep/LIMIT", "many")))
    for _ in range(2):
        assert turn.config(make_session(), LIMIT) == 5
    return turn


def test_what_cannot_be_read_is_the_default_and_told_once() -> None:
    assert stages(unreadable()) == ["CONFIG_VALUE_INVALID"]


@pytest.mark.parametrize(
    ("kind", "text", "read"),
    [
        (boolean(), " YES ", True),
        (boolean(), "off", False),
        (decimal(), "0.25", 0.25),
        (decimal(), "7", 1.0),
        (one_of("FAIL", "CONTINUE"), "continue", "CONTINUE"),
        (text_list(codes=True), " a, ,b ", ("A", "B")),
        (text_list(lines=True), "a, b\n\nc", ("a, b", "c")),
        (json_value(), '{"a": 1}', {"a": 1}),
    ],
)
def test_kinds_read_their_texts(kind: live_settings.ValueKind[object], text: str, read: object) -> None:
    assert kind.read(text) == read


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (boolean(), "perhaps"),
        (integer(), "1.5"),
        (decimal(), "nan"),
        (one_of("A"), "B"),
        (json_value(), "[]"),
        (json_value(), "[" * 200_000),
    ],
)
def test_kinds_refuse_what_they_cannot_read(kind: live_settings.ValueKind[object], text: str) -> None:
    with pytest.raises(live_settings.UnreadableSetting):
        kind.read(text)


def test_a_name_is_declared_once() -> None:
    live_settings.declare("DemoStep", "ONCE", integer(), 1, "once")
    try:
        with pytest.raises(ValueError, match="declared twice"):
            live_settings.declare("demostep", "once", integer(), 1, "again")
    finally:
        del live_settings.CATALOGUE["DEMOSTEP", "ONCE"]
