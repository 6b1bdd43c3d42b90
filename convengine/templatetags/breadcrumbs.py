"""How templates show the way to their page."""

from django import template

from convengine.breadcrumbs import breadcrumbs

register = template.Library()
register.simple_tag(breadcrumbs, takes_context=True)
