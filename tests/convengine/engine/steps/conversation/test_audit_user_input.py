import pytest

from convengine.engine.steps.conversation.audit_user_input import AuditUserInputStep
from convengine.engine.turn.session import Session
from tests.builders import CONVERSATION, make_turn, payload


def audit_text(text: str | None) -> dict[str, object]:
    turn = make_turn(text=text, turn_no=4)
    session = Session(CONVERSATION, 4, user_text=text, user_input_params={"b": 1, "a": 2})
    AuditUserInputStep().execute(session, turn)
    return dict(payload(turn, "USER_INPUT"))


@pytest.mark.parametrize("text", [pytest.param("Hello", id="AUI_V1"), pytest.param(None, id="AUI_V2")])
def test_AUI_V1_V2_the_text_is_kept(text: str | None) -> None:
    assert audit_text(text)["text"] == text


def test_AUI_V3_blanks_and_breaks_are_kept() -> None:
    assert audit_text("  a\n b ")["text"] == "  a\n b "


def test_AUI_V5_a_very_long_text_is_cut_and_says_so() -> None:
    event = audit_text("x" * 25_000)

    assert len(str(event["text"])) == 20_000
    assert (event["truncated"], event["originalChars"]) == (True, 25_000)


def test_the_event_names_what_the_caller_sent() -> None:
    event = audit_text("Hello")

    assert (event["inputParamKeys"], event["channel"], event["turnNo"]) == (["a", "b"], "api", 4)
