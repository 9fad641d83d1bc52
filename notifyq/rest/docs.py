"""The OpenAPI document and the page that shows it."""

from drf_spectacular.renderers import (
    OpenApiJsonRenderer,
    OpenApiJsonRenderer2,
    OpenApiYamlRenderer,
    OpenApiYamlRenderer2,
)
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerView


class SchemaView(SpectacularAPIView):
    """JSON unless YAML is asked for: every YAML reader reads JSON, but not the other way round."""

    renderer_classes = [OpenApiJsonRenderer2, OpenApiJsonRenderer, OpenApiYamlRenderer, OpenApiYamlRenderer2]
    authentication_classes = []
    permission_classes = []


class DocsView(SpectacularSwaggerView):
    """Swagger UI from the package, so that it works without the Internet."""

    authentication_classes = []
    permission_classes = []
