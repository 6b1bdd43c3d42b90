"""`ce_mcp_db_tool`: the SQL behind a database tool (tables 4.4)."""

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models

from config_admin.models.base import ControlPlaneRow, index, shortened
from config_admin.models.fields import document, flag, word
from config_admin.models.mcp_tool import CeMcpTool
from convengine.domain.enums import SqlDialect


class CeMcpDbTool(ControlPlaneRow):
    """One row a tool of group DB that has no handler in code."""

    tool = models.OneToOneField(CeMcpTool, on_delete=models.CASCADE, primary_key=True, related_name="db_tool")
    dialect = word(SqlDialect, default=SqlDialect.POSTGRES.value)
    sql_template = models.TextField(
        "SQL", help_text=":name is a bound value; ${name} is an identifier from the allowed ones."
    )
    param_schema = document(verbose_name="parameters", help_text="JSON Schema of the arguments; enforced.")
    allowed_identifiers = document(
        null=True, blank=True, help_text='Values that ${name} may take, for example {"name": ["table_a", "table_b"]}.'
    )
    allowed_tables = document(
        null=True, blank=True, help_text="A list of tables; blank for all that the read-only login sees."
    )
    safe_mode = flag(True, help_text="The read-only guard applies.")
    max_rows = models.IntegerField(
        default=200,
        db_default=200,
        validators=[MinValueValidator(1), MaxValueValidator(10_000)],
        help_text="1 to 10000; the result is cut there.",
    )

    class Meta(ControlPlaneRow.Meta):
        db_table = "ce_mcp_db_tool"
        verbose_name = "database tool"
        indexes = [index("ce_mcp_db_tool_dialect", "dialect")]

    def summary(self) -> str:
        return shortened(self.sql_template)
