from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from convengine.engine.turn.ports import MemoryAnswer
from convengine.engine.turn.recording import Playback, Recording
from convengine.engine.turn.session import Session
from convengine.server.extensions.ports import Memories
from convengine.server.extensions.registry import Registry
from convengine.server.resilience.waiting import Overloaded

SESSION = Session("c", intent="LOAN")


class Store:
    def __init__(self, text: str | None = None, error: Exception | None = None) -> None:
        self.text, self.error = text, error
        self.asked = 0
        self.written: list[str] = []

    def read(self, session: Any) -> str | None:
        self.asked += 1
        if self.error:
            raise self.error
        return self.text

    def write(self, session: Any, summary: str) -> None:
        if self.error:
            raise self.error
        self.written.append(f"{session['intent']}: {summary}")


def port(**stores: Store) -> Memories:
    return Memories(Registry(memory_stores=dict(stores)), Recording())


def test_the_first_store_that_says_something_is_heard() -> None:
    first, second, third = Store(" "), Store("x"), Store("y")

    assert port(first=first, second=second, third=third).read(SESSION) == MemoryAnswer("x", ("second",))
    assert (first.asked, third.asked) == (1, 0)


def test_a_store_that_fails_is_part_of_the_answer() -> None:
    answer = port(first=Store(error=OSError("down")), second=Store("x")).read(SESSION)

    assert answer.text == "x"
    assert [(fault.store, fault.error_type, fault.error_message) for fault in answer.faults] == [
        ("first", "OSError", "down")
    ]


def test_every_store_is_given_the_summary() -> None:
    first, second = Store(), Store()

    answer = port(first=first, broken=Store(error=OSError("full")), second=second).write(SESSION, "text")

    assert first.written == second.written == ["LOAN: text"]
    assert (answer.stores, answer.faults[0].store) == (("first", "second"), "broken")


def test_a_replay_asks_no_store_whichever_there_are_by_then() -> None:
    tape = Recording()
    live = Memories(Registry(memory_stores={"notes": Store("x")}), tape)
    answers = live.read(SESSION), live.write(SESSION, "text")
    later = Store("other")

    again = Memories(Registry(memory_stores={"other": later}), Playback(tape.entries))

    assert (again.read(SESSION), again.write(SESSION, "text")) == answers
    assert (later.asked, later.written) == (0, [])


def test_a_store_is_asked_in_a_waiting_slot_and_not_at_all_without_one() -> None:
    notes: list[str] = []

    @contextmanager
    def wait() -> Iterator[None]:
        if notes:
            raise Overloaded()
        notes.append("waits")
        yield

    store = Store("x")
    memories = Memories(Registry(memory_stores={"crm": store}), Recording(), wait=wait)

    assert memories.read(SESSION).text == "x"
    refused = memories.write(SESSION, "text")

    assert (store.written, refused.stores) == ([], ())
    assert [(fault.store, fault.error_type) for fault in refused.faults] == [("crm", "OVERLOADED")]
