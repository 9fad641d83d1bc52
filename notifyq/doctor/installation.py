"""Looks at the settings alone."""

from __future__ import annotations

from notifications.errors import ConfigurationError
from notifications.providers import chains
from notifyq import unknown_variables
from notifyq.doctor.finding import Finding, fail, ok, warn
from notifyq.env import Config, Environment
from notifyq.secret_settings import SECRET_LENGTH_LEAST, is_short

PLACEHOLDER = "not-secret"


def secret_key(key: str, *, debug: bool = False) -> Finding:
    """A short one will do only where nobody else comes: with DEBUG."""
    name = "secret key"
    if not key or key.startswith(PLACEHOLDER):
        return fail(name, "is not set. Set SECRET_KEY to a long random text.")
    if is_short(key):
        judge = warn if debug else fail
        return judge(name, f"is shorter than {SECRET_LENGTH_LEAST} characters. Set SECRET_KEY to a long random text.")
    return ok(name, "is set")


def debug(*, on: bool) -> Finding:
    if on:
        return warn("debug", "error pages show source code and settings. Set DEBUG=false where others can reach it.")
    return ok("debug", "is off")


def providers(config: Config) -> Finding:
    """Builds every provider of the chains, as a worker would."""
    try:
        built = chains.build(config.provider_chains, Environment())
    except ConfigurationError as error:
        return fail("providers", f"{error}. Correct it: no worker starts like this.")
    chains.close(built)
    simulated = [c.value for c, chain in built.items() if any(p.kind == "sandbox" for p in chain.providers)]
    if simulated:
        variables = ", ".join(f"NOTIFYQ_{channel}_PROVIDERS" for channel in simulated)
        return warn("providers", f"the sandbox serves {', '.join(simulated)}: nothing is really sent. Set {variables}.")
    return ok(
        "providers", "; ".join(f"{c}: {', '.join(p.name for p in chain.providers)}" for c, chain in built.items())
    )


def variables() -> Finding:
    """To be called after `providers`, which reads theirs."""
    found = unknown_variables.warnings()
    if found:
        return warn("variables", f"{'; '.join(found)}. Correct or remove what is misspelt.")
    return ok("variables", "every NOTIFYQ_… variable is a known one")


def lease(config: Config) -> Finding:
    """The buffer holds about half a second's work, but a slow provider's may take a timeout for each row."""
    if config.lease_seconds < 2 * config.send_timeout_seconds:
        return warn(
            "lease",
            f"{config.lease_seconds:g} s leaves a claimed notification little time before a send of up to "
            f"{config.send_timeout_seconds:g} s must begin; some are given back and claimed again. Raise "
            "NOTIFYQ_LEASE_SECONDS to twice NOTIFYQ_SEND_TIMEOUT_SECONDS or more.",
        )
    return ok("lease", f"{config.lease_seconds:g} s, with sends of up to {config.send_timeout_seconds:g} s")


def grace(config: Config) -> Finding:
    if config.grace_seconds < config.send_timeout_seconds:
        return warn(
            "grace period",
            f"{config.grace_seconds:g} s is shorter than a send may take ({config.send_timeout_seconds:g} s): a stop "
            "cuts some sends off, and their outcome is unknown. Raise NOTIFYQ_GRACE_SECONDS.",
        )
    return ok("grace period", f"{config.grace_seconds:g} s, with sends of up to {config.send_timeout_seconds:g} s")


def metrics(problem: str) -> Finding:
    if problem:
        text = f"cannot be shared between processes ({problem}). Make PROMETHEUS_MULTIPROC_DIR writable."
        return warn("metrics", text)
    return ok("metrics", "are shared between the processes of this machine")
