"""WSGI entry point: `gunicorn notifyq.wsgi`."""

import os

from django.conf import settings
from django.core.wsgi import get_wsgi_application

from notifyq.rest.patience import patient
from notifyq.startup import one_line_errors, provide_environment

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "notifyq.settings")
with one_line_errors():
    provide_environment()
    application = patient(get_wsgi_application(), settings.NOTIFYQ.request_body_seconds)

from notifyq.runtime.metrics import forget_dead_processes

forget_dead_processes()
