"""The template tag for breadcrumbs."""

from django import template

from convengine.server.admin_site.breadcrumbs import breadcrumbs

register = template.Library()
register.simple_tag(breadcrumbs, takes_context=True)
