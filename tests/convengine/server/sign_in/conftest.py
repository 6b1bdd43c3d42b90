"""The fixtures of an installation with a provider."""

from tests.convengine.server.sign_in.fixtures import provider_folder, saml_site, set_user, site

__all__ = ["provider_folder", "saml_site", "set_user", "site"]
