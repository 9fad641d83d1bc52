"""WSGI entry point: `gunicorn notifyq.wsgi`."""

import logging
import os

from django.conf import settings
from django.core.wsgi import get_wsgi_application

from notifyq.rest.charset import utf_8_only
from notifyq.rest.patience import patient
from notifyq.startup import one_line_errors, provide_environment

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "notifyq.settings")
with one_line_errors():
    provide_environment()
    application = patient(utf_8_only(get_wsgi_application()), settings.NOTIFYQ.request_body_seconds)

from notifyq.runtime.logs import WithoutRequests
from notifyq.runtime.metrics import forget_dead_processes
from notifyq.secret_settings import is_short

forget_dead_processes()
logging.getLogger("gunicorn.error").addFilter(WithoutRequests())
if is_short(settings.SECRET_KEY) and not settings.DEBUG:  # no system check says so here
    logging.getLogger(__name__).warning("secret_key_too_short")
