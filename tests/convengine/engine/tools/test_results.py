from convengine.engine.tools.results import cap_result


def test_a_result_within_the_limit_is_kept_as_it_is() -> None:
    assert cap_result({"a": "é"}, 10) == {"a": "é"}
    assert cap_result({"a": "éé"}, 10) == {"truncated": True, "bytes": 12, "preview": '{"a":"éé"}'}
