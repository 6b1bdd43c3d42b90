from convengine.domain.recording import Playback, Recording
from convengine.tools.pace import TapedPace
from tests.fakes.clock import FrozenClock


def test_a_replay_reads_the_time_of_the_record_and_never_waits() -> None:
    tape, slept = Recording(), []
    live = TapedPace(FrozenClock(elapsed=120.0), tape, slept.append)
    assert live.spent_ms() == 120.0
    live.wait(500)

    again = TapedPace(FrozenClock(elapsed=9.0), Playback(tape.entries), slept.append)
    assert again.spent_ms() == 120.0
    again.wait(500)

    assert slept == [0.5]
