from convengine.server.deployment.request_id import bind_request_id, current_request_id, make_request_id


def test_an_id_holds_while_its_call_runs() -> None:
    with bind_request_id("a"):
        assert current_request_id() == "a"

    assert current_request_id() is None


def test_a_line_break_in_an_id_never_reaches_the_log() -> None:
    assert "\n" not in make_request_id("a\nb")
