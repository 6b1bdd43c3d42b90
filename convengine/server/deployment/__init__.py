"""Settings of the deployment: environment variables, `settings.CONVENGINE`, logging."""
