import pytest

from convengine.engine.rules.actions.contract import ActionValueError
from convengine.engine.rules.actions.set_dialogue_act import parse
from tests.builders import make_session, payload
from tests.convengine.engine.rules.actions.run import apply


def test_P2_7_6_V13_json_sets_act_confidence_source_and_query() -> None:
    value = '{"dialogueAct":"EDIT","confidence":0.99,"source":"R","standaloneQuery":"q"}'
    session, turn = apply("SET_DIALOGUE_ACT", value, make_session(user_text="no, q"))

    assert session.input_params == {
        "dialogue_act": "EDIT",
        "dialogue_act_confidence": 0.99,
        "dialogue_act_source": "R",
        "standalone_query": "q",
        "resolved_user_input": "q",
    }
    assert session.resolved_user_input == "q"
    assert session.query_rewritten
    assert payload(turn, "SET_DIALOGUE_ACT") == {
        "ruleId": 41,
        "dialogueAct": "EDIT",
        "dialogueActConfidence": 0.99,
        "dialogueActSource": "R",
        "standaloneQuery": "q",
    }


def test_a_name_sets_the_act_and_leaves_the_rest_as_it_is() -> None:
    before = make_session(
        standalone_query="q",
        input_params={"dialogue_act": "RESET", "dialogue_act_confidence": 0.5, "dialogue_act_source": "REGEX"},
    )
    session, _ = apply("SET_DIALOGUE_ACT", " negate ", before)

    assert session.input_params == {
        "dialogue_act": "NEGATE",
        "dialogue_act_confidence": 0.5,
        "dialogue_act_source": "RULE",
    }
    assert session.standalone_query == "q"


def test_a_blank_query_clears_the_rewrite() -> None:
    before = make_session(user_text="t", standalone_query="q", query_rewritten=True)
    session, _ = apply("SET_DIALOGUE_ACT", '{"dialogue_act":"ANSWER","standalone_query":""}', before)

    assert session.standalone_query is None
    assert not session.query_rewritten
    assert session.input_params["resolved_user_input"] == "t"


@pytest.mark.parametrize("value", ["MAYBE", "{", '{"confidence":1}', '{"dialogueAct":"NO"}'])
def test_an_unknown_act_is_refused_with_those_there_are(value: str) -> None:
    with pytest.raises(ActionValueError, match="Use one of AFFIRM, NEGATE"):
        parse(value)


@pytest.mark.parametrize("confidence", ["1.5", "-0.1"])
def test_confidence_lies_between_0_and_1(confidence: str) -> None:
    with pytest.raises(ActionValueError, match="confidence must be between 0 and 1"):
        parse(f'{{"dialogueAct":"EDIT","confidence":{confidence}}}')


def test_a_confidence_that_is_no_number_is_passed_over() -> None:
    assert parse('{"dialogueAct":"EDIT","confidence":"high"}').confidence is None
