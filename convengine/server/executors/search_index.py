"""The full-text index of documents on each database; made after each migration if missing."""

from collections.abc import Sequence

from django.db.backends.base.base import BaseDatabaseWrapper

#: The language of word stems.
LANGUAGE = "english"
POSTGRES_TEXT = f"(setweight(to_tsvector('{LANGUAGE}', title), 'A') || setweight(to_tsvector('{LANGUAGE}', body), 'B'))"
_POSTGRES = (f"CREATE INDEX IF NOT EXISTS ce_document_text ON ce_document USING gin ({POSTGRES_TEXT})",)
_OUT = (
    "INSERT INTO ce_document_text (ce_document_text, rowid, title, body)"
    " VALUES ('delete', OLD.document_id, OLD.title, OLD.body);"
)
_IN = "INSERT INTO ce_document_text (rowid, title, body) VALUES (NEW.document_id, NEW.title, NEW.body);"
_SQLITE = (
    "CREATE VIRTUAL TABLE IF NOT EXISTS ce_document_text USING fts5"
    "(title, body, content='ce_document', content_rowid='document_id', tokenize='porter unicode61')",
    f"CREATE TRIGGER IF NOT EXISTS ce_document_in AFTER INSERT ON ce_document BEGIN {_IN} END",
    f"CREATE TRIGGER IF NOT EXISTS ce_document_out AFTER DELETE ON ce_document BEGIN {_OUT} END",
    f"CREATE TRIGGER IF NOT EXISTS ce_document_new AFTER UPDATE OF title, body ON ce_document BEGIN {_OUT} {_IN} END",
)


def ensure(connection: BaseDatabaseWrapper) -> None:
    """Make the index if missing; skip a database without the table."""
    if "ce_document" not in connection.introspection.table_names():
        return
    statements: Sequence[str] = _POSTGRES if connection.vendor == "postgresql" else _SQLITE
    with connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)
