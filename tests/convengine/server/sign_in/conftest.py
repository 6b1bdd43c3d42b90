"""The fixtures of an installation with a provider."""

from tests.convengine.server.sign_in.fixtures import provider_folder, set_user, site

__all__ = ["provider_folder", "set_user", "site"]
