"""What holds for the reader of messages as a whole."""

import ast
from pathlib import Path

import pytest

import convengine.engine.understanding as room

ROOM = Path(room.__file__).parent
MODULES = sorted(ROOM.rglob("*.py"))


@pytest.mark.parametrize("module", MODULES, ids=lambda file: file.relative_to(ROOM).as_posix())
def test_no_regular_expression_is_applied_to_what_users_type(module: Path) -> None:
    imports = [
        node for node in ast.walk(ast.parse(module.read_text())) if isinstance(node, (ast.Import, ast.ImportFrom))
    ]
    names = {alias.name for node in imports for alias in node.names} | {
        node.module for node in imports if isinstance(node, ast.ImportFrom)
    }

    assert names.isdisjoint({"re", "regex"})
