"""Older template forms, such as `#{…}`, which become Jinja2 on import and on save; the engine reads only Jinja2."""
