"""Registers the admin of all tables and their pages."""

from config_admin.editing.row_diff import DESCRIBERS
from config_admin.flows.summary import describe_form_difference
from convengine.server.admin_site.pages import import_declarations

import_declarations("config_admin")
DESCRIBERS["ce_output_schema", "json_schema"] = describe_form_difference
