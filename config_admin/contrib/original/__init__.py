"""Files and templates of the original engine: its seed SQL becomes rows, its older template forms Jinja2.

Settings name what is used of it: `FILE_READERS` and `TEMPLATE_CONVERTER`.
"""
