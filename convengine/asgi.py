"""Event streams, and the all-in-one demo (ASGI)."""

import os

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "convengine.settings")
application = get_asgi_application()

from convengine.process import settle  # noqa: E402 - only now is Django ready for it

settle()
