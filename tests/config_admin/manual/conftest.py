"""Who reads the manual."""

from tests.config_admin.admin.conftest import ben, somebody

__all__ = ["ben", "somebody"]
