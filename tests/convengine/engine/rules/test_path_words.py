import pytest

from convengine.engine.rules.path_words import in_words, noun


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("$[?(@.schemaComplete == false)]", "the form is not complete"),
        ("$[?(@.schemaComplete != true)]", "the form is not complete"),
        ("$.schemaComplete", "the form is complete"),
        ("$[?(@.inputParams.dialogue_act == 'NEGATE')]", "the user says no"),
        ("$[?(@.inputParams.dialogue_act != 'NEGATE')]", 'the dialogue act is not "NEGATE"'),
        ("$[?(@.context.reference != null)]", "reference is set"),
        ("$[?(@.context.reference == null)]", "reference is not set"),
        ("$[?(@.pendingClarificationQuestion != null)]", "the clarifying question is set"),
        ("$[?(!(@.userText =~ /.*it.*/i))]", "the message is not like “it”"),
        ("$[?(@.context.a < @.inputParams.today)]", "a is before today"),
        ("$[?(@.state in ['A','B'])]", 'the state is one of "A", "B"'),
        ("$[?(@.context.items empty false)]", "items is not empty"),
        ("$[?(@.context.a == 1 && (@.context.b == 2 || !@.context.c))]", "a is 1 and (either b is 2 or c is not set)"),
        ("$[?(@.inputParams.found == [])]", "found is an empty list"),
        ("$[?(@.context.items.length() > 2)]", "the length of items is greater than 2"),
        ("$.context.items[?(@.x == 1)]", "$.context.items[?(@.x == 1)] matches something"),
        ("$[?(", None),
    ],
)
def test_a_path_is_said_in_words(path: str, expected: str | None) -> None:
    assert in_words(path) == expected


def test_a_path_that_leads_through_a_list_is_called_as_it_is_written() -> None:
    assert noun("$.context.items[0]") == "$.context.items[0]"
    assert noun("$[") == "$["
