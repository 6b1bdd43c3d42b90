"""A bot in a test: its configuration in a scratch database, turns over the API, and what they did."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

from convengine.engine.llm.scripted import ScriptLine
from convengine.engine.steps.tools.scripted import Stub
from convengine.engine.turn.codec import dumps
from convengine.json_value import Json
from convengine.play import schema, tables
from convengine.play.expectations import find_misses
from convengine.play.loading import parse_duration
from convengine.play.report_format import format_miss
from convengine.play.runner import RunOptions, ScenarioPlayer, open_world
from convengine.play.scenario import (
    BEGINNING,
    MAIN,
    REAL,
    ContainerStub,
    Scenario,
    ScenarioTurn,
    TaskStub,
    ThreadName,
)
from convengine.play.seen_turn import PURPOSES, SeenTurn
from convengine.server.extensions.tasks import TaskCall


@dataclass(frozen=True)
class BotTurn(SeenTurn):
    """One turn of a bot: its answer, where the conversation stands, and what was called."""

    def __repr__(self) -> str:
        return f"<BotTurn {self.message!r} → {self.error or self.answer!r}, {self.intent}, {self.state}>"

    @property
    def actions(self) -> list[str]:
        """The tasks that ran, as `name:method`, in order."""
        return [f"{task}:{method}" for task, method in self.task_calls]

    @property
    def tools(self) -> list[tuple[str, Mapping[str, Json]]]:
        """The tools that were called, (code or group, arguments), in order."""
        return [(call["tool_code"] or call["tool_group"], call["args"]) for call in self.tool_calls]

    def expect(
        self,
        answer: Json = None,
        *,
        fields: Mapping[str, Json] | None = None,
        actions: Sequence[str] | None = None,
        tools: Sequence[str] | None = None,
        error: str | None = None,
        **expected: Json,
    ) -> Self:
        """Fail with the turn's explanation unless everything holds.

        `answer` is the text, or a matcher such as {"contains": "noon"}; `fields` are matchers by name; `actions` are
        tasks as `name:method`; `tools` are codes. Further keys are those of `expect` in scenario files.
        """
        __tracebackhide__ = True
        wanted = dict(expected)
        if answer is not None:
            wanted["response"] = answer if isinstance(answer, Mapping) else {"equals": answer}
        if error is not None:
            wanted["error"] = {"code": error}
            wanted.setdefault("http_status", self.status)
        if actions is not None:
            wanted["task_calls"] = [dict(zip(("bean", "method"), _split_task(name), strict=True)) for name in actions]
        if fields is not None:
            wanted["context"] = {f"$['{name}']": matcher for name, matcher in fields.items()}
        schema.check_expectations(wanted)
        misses = [format_miss(miss) for miss in find_misses(wanted, self)]
        called = [code for code, _ in self.tools]
        if tools is not None and list(tools) != called:
            misses.append(f"tools: expected {list(tools)}, got {called}")
        if misses:
            raise AssertionError("\n".join([f"After {self.message!r}:", *misses, "", *self.explanation]))
        return self


@dataclass
class Bot:
    """A bot with one or several conversations. Its clock stands still; `travel` moves it."""

    player: ScenarioPlayer
    #: All turns so far, in order.
    turns: list[BotTurn] = field(default_factory=list)
    #: The conversation of `say` that names none.
    conversation: str = MAIN

    def __repr__(self) -> str:
        return f"<Bot with {len(self.turns)} turns>"

    def say(
        self,
        text: str | None,
        *,
        conversation: str | None = None,
        reset: bool = False,
        thread: Mapping[str, str] | None = None,
        **input_params: Json,
    ) -> BotTurn:
        """Send a message. `conversation` is any name; further keywords are input params of the request."""
        turn = ScenarioTurn(
            text,
            conversation or self.conversation,
            input_params=input_params or None,
            reset=reset,
            thread=ThreadName(**thread) if thread else None,
        )
        seen = self.player.play(turn)
        self.turns.append(BotTurn(**{each.name: getattr(seen, each.name) for each in fields(seen)}))
        return self.turns[-1]

    @property
    def now(self) -> datetime:
        """The time of the bot's clock."""
        return self.player.at or BEGINNING

    @now.setter
    def now(self, at: datetime) -> None:
        self.player.at = at if at.tzinfo else at.replace(tzinfo=UTC)

    def travel(self, duration: str) -> None:
        """Move the clock, by a time such as `30m` or `7d 1s`."""
        self.now = self.now + parse_duration(duration)

    def stub_task(
        self,
        name: str,
        returns: Json = True,
        *,
        raises: str | None = None,
        code: str | None = None,
        sets_context: Mapping[str, Json] | None = None,
        sets_params: Mapping[str, Json] | None = None,
        times: int | None = None,
        does: Callable[[TaskCall], Json] | None = None,
    ) -> None:
        """Let a stub answer for a task, as `name:method`, in place of the registered one; `does` is a function that
        takes its TaskCall.
        """
        task, method = _split_task(name)
        if does is not None:
            self.player.stubs.add_task_function(task, method, does)
            return
        stub = TaskStub(task, method, returns, raises, sets_context or {}, times, code, (), sets_params or {})
        self.player.stubs.add_task(stub)

    def stub_tool(
        self,
        tool_code: str,
        result: Json = None,
        *,
        error: str | None = None,
        code: str = "ScriptedFailure",
        when_args: Mapping[str, Json] | None = None,
        times: int | None = None,
    ) -> None:
        """Let a stub answer for a tool, in place of the registered one. Earlier stubs come first."""
        stub = Stub(tool_code, None, when_args or {}, result, error, times, code)
        self.player.stubs.tools.stubs = [*self.player.stubs.tools.stubs, stub]

    def stub_container(self, page: int, section: int, container: int, result: Json = None, **more: Any) -> None:
        """Let a stub answer for a container, in place of the registered provider; `error` is the text of a failure."""
        self.player.stubs.add_container(ContainerStub(page, section, container, result, **more))

    def stub_model(
        self, purpose: str, reply: Json = "", *, contains: str | Sequence[str] = (), error: str | None = None
    ) -> None:
        """Let a scripted model answer calls of a purpose (docs/scenarios.md#the-scripted-model). Earlier stubs come
        first. Without any, the bot has no model; calls of purposes that no stub names fail, as with a model that
        is unavailable.
        """
        if purpose not in PURPOSES:
            raise ValueError(schema.describe_unknown(purpose, PURPOSES, "purpose"))
        texts = (contains,) if isinstance(contains, str) else tuple(contains)
        line = ScriptLine(PURPOSES[purpose], reply if isinstance(reply, str) else dumps(reply), error, texts)
        model = self.player.stubs.model
        model.lines = [*model.lines, line]
        model.configured, model.is_partial = True, True


@contextmanager
def open_bot(
    configuration: Path | None = None,
    *,
    rows: Mapping[str, Sequence[Mapping[str, Json]]] | None = None,
    extensions: str = REAL,
    recording: Path | None = None,
    options: RunOptions | None = None,
) -> Iterator[Bot]:
    """A bot of a configuration file, with `rows` added, in the current database, which is emptied."""
    added = {
        table: tuple(tables.read_row(row, table, f"rows.{table}") for row in table_rows)
        for table, table_rows in (rows or {}).items()
    }
    scenario = Scenario(
        id="bot",
        title="",
        turns=(),
        tables=added,
        model=recording is not None,
        configuration=configuration,
        extensions=extensions,
        recording=recording,
    )
    with open_world(scenario, options or RunOptions()) as player:
        player.at = BEGINNING
        yield Bot(player)


def _split_task(name: str) -> tuple[str, str]:
    """The task and the method of `name:method`; a function has one method of its own name."""
    task, _, method = name.partition(":")
    return task, method or task
