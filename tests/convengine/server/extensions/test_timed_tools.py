import time
from typing import Any

from convengine.engine.turn.ports import ToolAnswer
from convengine.server.extensions.timed_tools import TimedTools
from tests.builders import make_session


class Sleeper:
    def run(self, tool_code: str, tool_group: str, args: Any, session: Any) -> ToolAnswer:
        time.sleep(args["seconds"])
        return ToolAnswer("awake")


def test_a_call_is_waited_for_as_long_as_the_turn_can() -> None:
    ended: list[bool] = []
    tools = TimedTools(Sleeper(), lambda: ended.append(True))
    session = make_session()

    assert tools.run("nap", "DB", {"seconds": 0}, session, 1000).result == "awake"
    late = tools.run("nap", "DB", {"seconds": 0.3}, session, 50)

    assert (late.error_type, late.error_message) == ("TOOL_TIMEOUT", "It took longer than 50 ms.")
    assert tools.run("nap", "DB", {"seconds": 0}, session).result == "awake"
    assert ended


def test_whoever_waits_for_a_tool_gives_back_what_it_holds() -> None:
    said: list[str] = []
    tools = TimedTools(Sleeper(), before=lambda: said.append("given back"))

    for within in (None, 1000):
        tools.run("nap", "DB", {"seconds": 0}, make_session(), within)

    assert said == ["given back", "given back"]
