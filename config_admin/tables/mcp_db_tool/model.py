"""`ce_mcp_db_tool`: the SQL behind a database tool."""

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models

from config_admin.tables.base_model import ControlPlaneRow, index
from config_admin.tables.mcp_db_tool.checks import SAVE_CHECKS
from config_admin.tables.mcp_tool.model import CeMcpTool
from config_admin.tables.model_fields import document, flag, word
from config_admin.validation.columns import SQL, Bounds, NaturalKey, Problem, declare_column
from convengine.engine.turn.enums import SqlDialect


class CeMcpDbTool(ControlPlaneRow):
    """One row per tool of group DB that has no handler in code."""

    save_checks = SAVE_CHECKS
    natural_key = NaturalKey(("tool_code",), is_unique=True, ignores_case=True)

    tool = models.OneToOneField(CeMcpTool, on_delete=models.CASCADE, primary_key=True, related_name="db_tool")
    dialect = word(SqlDialect, default=SqlDialect.POSTGRES.value)
    sql_template = declare_column(
        models.TextField("SQL", help_text="Use :name for a value and ${name} for an allowed identifier."),
        language=SQL,
    )
    param_schema = document(
        verbose_name="parameters", help_text="JSON Schema of the arguments. Calls with other arguments are rejected."
    )
    allowed_identifiers = document(
        null=True, blank=True, help_text='Values that ${name} may take, for example {"name": ["table_a", "table_b"]}.'
    )
    allowed_tables = declare_column(
        document(null=True, blank=True, help_text="A list of tables. Empty allows all tables of the read-only login."),
        shape=list,
        misshapen=Problem("SHAPE_INVALID", "Use a JSON list of table names."),
    )
    safe_mode = flag(True, help_text="Only statements that read are allowed.")
    max_rows = declare_column(
        models.IntegerField(
            default=200,
            db_default=200,
            validators=[MinValueValidator(1), MaxValueValidator(10_000)],
            help_text="1 to 10000. Further rows are dropped.",
        ),
        bounds=Bounds(1, 10_000, Problem("MAX_ROWS", "The number of rows must be a whole number from 1 to 10000.")),
    )

    class Meta(ControlPlaneRow.Meta):
        db_table = "ce_mcp_db_tool"
        verbose_name = "database tool"
        indexes = [index("ce_mcp_db_tool_dialect", "dialect")]
