"""The operators' console: every table of the app, read-only but for what services do, which is recorded."""

from notifications.admin.bulk import BulkActAdmin
from notifications.admin.client import ApiKeyAdmin, ClientAdmin
from notifications.admin.control_act import ControlActAdmin
from notifications.admin.dead_letter import DeadLetterAdmin
from notifications.admin.dead_letters import SEE
from notifications.admin.inbox import InboxEntryAdmin
from notifications.admin.look_up import LookUpAdmin
from notifications.admin.notification import AttemptAdmin, ContentAdmin, NotificationAdmin
from notifications.admin.operator_action import OperatorActionAdmin
from notifications.admin.pause import PauseAdmin
from notifications.admin.provider_health import ProviderHealthAdmin, ProviderPaceAdmin
from notifications.admin.rate_limit_rule import RateLimitRuleAdmin
from notifications.admin.tally import OutcomeTallyAdmin
from notifications.admin.worker import WorkerAdmin
from notifyq.console import Link, add_link

__all__ = [
    "ApiKeyAdmin",
    "AttemptAdmin",
    "BulkActAdmin",
    "ClientAdmin",
    "ContentAdmin",
    "ControlActAdmin",
    "DeadLetterAdmin",
    "InboxEntryAdmin",
    "LookUpAdmin",
    "NotificationAdmin",
    "OperatorActionAdmin",
    "OutcomeTallyAdmin",
    "PauseAdmin",
    "ProviderHealthAdmin",
    "ProviderPaceAdmin",
    "RateLimitRuleAdmin",
    "WorkerAdmin",
]

for _order, _label, _model, *_also in (
    (30, "Notifications", "notification", "attempt", "content", "inboxentry", "lookup", "receipt"),
    (40, "Providers", "providerhealth", "providerpace"),
    (60, "Pauses", "pause"),
    (80, "Workers", "worker"),
    (90, "Acts", "operatoraction", "controlact"),
    (100, "Clients", "client"),
    (110, "API keys", "apikey"),
):
    _name, _holds = f"admin:notifications_{_model}_changelist", tuple(f"notifications/{_place}" for _place in _also)
    add_link(Link(_label, _name, f"notifications.view_{_model}", _order, _holds))
add_link(Link("Bulk acts", "admin:bulk-list", "notifications.view_bulkact", 55, ("notifications/bulkact",)))
add_link(Link("Limits", "admin:ratelimits_ratelimitrule_changelist", "ratelimits.view_ratelimitrule", 70))
add_link(Link("Dead letters", "admin:dead-letters", SEE, 20))
add_link(Link("Overview", "admin:index", "notifications.view_notification", 10, ("notifications/outcometally",)))
