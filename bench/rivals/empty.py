"""A DRF view that does nothing, for comparison with the pipeline alone."""

from django.urls import path
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView


class EmptyView(APIView):
    """Reads a JSON body and answers with one."""

    authentication_classes = []
    permission_classes = []
    # REST framework's default; the product has a quicker one.
    content_negotiation_class = DefaultContentNegotiation

    def post(self, request: Request) -> Response:
        return Response({"success": bool(request.data)})


urlpatterns = [path("empty", EmptyView.as_view())]
