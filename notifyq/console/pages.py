"""What the apps bring into the console: pages of their own, and links in its bar. It does not know them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from django.http import HttpRequest, HttpResponseBase

View = Callable[..., HttpResponseBase]


@dataclass(frozen=True, slots=True)
class Page:
    """One address under /admin/.

    Attributes:
        path: as `django.urls.path` takes it, such as `dead-letters/<str:group>/`.
        name: for `reverse("admin:NAME")`.
        view: gets the request and what the path captured. Acts only on POST.
        permission: whoever lacks it gets 403.
        methods: what it answers.
    """

    path: str
    name: str
    view: View
    permission: str
    methods: tuple[str, ...] = ("GET", "HEAD")


@dataclass(frozen=True, slots=True)
class Link:
    """An entry of the bar on top of every page.

    Attributes:
        url_name: such as `admin:notifications_pause_changelist`.
        permission: whoever lacks it does not see the link.
        order: the lower, the further to the left.
        holds: the places, as `app/model`, of lists that are reached from there: on their pages it is the current one.
    """

    label: str
    url_name: str
    permission: str
    order: int
    holds: tuple[str, ...] = ()


pages: list[Page] = []
links: list[Link] = []


def add_page(page: Page) -> None:
    """Bring a page. Called when the app's admin module is loaded."""
    pages.append(page)


def add_link(link: Link) -> None:
    """Bring a link into the bar."""
    links.append(link)
    links.sort(key=lambda known: known.order)


def links_for(request: HttpRequest) -> list[Link]:
    """What this person may follow."""
    return [link for link in links if request.user.has_perm(link.permission)]
