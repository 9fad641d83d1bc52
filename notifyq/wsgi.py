"""WSGI entry point: `gunicorn notifyq.wsgi`."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "notifyq.settings")
application = get_wsgi_application()

from notifyq.runtime.metrics import forget_dead_processes  # noqa: E402 (the settings say where the files are)

forget_dead_processes()
