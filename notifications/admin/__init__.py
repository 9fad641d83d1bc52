"""The operators' console: every table of the app, read-only but for what services do, which is recorded."""

from notifications.admin.client import ApiKeyAdmin, ClientAdmin
from notifications.admin.dead_letter import DeadLetterAdmin
from notifications.admin.notification import AttemptAdmin, ContentAdmin, NotificationAdmin
from notifications.admin.operator_action import OperatorActionAdmin
from notifications.admin.pause import PauseAdmin
from notifications.admin.provider_health import ProviderHealthAdmin, ProviderPaceAdmin
from notifications.admin.rate_limit_rule import RateLimitRuleAdmin
from notifications.admin.worker import WorkerAdmin

__all__ = [
    "ApiKeyAdmin",
    "AttemptAdmin",
    "ClientAdmin",
    "ContentAdmin",
    "DeadLetterAdmin",
    "NotificationAdmin",
    "OperatorActionAdmin",
    "PauseAdmin",
    "ProviderHealthAdmin",
    "ProviderPaceAdmin",
    "RateLimitRuleAdmin",
    "WorkerAdmin",
]
