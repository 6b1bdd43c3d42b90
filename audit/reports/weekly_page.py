"""The weekly page in the admin, to look at and to print."""

from django.http import HttpRequest, HttpResponse

from audit.access_log.write import log_row_access
from audit.reports.report_request import RIGHT
from audit.reports.weekly import render_weekly_page
from convengine.server.admin_site.missing_rights import require_right


def weekly_page(request: HttpRequest) -> HttpResponse:
    """The last seven days; `?file` saves it as a file."""
    require_right(request, RIGHT)
    log_row_access(request, None)
    if "file" not in request.GET:
        return HttpResponse(render_weekly_page())
    response = HttpResponse(render_weekly_page(is_file=True))
    response["Content-Disposition"] = 'attachment; filename="week.html"'
    return response
