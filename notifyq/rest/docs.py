"""The OpenAPI document and the page that shows it."""

from csp.decorators import csp_update
from django.utils.decorators import method_decorator
from drf_spectacular.renderers import (
    OpenApiJsonRenderer,
    OpenApiJsonRenderer2,
    OpenApiYamlRenderer,
    OpenApiYamlRenderer2,
)
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView

# Swagger UI writes styles into its page; its script comes from an address of its own.
_STYLES = {"style-src": ["'unsafe-inline'"]}


class SchemaView(SpectacularAPIView):
    """JSON unless YAML is asked for: every YAML reader reads JSON, but not the other way round."""

    renderer_classes = [OpenApiJsonRenderer2, OpenApiJsonRenderer, OpenApiYamlRenderer, OpenApiYamlRenderer2]
    authentication_classes = []
    permission_classes = []


@method_decorator(csp_update(_STYLES), name="dispatch")
class DocsView(SpectacularSwaggerSplitView):
    """Swagger UI from the package, so that it works without the Internet."""

    authentication_classes = []
    permission_classes = []
