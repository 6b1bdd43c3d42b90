"""The app of sign-in through an identity provider and of second factors."""

from django.apps import AppConfig


class SignInConfig(AppConfig):
    name = "convengine.server.sign_in"
    label = "ce_sign_in"
    verbose_name = "Sign-in"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Log changes of second factors and connected accounts."""
        from convengine.server.sign_in import changes  # noqa: F401
