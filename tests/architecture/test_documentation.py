"""The pages in docs/ say what the code does: lists in them are held against the code."""

import importlib.util
import re

import pytest

from notifications.channel import Channel
from notifications.diagram import PAGE, refreshed
from notifications.providers import registry
from notifications.providers.instance_settings import variable_prefix
from notifications.providers.setting_names import full
from notifications.receipts import registry as receivers
from notifyq.env import Config, Environment
from notifyq.queue_metrics import GAUGES
from notifyq.unknown_variables import unknown_variables
from tests.support.push_accounts import apns_variables, fcm_variables
from tests.support.source import ROOT, modules

DOCS = ROOT / "docs"
PAGES = [*DOCS.glob("*.md"), ROOT / "README.md", ROOT / "CHANGELOG.md"]
LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]*)(?:#([^)\s]+))?\)")
# Read without `Environment`, by a name in quotes.
DIRECT = re.compile(r"""environ(?:\.get\(|\[)["']([A-Z_]+)["']""")
# What stands there for all providers can be given for one by its name, whatever that is.
OF_ONE_PROVIDER = re.compile(r"NOTIFYQ_\w+_(BREAKER_\w+|RATE_PER_SECOND)$")
NOT_SETTINGS = {"DJANGO_SETTINGS_MODULE", "PATH", "PYTHONDONTWRITEBYTECODE", "PYTHONPYCACHEPREFIX"}
FROM = {"NOTIFYQ_EMAIL_FROM": "a@example.com"}
RECEIVER_VARIABLES = {f"NOTIFYQ_{receivers.variable_of(kind)}" for kind in receivers.RECEIVERS}
OF_A_RECEIVER = re.compile(r"_RECEIPT_(SECRETS|TOPICS)$")
GIVEN = {  # what an adapter has no default for
    "apns": apns_variables(),
    "fcm": fcm_variables(),
    "twilio": {
        "NOTIFYQ_TWILIO_ACCOUNT_SID": "AC" + "0" * 32,
        "NOTIFYQ_TWILIO_AUTH_TOKEN": "t",
        "NOTIFYQ_SMS_FROM": "Shop",
        "NOTIFYQ_RECEIPTS_URL": "https://notify.example.com",
    },
    "vonage": {
        "NOTIFYQ_VONAGE_API_KEY": "k",
        "NOTIFYQ_VONAGE_API_SECRET": "s",
        "NOTIFYQ_SMS_FROM": "Shop",
        "NOTIFYQ_RECEIPTS_URL": "https://notify.example.com",
    },
    "bulksms": {
        "NOTIFYQ_BULKSMS_TOKEN_ID": "i",
        "NOTIFYQ_BULKSMS_TOKEN_SECRET": "s",
        "NOTIFYQ_RECEIPTS_URL": "https://notify.example.com",
    },
    "kudisms": {
        "NOTIFYQ_KUDISMS_ACCEPT_UNPROVEN": "true",
        "NOTIFYQ_KUDISMS_TOKEN": "t",
        "NOTIFYQ_SMS_FROM": "Shop",
    },
    "mailgun": {"NOTIFYQ_MAILGUN_API_KEY": "k", "NOTIFYQ_MAILGUN_DOMAIN": "example.com"} | FROM,
    "resend": {"NOTIFYQ_RESEND_API_KEY": "k"} | FROM,
    "sendgrid": {"NOTIFYQ_SENDGRID_API_KEY": "k"} | FROM,
    "ses": {"NOTIFYQ_SES_REGION": "r", "NOTIFYQ_SES_ACCESS_KEY_ID": "k", "NOTIFYQ_SES_SECRET_ACCESS_KEY": "k"} | FROM,
    "smtp": {"NOTIFYQ_SMTP_URL": "smtp://mail.example.com"} | FROM,
}


def read(name):
    return (DOCS / name).read_text(encoding="utf-8")


def documented_variables(text):
    names = re.findall(r"^\| `([A-Z_<>]+)` \|", text, re.MULTILINE)
    of_receivers = {n for n in names if "<PROVIDER>" in n}
    others = {n.replace("<CHANNEL>", c) for n in names for c in (Channel if "<CHANNEL>" in n else ["-"])}
    return others - of_receivers | (RECEIVER_VARIABLES if of_receivers else set())


def section(page, title):
    return page.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def metric_names():
    from prometheus_client.metrics import MetricWrapperBase

    from notifications import metrics
    from webhooks import metrics as of_webhooks

    declared = [*vars(metrics).values(), *vars(of_webhooks).values()]
    kept = [next(iter(m.describe())) for m in declared if isinstance(m, MetricWrapperBase)]
    return {f"{m.name}_total" if m.type == "counter" else m.name for m in kept} | set(GAUGES)


@pytest.fixture
def names_read(monkeypatch):
    """What has been read from the environment since the fixture was asked for."""
    monkeypatch.setattr(Environment, "read", set())
    return Environment.read


def adapters():
    return [kind for kind, target in registry.ADAPTERS.items() if importlib.util.find_spec(target.partition(":")[0])]


def test_states__as_written__are_those_of_the_code():
    page = PAGE.read_text(encoding="utf-8")

    assert page == refreshed(page), "run `python -m notifications.diagram`"


def test_variables__that_the_settings_read__are_all_documented_and_no_others():
    importlib.import_module("notifyq.settings")
    Config.load(Environment({}))
    sources = [(ROOT / path).read_text(encoding="utf-8") for path, _ in modules()]
    directly = {name for source in sources for name in DIRECT.findall(source)} - NOT_SETTINGS
    page = read("configuration.md")
    of_adapters = {n for k in registry.ADAPTERS for n in documented_variables(section(page, f"Provider `{k}`"))}
    # Other tests build adapters, also labelled ones; what those read is held against their own sections below.
    prefixes = tuple(f"NOTIFYQ_{kind.upper()}_" for kind in registry.ADAPTERS)
    read_here = {n for n in Environment.read if not OF_A_RECEIVER.search(n)}  # the same for receivers
    known = {n for n in read_here | directly if not (n.startswith(prefixes) or OF_ONE_PROVIDER.match(n))}
    known -= of_adapters
    expected = known | {"NOTIFYQ_EXTRA_PROVIDERS"} | RECEIVER_VARIABLES

    assert documented_variables(page) - of_adapters == expected - of_adapters


def test_variables__of_receivers__are_those_that_are_read(names_read):
    receivers.build((), Environment({}))

    assert names_read == RECEIVER_VARIABLES


def test_variables__that_are_documented__are_not_taken_for_misspelt():
    importlib.import_module("notifyq.settings")
    Config.load(Environment({}))
    ours = {name for name in documented_variables(read("configuration.md")) if name.startswith("NOTIFYQ_")}

    assert len(ours) > 30
    assert list(unknown_variables(dict.fromkeys(ours | {f"{name}_FILE" for name in ours}, "1"))) == []


@pytest.mark.parametrize("kind", adapters())
def test_variables__that_an_adapter_reads__are_those_of_its_section(kind, names_read):
    registry.build(kind, Environment(GIVEN.get(kind, {})))

    expected = names_read - {"NOTIFYQ_EXTRA_PROVIDERS"}
    declared = registry.find(kind, Environment({})).setting_names
    assert {full(variable_prefix(kind), name) for name in declared} == expected
    assert documented_variables(section(read("configuration.md"), f"Provider `{kind}`")) == expected


@pytest.mark.parametrize("field", ["max_attempts", *(f for f in Config.__slots__ if f.endswith("_seconds"))])
def test_defaults__of_numbers__are_those_of_the_code(field):
    shown = re.search(rf"^\| `NOTIFYQ_{field.upper()}` \| `([\d.]+)` \|", read("configuration.md"), re.MULTILINE)
    value = getattr(Config.load(Environment({})), field)

    assert shown is not None
    assert float(shown[1]) == (value[Channel.EMAIL] if field == "max_attempts" else value)


def test_metrics__that_exist__are_all_documented_and_no_others():
    documented = set(re.findall(r"^\| `(notifyq_\w+)` \|", read("operations.md"), re.MULTILINE))

    assert documented == metric_names()


def test_pages__in_docs__all_stand_in_the_index():
    linked = {target for target, _ in LINK.findall(read("README.md"))}

    assert {p.name for p in DOCS.glob("*.md")} - {"README.md"} == linked


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links__on_every_page__lead_somewhere(page):
    for target, anchor in LINK.findall(page.read_text(encoding="utf-8")):
        if target.startswith(("http:", "https:")):
            continue
        other = (page.parent / target) if target else page
        assert other.exists(), f"{page.name} → {target}"
        assert not anchor or anchor in anchors(other), f"{page.name} → {target}#{anchor}"


def anchors(page):
    titles = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def test_modules__named_in_the_architecture__exist():
    named = re.findall(r"`((?:notifyq|notifications)/[\w/.]+)`", read("architecture.md"))

    assert named
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_commands__of_this_project__are_all_in_the_readme():
    table = section((ROOT / "README.md").read_text(encoding="utf-8"), "Commands")
    named = set(re.findall(r"`(?:manage\.py )?(\w+)`", table))
    ours = {path.stem for path in ROOT.glob("*/management/commands/*.py") if path.stem != "__init__"}

    assert ours - named == set()
