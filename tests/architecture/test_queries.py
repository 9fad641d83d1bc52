"""Who may talk to the database, and who may change a notification's status."""

import ast
import re

from tests.support.source import modules

MAY_QUERY = {
    "notifications/queue/": "the queue",
    "notifications/selectors.py": "reading for everybody else",
    "notifications/counting.py": "counts the queue, each look bounded",
    "notifications/heartbeats.py": "how the workers are, a handful of rows",
    "notifications/waiting.py": "what no provider can take now, a handful of rows",
    "notifications/undelivered/": "groups and pages of what ended undelivered, each look bounded",
    "notifications/inbox.py": "what users see and have read, no part of the queue",
    "notifications/accounts.py": "clients and their keys, no part of the queue",
    "notifications/admin/": "shows rows; it is read-only",
    "ratelimits/requests.py": "one row for each key, apart from the queue",
    "ratelimits/rules.py": "the rules themselves, a handful of rows",
    "ratelimits/ledger.py": "the rate limits' tables, written in the queue's transactions",
    "webhooks/queue/": "the queue of webhook events",
    "webhooks/selectors.py": "reading webhooks for everybody else",
    "webhooks/services/endpoints.py": "endpoints, no part of a queue",
    "webhooks/admin/": "shows rows; it is read-only",
    "notifyq/leasing/": "the kernel of the queue",
    "notifyq/runtime/wakeup.py": "LISTEN and pg_notify, no rows",
    "notifyq/runtime/probe.py": "a connection of its own that cannot hang",
    "notifyq/runtime/index_order.py": "settings of a transaction, no rows",
    "notifyq/health.py": "looks through the probe",
    "notifyq/queue_metrics.py": "counts through the probe",
    "notifyq/console/": "counts what the admin shows, under a timeout",
    "notifyq/admin.py": "people and their roles, no part of the queue",
    "notifyq/roles.py": "the groups of the console, in a migration",
    "notifyq/overview/": "reads the front page of the console",
    "notifyq/embedded/": "makes the server before Django is there",
    "notifyq/up/": "the operator's login for a newcomer",
    "notifyq/sandbox/": "the simulated vendor's own SQLite file",
    "notifyq/doctor/": "looks at the server's health; changes nothing",
    "notifyq/bench/": "works in a scratch database of its own",
}
MANAGERS = {"objects", "_default_manager", "_base_manager"}
METHODS = {"cursor", "execute", "executemany", "save", "delete", "bulk_create", "bulk_update", "rows"}
SETS_STATUS = re.compile(r"\bSET\b[^;]*\bstatus\s*=", re.IGNORECASE)
SIGNALS = ("django.dispatch", "django.db.models.signals", "django.core.signals", "django.db.backends.signals")


def calls(tree):
    return (node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute))


def queries(tree):
    managers = [n.lineno for n in ast.walk(tree) if isinstance(n, ast.Attribute) and n.attr in MANAGERS]
    return managers + [c.lineno for c in calls(tree) if c.func.attr in METHODS]


def status_changes(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _name(node.func) in ("update", "take"):
            if any(keyword.arg == "status" for keyword in node.keywords):
                yield node.lineno
        elif isinstance(node, ast.Assign):
            if any(
                isinstance(t, ast.Attribute) and t.attr == "status" and _name(t.value) != "self" for t in node.targets
            ):
                yield node.lineno
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and SETS_STATUS.search(node.value):
            yield node.lineno


def imports(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def _name(node):
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def test_database__outside_the_listed_modules__is_not_asked():
    found = [
        f"{path}:{line}" for path, tree in modules() if not path.startswith(tuple(MAY_QUERY)) for line in queries(tree)
    ]

    assert found == []


def test_status__outside_the_queue__is_not_changed():
    found = [
        f"{path}:{line}"
        for path, tree in modules()
        if not path.startswith(("notifications/queue/", "webhooks/queue/", "notifyq/bench/"))
        for line in status_changes(tree)
    ]

    assert found == []


def test_rows__that_exist__are_never_saved_whole():
    found = [
        f"{path}:{call.lineno}"
        for path, tree in modules()
        for call in calls(tree)
        if call.func.attr == "save" and not any(k.arg == "update_fields" for k in call.keywords)
    ]

    assert found == []


def test_signals__anywhere__are_not_used():
    found = [f"{path}: {name}" for path, tree in modules() for name in imports(tree) if name.startswith(SIGNALS)]

    assert found == []


def test_scan__of_code_that_breaks_each_rule__finds_it():
    bad = ast.parse(
        "from django.db.models.signals import post_save\n"
        "Notification.objects.filter(pk=1).update(status='SENT')\n"
        "row.status = 'SENT'\n"
        "cursor.execute('UPDATE t SET a = 1, status = 2')\n"
    )

    assert sorted(set(queries(bad))) == [2, 4]
    assert sorted(status_changes(bad)) == [2, 3, 4]
    assert next(imports(bad)).startswith(SIGNALS)
