"""Registers the admin of all tables and their pages."""

from convengine.server.admin_site.pages import import_declarations

import_declarations("config_admin")
