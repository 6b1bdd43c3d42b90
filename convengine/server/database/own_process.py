"""A process that helps a command, on the same database: it imports this before Django is set up there."""

import gc

import django


def set_up_process(database: str) -> None:
    """Set up Django on the database with this name."""
    # As the other entry points: what is imported is no garbage.
    gc.disable()
    from django.conf import settings

    settings.DATABASES["default"]["NAME"] = database
    django.setup()
    gc.enable()
