"""Django's settings. What differs between installations comes from the environment (docs/configuration.md)."""

from contextlib import suppress
from datetime import timedelta
from pathlib import Path

import environ

from notifications import receipts
from notifyq.database_setting import database_config
from notifyq.env import Config, Environment
from notifyq.runtime.logs import logging_config
from notifyq.runtime.metrics import share_between_processes
from notifyq.secret_settings import encryption_keys

BASE_DIR = Path(__file__).resolve().parent.parent
if (BASE_DIR / ".env").is_file():
    environ.Env.read_env(BASE_DIR / ".env")

_env = Environment(prefix="")

DEBUG = _env.flag("DEBUG", default=False)
DATA_DIR = Path(_env.text("NOTIFYQ_DATA_DIR", str(BASE_DIR / ".data")))
NOTIFYQ = Config.load(Environment())
RECEIVERS = receipts.build(NOTIFYQ.receipt_providers, Environment())  # of providers' callbacks, by provider
# Before any app is loaded: a metric is tied to its place when it is declared.
METRICS_PROBLEM = share_between_processes(Path(_env.text("PROMETHEUS_MULTIPROC_DIR", str(DATA_DIR / "metrics"))))

# A newcomer needs no settings at all: entry points (manage.py, wsgi.py) put both of these into the environment
# before Django starts when they are missing, see notifyq.embedded. A tool that only imports the settings gets by.
SECRET_KEY = _env.text("SECRET_KEY", "not-secret-no-entry-point-was-used")
DATABASES = {"default": database_config("postgres://localhost/notifyq")}
DATABASES["default"]["CONN_MAX_AGE"] = 60
DATABASES["default"]["CONN_HEALTH_CHECKS"] = True
# Values go apart from the statement: the workers pass long arrays, which would otherwise be quoted into its text.
DATABASES["default"]["OPTIONS"] = {
    "server_side_binding": True,
    # A database host that vanishes without a word is noticed within half a minute, not after hours.
    "connect_timeout": 5,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 25_000,
} | DATABASES["default"].get("OPTIONS", {})

# Plain HTTP stays usable, as on a loopback address; behind TLS set SECURE_COOKIES=true, and behind a proxy that ends
# TLS and overwrites X-Forwarded-Proto also TRUST_FORWARDED_PROTO=true.
SECURE_COOKIES = _env.flag("SECURE_COOKIES", default=False)
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = SECURE_COOKIES
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
SECURE_PROXY_SSL_HEADER = (
    ("HTTP_X_FORWARDED_PROTO", "https") if _env.flag("TRUST_FORWARDED_PROTO", default=False) else None
)
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"

ALLOWED_HOSTS = list(_env.hosts("ALLOWED_HOSTS", "localhost,127.0.0.1,[::1]"))
CSRF_TRUSTED_ORIGINS = list(_env.origins("CSRF_TRUSTED_ORIGINS"))

# Each view has a histogram of its own in `/metrics`.
PROMETHEUS_LATENCY_BUCKETS = (0.025, 0.1, 0.25, 1.0, 2.5, 10.0, float("inf"))

INSTALLED_APPS = [
    "notifyq.console.apps.ConsoleConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.postgres",
    "django.contrib.humanize",
    "django_prometheus",
    "axes",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "notifyq",
    "ratelimits",
    "notifications",
    "webhooks",
]

MIDDLEWARE = [
    "notifyq.rest.request_id.RequestIdMiddleware",
    "notifyq.rest.body_length.BodyLengthMiddleware",  # before anything that trusts Content-Length
    "django_prometheus.middleware.PrometheusBeforeMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "csp.middleware.CSPMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "notifyq.rest.charset.CharsetMiddleware",  # before anything that reads a form
    "notifyq.console.outage.OutageMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "axes.middleware.AxesMiddleware",
    "django_prometheus.middleware.PrometheusAfterMiddleware",
]
AUTHENTICATION_BACKENDS = ["axes.backends.AxesBackend", "django.contrib.auth.backends.ModelBackend"]

# Guessing passwords: five wrong ones from one address for one name, and that pair waits. The name alone would let
# anybody lock out whoever is on call.
AXES_FAILURE_LIMIT = 5
AXES_COOLOFF_TIME = timedelta(minutes=15)
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_RESET_ON_SUCCESS = True
AXES_RESET_COOL_OFF_ON_FAILURE_DURING_LOCKOUT = False
AXES_LOCKOUT_TEMPLATE = "admin/locked_out.html"
AXES_ENABLE_ADMIN = False  # `manage.py axes_reset_username NAME` lets somebody in at once
AXES_VERBOSE = False

# Nothing from elsewhere, no script in a page. What shows a stranger's HTML brings a stricter policy of its own.
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": ["'none'"],
        "script-src": ["'self'"],
        "style-src": ["'self'"],
        "img-src": ["'self'", "data:"],
        "font-src": ["'self'"],
        "connect-src": ["'self'"],
        "frame-src": ["'self'"],
        "form-action": ["'self'"],
        "base-uri": ["'none'"],
        "frame-ancestors": ["'none'"],
    }
}

LOGIN_REDIRECT_URL = "admin:index"  # for those who come to the login by no page of the console
ROOT_URLCONF = "notifyq.urls"
WSGI_APPLICATION = "notifyq.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
STATIC_URL = "/static/"
STATIC_ROOT = DATA_DIR / "static"
with suppress(OSError):  # an unwritable place is no reason not to start
    STATIC_ROOT.mkdir(parents=True, exist_ok=True)  # whitenoise warns when it is missing
WHITENOISE_USE_FINDERS = True  # no collectstatic step between a clone and a finished admin page

DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
USE_TZ = True
TIME_ZONE = "UTC"
LANGUAGE_CODE = "en"
FORMAT_MODULE_PATH = "notifyq.formats"  # the console shows times to the second
APPEND_SLASH = True

ENCRYPTION_KEYS = encryption_keys(Environment())  # the first encrypts; without any, SECRET_KEY does
REQUEST_MAX_BYTES = 1 << 20  # of any body; an endpoint may say otherwise by its `body_max_bytes`

REST_FRAMEWORK: dict[str, object] = {
    "EXCEPTION_HANDLER": "notifyq.rest.errors.handle",
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "DEFAULT_AUTHENTICATION_CLASSES": [],
    "DEFAULT_PERMISSION_CLASSES": [],
    "UNAUTHENTICATED_USER": None,
    "URL_FORMAT_OVERRIDE": None,
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Notify Queue",
    "DESCRIPTION": (
        "Send e-mails, text messages and push messages, each delivered once. Times are RFC 3339 with an offset, "
        "errors are `application/problem+json`, and every answer carries an `X-Request-Id`."
    ),
    "VERSION": "1",
    "OAS_VERSION": "3.1.0",
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_PERMISSIONS": [],
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "SWAGGER_UI_SETTINGS": {
        "deepLinking": True,
        "persistAuthorization": True,
        "displayRequestDuration": True,
        "docExpansion": "list",
    },
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "TAGS": [
        {"name": "notifications", "description": "Send, look at and take back notifications."},
        {"name": "operators", "description": "Put right what went wrong; needs the scope `operate`."},
        {"name": "webhooks", "description": "Be told of outcomes: endpoints, and what was sent to them."},
    ],
    "POSTPROCESSING_HOOKS": ["notifications.api.schemas.add_components", "webhooks.api.schemas.add_components"],
}

LOGGING_CONFIG = "logging.config.dictConfig"
LOGGING = logging_config(
    _env.choice("NOTIFYQ_LOG_LEVEL", ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"), default="INFO")
)
