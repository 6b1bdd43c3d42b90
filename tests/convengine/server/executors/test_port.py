from convengine.engine.tools.fault import ToolFault
from convengine.engine.turn.ports import ToolAnswer
from convengine.server.executors.job import ToolJob
from convengine.server.executors.port import BuiltInTools
from convengine.server.extensions.registry import Registry
from tests.builders import make_session, make_snapshot, make_tool

STOCK = make_tool("stock.left", tool_group="FILES")


def refuses(job: ToolJob) -> ToolAnswer:
    raise ToolFault("FILE_REFUSED", f"{job.args['path']} is not below the root.", {"FILES": {"path": "x"}})


def breaks(job: ToolJob) -> ToolAnswer:
    raise LookupError("no such shelf")


def tells(job: ToolJob) -> ToolAnswer:
    assert job.tool is STOCK
    return ToolAnswer([job.tool_code, job.group, dict(job.args)])


def run(group: str = "FILE", **executors: object) -> ToolAnswer:
    tools = BuiltInTools(make_snapshot(STOCK), Registry(), executors)  # type: ignore[arg-type]
    return tools.run("Stock.Left", group, {"path": "a"}, make_session())


def test_a_group_in_any_spelling_finds_its_executor() -> None:
    assert run(FILES=tells) == ToolAnswer(["Stock.Left", "FILES", {"path": "a"}])


def test_a_fault_of_an_executor_has_its_code() -> None:
    answer = run(FILES=refuses)

    assert (answer.error_type, answer.error_message) == ("FILE_REFUSED", "a is not below the root.")
    assert answer.stage_payloads == {"FILES": {"path": "x"}}


def test_what_an_executor_raises_is_an_answer() -> None:
    assert run(FILES=breaks) == ToolAnswer(error_type="LookupError", error_message="no such shelf")


def test_a_group_that_nothing_is_installed_for_says_which_there_are() -> None:
    answer = run("MAGIC", FILES=tells)

    assert answer.error_type == "NO_EXECUTOR"
    assert answer.error_message == (
        "No executor is installed for tool Stock.Left of group MAGIC. There are executors for FILES."
    )
