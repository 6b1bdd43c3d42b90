"""Do the tests notice when the product is wrong? 20 small faults, each against the tests that execute its line.

`make mutation` makes the faults of `mutations.json`, one at a time, in a copy of the tree. They are found by function
and statement, so that they outlive a move of their module; a statement that was reworded is found by likeness, and one
that is gone is replaced by the next of the reserve. `--draw SEED` draws others. The tests of the module and of its
folder are tried first, as they are quick. What they do not catch is tried with every test that executes the line, known
from one run of all tests under coverage (hours; `--near` leaves it out).
"""

import argparse
import ast
import copy
import difflib
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
APPS = ("convengine", "config_admin", "audit")
DRAWN = Path(__file__).with_name("mutations.json")
CONTEXTS = ROOT / "var" / "mutation.coverage"
FAILED_BEFORE = ROOT / "var" / "mutation.failed"
COUNT = 20
RESERVE = 20
#: Below it, a statement is another one and not the same one reworded.
LEAST_LIKENESS = 0.6
#: Other processes and browsers execute lines that this process does not see.
APART = ("tests/live", "tests/browser", "tests/demo/test_demo.py", "tests/demo/test_edit_in_browser.py")
PYTEST = ("-m", "pytest", "-q", "-n0", "-p", "tests.mutation", *(f"--ignore={path}" for path in APART))
#: Seconds after which a test that a fault keeps running for ever counts as failed.
PATIENCE = 120
_OPPOSITES: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Lt: ast.GtE, ast.GtE: ast.Lt, ast.Gt: ast.LtE, ast.LtE: ast.Gt,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip


@dataclass(frozen=True)
class Mutation:
    """A fault that can be made: in a function, at the n-th place of its kind in a statement."""

    kind: str
    function: str
    statement: str
    number: int
    file: str
    first_line: int
    line: int
    #: The bytes of the file that are replaced, and by what.
    start: int
    end: int
    text: str

    def apply(self, source: bytes) -> bytes:
        return source[: self.start] + self.text.encode() + source[self.end :]


def list_mutations() -> list[Mutation]:
    """All faults that can be made in functions of the three apps, in the order of their files."""
    files = sorted(file for app in APPS for file in (ROOT / app).rglob("*.py") if "migrations" not in file.parts)
    return [mutation for file in files for mutation in _mutations_of(file)]


def _mutations_of(file: Path) -> Iterator[Mutation]:
    source = file.read_bytes()
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    for function, statement in _statements(ast.parse(source), ()):
        head, part = _head(statement)
        numbers: dict[str, int] = {}
        for node, kind, text in _faults(part) if part else ():
            numbers[kind] = numbers.get(kind, -1) + 1
            start = starts[node.lineno - 1] + node.col_offset
            end = starts[node.end_lineno - 1] + node.end_col_offset
            where = (str(file.relative_to(ROOT)), statement.lineno, node.lineno)
            yield Mutation(kind, function, head, numbers[kind], *where, start, end, text)


def _statements(node: ast.AST, names: tuple[str, ...]) -> Iterator[tuple[str, ast.stmt]]:
    in_function = isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    if in_function or isinstance(node, ast.ClassDef):
        names = (*names, node.name)
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt) and (in_function or not isinstance(node, (ast.Module, ast.ClassDef))):
            yield ".".join(names), child
        yield from _statements(child, names)


def _head(statement: ast.stmt) -> tuple[str, Any]:
    """A statement as text and the part that may be changed; of a compound one, what stands before its colon."""
    if isinstance(statement, ast.Match):
        return f"match {ast.unparse(statement.subject)}", statement.subject
    if not hasattr(statement, "body"):
        return ast.unparse(statement), statement
    head: Any = copy.copy(statement)
    head.body, head.orelse = [ast.Pass()], []
    return ast.unparse(head), getattr(head, "test", getattr(head, "iter", None))


def _faults(part: Any) -> Iterator[tuple[Any, str, str]]:
    call = isinstance(part, ast.Expr) and isinstance(part.value, ast.Call)
    if call or isinstance(part, (ast.Raise, ast.AugAssign)):
        yield part, "drop", "pass"
    # Python 3.11 does not know where the parts of a formatted text are.
    hidden = {below for node in ast.walk(part) if isinstance(node, ast.JoinedStr) for below in ast.walk(node)}
    for node in ast.walk(part):
        if node not in hidden and (change := _change(node)):
            yield node, change[0], f"({ast.unparse(change[1])})"


def _change(node: ast.AST) -> tuple[str, ast.expr] | None:
    match node:
        case ast.Compare(ops=[operator]):
            return "negate", ast.Compare(node.left, [_OPPOSITES[type(operator)]()], node.comparators)
        case ast.BoolOp():
            return "and/or", ast.BoolOp(ast.And() if isinstance(node.op, ast.Or) else ast.Or(), node.values)
        case ast.UnaryOp(op=ast.Not()):
            return "not", node.operand
        case ast.Constant(value=bool(value)):
            return "constant", ast.Constant(not value)
        case ast.Constant(value=int(value)):
            return "constant", ast.Constant(value + 1)
    return None


def draw(seed: int) -> list[dict[str, Any]]:
    """One fault of each twentieth of the product, so that every room has its share; the kinds take turns."""
    chance, every = random.Random(seed), list_mutations()
    times = Counter((mutation.kind, mutation.statement) for mutation in every)
    kinds = sorted({mutation.kind for mutation in every})
    drawn = []
    for index in range(COUNT + RESERVE):
        twentieth = index % COUNT
        stretch = every[twentieth * len(every) // COUNT : (twentieth + 1) * len(every) // COUNT]
        of_kind = [mutation for mutation in stretch if mutation.kind == kinds[index % len(kinds)]]
        drawn.append(
            chance.choice([one for one in of_kind if times[one.kind, one.statement] == 1 and one not in drawn])
        )
    return [{name: getattr(one, name) for name in ("kind", "function", "statement", "number")} for one in drawn]


def locate(wanted: dict[str, Any], every: list[Mutation]) -> tuple[Mutation, float] | None:
    """The fault that was drawn, and how like it is to what was drawn; 1.0 is word for word."""
    text = f"{wanted['function']}: {wanted['statement']}"
    matcher = difflib.SequenceMatcher(None, b=text, autojunk=False)
    best: tuple[Mutation, float] | None = None
    for mutation in every:
        if (mutation.kind, mutation.number) == (wanted["kind"], wanted["number"]):
            matcher.set_seq1(f"{mutation.function}: {mutation.statement}")
            least = best[1] if best else LEAST_LIKENESS
            if matcher.real_quick_ratio() > least and matcher.quick_ratio() > least and matcher.ratio() > least:
                best = mutation, matcher.ratio()
    return best


def collect_contexts(files: Iterable[str]) -> None:
    """Run all tests once, and note which of them executes which line of these files, and which fail as it is."""
    CONTEXTS.parent.mkdir(exist_ok=True)
    FAILED_BEFORE.write_text("")
    options = ("-m", "coverage", "run", f"--data-file={CONTEXTS}", f"--include={','.join(files)}")
    _run(ROOT, (*options, *PYTEST, "tests"), MUTATION_FAILED=str(FAILED_BEFORE))


def tests_of(mutation: Mutation) -> list[str]:
    """The tests that execute the line and hold without the fault."""
    from coverage import CoverageData

    data = CoverageData(str(CONTEXTS))
    data.read()
    contexts = data.contexts_by_lineno(str(ROOT / mutation.file))
    tests = {test for line in range(mutation.first_line, mutation.line + 1) for test in contexts.get(line, ())}
    return sorted(tests - {"", *FAILED_BEFORE.read_text().splitlines()})


def nearest_tests(mutation: Mutation) -> list[str]:
    """The test file of the module, where it has one, then the folder of tests that mirrors the module's folder."""
    source = Path(mutation.file)
    folder = Path("tests") / source.parent
    while not (ROOT / folder).is_dir():
        folder = folder.parent
    own = folder / f"test_{source.stem}.py"
    return [str(path) for path in (own, folder) if (ROOT / path).exists()]


def judge(mutation: Mutation, tests: list[str], tree: Path) -> str:
    """The first of these tests that fails with the fault, or nothing."""
    (wanted := tree / "var" / "wanted").write_text("\n".join(tests))
    return _first_failure(mutation, sorted({test.partition("::")[0] for test in tests}), tree, str(wanted))


def _first_failure(mutation: Mutation, paths: list[str], tree: Path, wanted: str = "") -> str:
    source = (tree / mutation.file).read_bytes()
    passed_over: list[str] = []
    while True:
        (tree / mutation.file).write_bytes(mutation.apply(source))
        skip = [f"--deselect={test}" for test in passed_over]
        done = _run(tree, (*PYTEST, "-x", *skip, *paths), MUTATION_TESTS=wanted)
        (tree / mutation.file).write_bytes(source)
        # 5: no test was left to run.
        if done.returncode in (0, 5):
            return ""
        failed = re.search(r"^(?:FAILED|ERROR) (tests/.+?)(?: - .*)?$", done.stdout, re.MULTILINE)
        if not failed:
            return f"pytest ended with {done.returncode}"
        if not _run(tree, (*PYTEST, failed[1])).returncode:
            return failed[1]
        passed_over.append(failed[1])  # It fails without the fault, too.


def _run(tree: Path, arguments: tuple[str, ...], **environment: str) -> "subprocess.CompletedProcess[str]":
    limits = ("-o", f"faulthandler_timeout={PATIENCE}", "-o", "faulthandler_exit_on_timeout=true")
    environment = {**os.environ, "CE_DEBUG": "true", "PYTHONDONTWRITEBYTECODE": "1", **environment}
    command = [sys.executable, *arguments, *limits]
    return subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True, check=False)


def pytest_runtest_protocol(item: Any) -> None:
    # pytest loads this module as a plugin: coverage notes the lines of each test under its name.
    if "MUTATION_FAILED" in os.environ:
        from coverage import Coverage

        if coverage := Coverage.current():
            coverage.switch_context(item.nodeid)


def pytest_runtest_logreport(report: Any) -> None:
    if report.failed and "MUTATION_FAILED" in os.environ:
        with open(os.environ["MUTATION_FAILED"], "a") as file:
            file.write(f"{report.nodeid}\n")


def pytest_collection_modifyitems(items: list[Any]) -> None:
    if os.environ.get("MUTATION_TESTS"):
        wanted = set(Path(os.environ["MUTATION_TESTS"]).read_text().splitlines())
        items[:] = [item for item in items if item.nodeid in wanted]


def main() -> int:
    """Print the table. It is a measurement: 1 only when too few of the faults are still in the product."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.add_argument("--draw", type=int, metavar="SEED", help="draw other faults, and end")
    parser.add_argument("--reuse", action="store_true", help="take the lines of the tests from the last run")
    parser.add_argument("--near", action="store_true", help="try the tests of the module and its folder only")
    parser.add_argument("--all", action="store_true", help="make the faults of the reserve too")
    options = parser.parse_args()
    if options.draw is not None:
        DRAWN.write_text(json.dumps(draw(options.draw), indent=2) + "\n")
        return 0
    every = list_mutations()
    located = [match for drawn in json.loads(DRAWN.read_text()) if (match := locate(drawn, every))]
    chosen = located if options.all else located[:COUNT]
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "tree"
        shutil.copytree(ROOT, tree, ignore=shutil.ignore_patterns(".venv", ".git", "var", ".mypy_cache"), symlinks=True)
        (tree / "var").mkdir()
        uncaught = []
        for mutation, likeness in chosen:
            failing = _first_failure(mutation, nearest_tests(mutation), tree)
            _print_result(mutation, likeness, failing, "no test of its folder")
            if not failing:
                uncaught.append((mutation, likeness))
        if uncaught and not options.near:
            if not options.reuse:
                collect_contexts({mutation.file for mutation, _ in uncaught})
            for mutation, likeness in list(uncaught):
                tests = tests_of(mutation)
                failing = judge(mutation, tests, tree) if tests else ""
                _print_result(mutation, likeness, failing, f"none of {len(tests)} tests")
                if failing:
                    uncaught.remove((mutation, likeness))
    print(f"{len(chosen) - len(uncaught)} of {len(chosen)} caught")
    return 0 if len(chosen) >= COUNT else 1


def _print_result(mutation: Mutation, likeness: float, failing: str, otherwise: str) -> None:
    print(f"{mutation.file}:{mutation.line} in {mutation.function} ({likeness:.2f} like what was drawn)")
    print(f"    {mutation.kind} → {mutation.text}")
    print(f"    caught by {failing}" if failing else f"    caught by {otherwise}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
