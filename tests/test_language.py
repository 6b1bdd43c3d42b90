"""Names are words of the field: functions are verbs, variables the things that they hold, and nothing is coined.

The rule is that a stranger understands a name at first reading. What a machine can check of it is checked here.
"""

import ast
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TREES = ("convengine", "config_admin", "audit", "bench", "tests")


def words(text: str) -> frozenset[str]:
    return frozenset(text.split())


#: Participles that do not end in -ed.
IRREGULAR = words("""
    begun bound brought built chosen come done drawn driven fallen felt forgotten found given gone grown held hidden
    kept known laid left lent lost made meant met paid said seen sent shown shut sold spent spoken stood struck sworn
    taken taught thought thrown told torn understood undone withdrawn won written
""")
#: They end like participles, and are none.
NO_PARTICIPLES = words("bed embed exceed feed need proceed red seed shed speed succeed")
PRONOUNS = words("again anew elsewhere here one otherwise somebody there what which who whoever")
#: Words that were coined here, or that stood for too many things.
COINED = words("""
    aftermath beginning bury by_call conversation_written desk Desk desk_of drift framed free_standing headed Heard
    implied keeper left_out look look_of making marks meeting moments place Place places Scene stale taking told Told
    trials unmeant weigh Wish
""")
#: Participles and pronouns that say nothing of the thing that a variable holds.
VAGUE = words("anew asked found got here kept lost matter missed one place said there thing told")
#: Columns keep the names of their tables, and fields of the API the names that integrators read.
COLUMNS = frozenset(
    {
        ("audit/models/replay_job.py", "asked"),
        ("convengine/client/answers.py", "asked"),
        ("convengine/server/api/serializers.py", "asked"),
    }
)
#: Trees whose variables are named after the things that they hold.
NAMED_TREES = ("convengine", "config_admin", "audit", "bench")


def test_every_function_is_named_by_a_verb_and_nothing_by_a_coined_word() -> None:
    assert [line for file in _list_files() for line in _list_bad_names(file)] == []


def test_every_variable_is_named_after_the_thing_that_it_holds() -> None:
    assert [line for file in _list_files(NAMED_TREES) for line in _list_vague_variables(file)] == []


def test_no_page_says_of_one_thing_that_they_are() -> None:
    plural = re.compile(r"\}\} more (?:[a-z]+ )?are\b|\}\} more [a-z]+s\b")
    pages = (ROOT / "templates").rglob("*.html")
    assert [(page.name, text) for page in pages for text in plural.findall(page.read_text("utf-8"))] == []


def test_the_rule_of_variables_knows_every_way_to_bind_a_name() -> None:
    code = """
def read(asked, *said, left, **got):
    found, [kept] = rows
    for one in rows: ...
    with rows as told: ...
    try: ...
    except E as lost: ...
    match rows:
        case {"a": place, **there}: ...
        case [*matter]: ...
    return [here for here in rows if (thing := here)], lambda missed: missed
class Row:
    anew: str
"""
    assert {name for name, _ in _list_variables(ast.walk(ast.parse(code)))} - {"rows"} == VAGUE | {"left"}


def test_the_rule_finds_what_it_is_made_for() -> None:
    code = """
class Told:
    def kept(self): ...
    @property
    def sealed(self): ...
def read_rows():
    def _one(): ...
def is_kept(): ...
"""
    assert {name for name, _ in _list_names(ast.walk(ast.parse(code))) if _is_bad(name)} == {"Told", "kept", "_one"}


def _list_files(trees: Iterable[str] = TREES) -> Iterator[Path]:
    for tree in trees:
        yield from (file for file in sorted((ROOT / tree).rglob("*.py")) if "migrations" not in file.parts)


@cache
def _read_names(file: Path) -> tuple[list[tuple[str, int]], list[tuple[str, int]]]:
    """Classes and functions of a file, and its variables."""
    nodes = list(ast.walk(ast.parse(file.read_text())))
    return list(_list_names(nodes)), list(_list_variables(nodes))


def _list_bad_names(file: Path) -> Iterator[str]:
    where = file.relative_to(ROOT)
    if file.stem in COINED | PRONOUNS:
        yield f"{where}: a module has this name"
    for name, line in _read_names(file)[0]:
        if _is_bad(name):
            yield f"{where}:{line} {name}"


def _list_vague_variables(file: Path) -> Iterator[str]:
    where = file.relative_to(ROOT).as_posix()
    variables = _read_names(file)[1]
    # The left side of something has a right one; what is left of something is named after it.
    vague = VAGUE if "right" in {name for name, _ in variables} else VAGUE | {"left"}
    for name, line in variables:
        if name.strip("_") in vague and (where, name) not in COLUMNS:
            yield f"{where}:{line} {name}"


def _list_variables(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, int]]:
    """Variables, parameters and attributes of classes."""
    for node in nodes:
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name) | ast.MatchMapping(rest=str(name)):
                yield name, node.lineno
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                yield name, node.lineno


def _list_names(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, int]]:
    """Classes and functions; properties and fixtures are named like the value that they give."""
    for node in nodes:
        is_function = isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and not _gives_a_value(node)
        if is_function or isinstance(node, ast.ClassDef):
            yield node.name, node.lineno


def _gives_a_value(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any(re.search(r"property|fixture", ast.unparse(decorator)) for decorator in function.decorator_list)


def _is_bad(name: str) -> bool:
    word = name.strip("_")
    if word in COINED | PRONOUNS | IRREGULAR:
        return True
    return re.fullmatch(r"[a-z]{2,}ed", word) is not None and word not in NO_PARTICIPLES
