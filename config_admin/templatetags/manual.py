"""Template tags for links into the manual."""

from django import template

from config_admin.manual.links import describe_entries_of_form, entry_url

register = template.Library()
register.simple_tag(entry_url, name="manual_url")
register.simple_tag(describe_entries_of_form, name="manual_fields")
