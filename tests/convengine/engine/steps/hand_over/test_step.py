from convengine.engine.pipeline.step import Stop
from convengine.engine.steps.hand_over.step import HandOverStep
from convengine.engine.turn.rows import Row
from convengine.engine.turn.session import Session
from convengine.engine.turn.turn import Turn
from tests.builders import CONVERSATION, make_config, make_snapshot, make_turn, stages

DESK = make_config("HandOverStep/HAS_DESK", "true")


def begin(*settings: Row, **context: object) -> tuple[Session, Turn]:
    turn = make_turn(make_snapshot(*settings), text="hello?")
    return Session(CONVERSATION, user_text="hello?", intent="FAQ", state="HAND_OVER", context=context), turn


def test_the_bot_answers_unless_a_person_has_the_conversation() -> None:
    assert not HandOverStep().active(*begin(DESK))
    # Without a help desk nobody would answer.
    assert not HandOverStep().active(*begin(handover=True))
    assert HandOverStep().active(*begin(DESK, handover=True))


def test_a_message_to_a_person_gets_the_text_of_the_setting_and_decides_nothing() -> None:
    session, turn = begin(DESK, make_config("HandOverStep/WITH_PERSON_TEXT", "Ada reads this."), handover=True)

    outcome = HandOverStep().execute(session, turn)

    assert isinstance(outcome, Stop)
    assert outcome.result.payload.value == "Ada reads this."
    assert (outcome.result.intent, outcome.result.state) == ("FAQ", "HAND_OVER")
    assert stages(turn) == ["MESSAGE_PASSED_ON", "ASSISTANT_OUTPUT", "ENGINE_RETURN"]
