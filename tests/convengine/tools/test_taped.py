from convengine.domain.recording import Playback, Recording
from convengine.extensions.registry import Registry
from convengine.extensions.tools import RegisteredTools
from convengine.tools.scripted import ScriptedTools, Stub
from convengine.tools.taped import TapedTools
from tests.builders import make_session


def test_an_answer_comes_from_the_executor_once_and_then_from_the_tape() -> None:
    tape = Recording()
    tools = ScriptedTools([Stub("stock", result=(1, 2))])
    session = make_session()

    live = TapedTools(tools, tape).run("stock", "DB", {"q": 1}, session)
    again = TapedTools(RegisteredTools(Registry()), Playback(tape.entries)).run("stock", "DB", {"q": 1}, session)

    assert live == again
    assert live.result == [1, 2]
    assert len(tools.calls) == 1
