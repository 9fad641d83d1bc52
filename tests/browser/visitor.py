"""Somebody at a browser: logged in by a session cookie, and watched for what a page of ours must never do."""

from __future__ import annotations

from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group
from django.test import Client

from notifyq.roles import Role

PATIENT_SECONDS = 20
BLOCKED = "csp"
# A stranger's HTML may stand in a frame with a policy of its own. That what it tries there is refused is no trouble.
IN_A_FRAME = ("the document's frame is sandboxed", '"img-src data:"')
NOT_FOUND, SERVER_FAULT = 404, 500
WIDTH, HEIGHT = 1280, 800


class BrowserWindow:
    """One window with cookies of its own; `tab` opens further pages in it.

    Attributes:
        page: Playwright's page of the first tab.
        base_url: of the console's server.
    """

    def __init__(self, context: Any, base_url: str, troubles: list[str]) -> None:
        self._context = context
        self.base_url = base_url
        self._troubles = troubles
        context.set_default_timeout(PATIENT_SECONDS * 1000)
        context.on("page", self._watch)
        context.on("response", self._look_what_came)
        context.on("requestfailed", self._look_what_failed)
        self.page = self.tab()

    def tab(self) -> Any:
        return self._context.new_page()

    def log_in(self, user: Any) -> None:
        """Without the form: what a login leaves in the browser is a cookie."""
        client = Client()
        client.force_login(user)
        value = client.cookies["sessionid"].value
        self._context.add_cookies([{"name": "sessionid", "value": value, "url": self.base_url}])

    def go(self, path: str, page: Any = None) -> Any:
        """Open an address of the console; returns the page."""
        page = page or self.page
        page.bring_to_front()
        page.goto(self.base_url + path)
        return page

    def close(self) -> None:
        self._context.close()

    def _watch(self, page: Any) -> None:
        page.on("dialog", self._refuse_dialog)
        page.on("pageerror", lambda error: self._troubles.append(f"{page.url}: {error}"))
        page.on("console", lambda message: self._note(page, message))

    def _refuse_dialog(self, dialog: Any) -> None:
        self._troubles.append(f"a dialog: {dialog.message}")
        dialog.dismiss()

    def _note(self, page: Any, message: Any) -> None:
        """Breaches of our own content security policy are errors. What could not be loaded is looked at elsewhere."""
        is_expected = message.text.startswith("Failed to load resource") or any(t in message.text for t in IN_A_FRAME)
        if message.type == "error" and not is_expected:
            self._troubles.append(f"{page.url}: {message.text}")

    def _look_what_came(self, response: Any) -> None:
        self._look_where_it_went(response.url)
        if response.status == NOT_FOUND or response.status >= SERVER_FAULT:
            self._troubles.append(f"{response.url} answered {response.status}")

    def _look_what_failed(self, request: Any) -> None:
        if request.failure != BLOCKED:  # by a policy: it has never left the browser
            self._look_where_it_went(request.url)

    def _look_where_it_went(self, url: str) -> None:
        if not url.startswith((self.base_url, "data:")):
            self._troubles.append(f"asked for {url}")


class Visitors:
    """All windows of one test.

    Attributes:
        troubles: what went wrong in any of them, in words.
    """

    def __init__(self, browser: Any, base_url: str) -> None:
        self._browser = browser
        self._base_url = base_url
        self._windows: list[BrowserWindow] = []
        self.troubles: list[str] = []

    def __enter__(self) -> Visitors:
        return self

    def __exit__(self, *_: object) -> None:
        for window in self._windows:
            window.close()

    def open(self, role: Role | None, **settings: Any) -> BrowserWindow:
        """A window of somebody with this role; with None, of somebody who has not logged in.

        Args:
            settings: of Playwright's context, such as `color_scheme`.
        """
        known = {"viewport": {"width": WIDTH, "height": HEIGHT}, "timezone_id": "Europe/Zurich", "locale": "en-GB"}
        context = self._browser.new_context(**(known | settings))
        window = BrowserWindow(context, self._base_url, self.troubles)
        self._windows.append(window)
        if role is not None:
            window.log_in(person(role))
        return window


def person(role: Role, password: str = "") -> Any:
    """Somebody with that role, named like it; can only log in by the form when there is a password."""
    user, is_new = get_user_model().objects.get_or_create(username=role.value, defaults={"is_staff": True})
    if is_new:
        user.groups.add(Group.objects.get(name=role.value))
    if password:
        user.set_password(password)
        user.save(update_fields=["password"])
    return user
