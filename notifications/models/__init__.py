"""The tables of the notifications app."""

from notifications.models.attempt import Attempt
from notifications.models.bulk_act import BULK_ACTIONS, BulkAct, BulkAction, BulkStatus
from notifications.models.client import ApiKey, Client
from notifications.models.content import Content
from notifications.models.control_act import Control, ControlAct, ControlAction
from notifications.models.dead_letter import DeadLetter
from notifications.models.inbox import InboxEntry
from notifications.models.look_up import LookUp
from notifications.models.notification import Notification
from notifications.models.operator_action import Action, ActorKind, OperatorAction
from notifications.models.pause import Pause
from notifications.models.provider_health import ProviderHealth, ProviderPace
from notifications.models.receipt import OnceToken, Receipt
from notifications.models.tally import OutcomeTally
from notifications.models.worker import Worker

__all__ = [
    "BULK_ACTIONS",
    "Action",
    "ActorKind",
    "ApiKey",
    "Attempt",
    "BulkAct",
    "BulkAction",
    "BulkStatus",
    "Client",
    "Content",
    "Control",
    "ControlAct",
    "ControlAction",
    "DeadLetter",
    "InboxEntry",
    "LookUp",
    "Notification",
    "OnceToken",
    "OperatorAction",
    "OutcomeTally",
    "Pause",
    "ProviderHealth",
    "ProviderPace",
    "Receipt",
    "Worker",
]
