"""A turn is committed by one statement, which this function stops when a row is missing (sessions 7)."""

from typing import Any

from django.db import migrations

CREATE = """
CREATE OR REPLACE FUNCTION ce_require_match(rows bigint) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
    IF rows = 0 THEN
        RAISE EXCEPTION 'a statement matched no row' USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN rows;
END $$
"""


def create_function(apps: Any, schema_editor: Any) -> None:
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute(CREATE)


def drop_function(apps: Any, schema_editor: Any) -> None:
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute("DROP FUNCTION ce_require_match(bigint)")


class Migration(migrations.Migration):

    dependencies = [("ce_sessions", "0010_opened_by")]

    operations = [migrations.RunPython(create_function, drop_function)]
