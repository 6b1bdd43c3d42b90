"""Turns, API and admin (WSGI)."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "convengine.settings")
application = get_wsgi_application()

from convengine.process import settle  # noqa: E402 - only now is Django ready for it

settle()
