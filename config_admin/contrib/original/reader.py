"""Reads seed SQL of the original, where its parser is installed."""

from config_admin.transfer.document import Document, FileRefused
from convengine.engine.extras import describe_missing

#: A parser reads SQL, which takes seconds for this size: a hundred times a row of another format.
MOST_BYTES = 256 * 1024


def read_seed_sql(name: str, text: str) -> Document:
    """The rows of a file of statements. Raises FileRefused when it is too large or cannot be parsed."""
    if (size := len(text.encode())) > MOST_BYTES:
        most = MOST_BYTES // 1024
        raise FileRefused(name, f"has {size // 1024} KB of SQL; at most {most} KB are read. Split it by tables.")
    if missing := describe_missing("sql"):
        raise FileRefused("The file", f"the file is SQL. {missing}")
    from config_admin.contrib.original.seed_sql import read_statements

    return read_statements(text)
