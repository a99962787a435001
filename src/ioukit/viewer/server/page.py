"""The one page of the viewer."""

from __future__ import annotations

from typing import Any

from ioukit.report import _html

__all__ = ["static_page", "viewer_page"]

_STYLES = (
    *("shared/document.css", "shared/outcomes.css", "shared/zoom.css", "viewer/viewer.css", "viewer/large.css"),
    "viewer/notes.css",
)
_SCRIPTS = (
    *("shared/words.js", "shared/outcomes.js", "shared/pictures.js", "viewer/state.js", "viewer/colours.js"),
    *("viewer/cards.js", "viewer/drawings.js", "viewer/grid.js", "viewer/checklists.js", "viewer/histograms.js"),
    *("viewer/filters.js", "viewer/counts.js", "viewer/toolbar.js", "viewer/notes.js", "viewer/exporting.js"),
    *("viewer/scatter.js", "shared/zoom.js", "viewer/stage.js", "viewer/details.js", "viewer/large.js"),
    "viewer/main.js",
)
_STATIC_SCRIPTS = (
    *("shared/words.js", "shared/outcomes.js", "shared/pictures.js", "viewer/colours.js", "viewer/cards.js"),
    "viewer/static.js",
)
# The page asks its own server for data and pictures, and nothing else.
_SOURCES = {"connect-src": "'self'", "img-src": "'self' blob:"}


def static_page(data: dict[str, Any]) -> str:
    """A page with some images and all that it shows, which needs no server.

    Args:
        data: What :meth:`ioukit.viewer.server.views.Views.cut_out` returns.

    Raises:
        ModuleNotFoundError: If Jinja2 is not installed.
    """
    css, js = _html.style(*_STYLES), _html.program(*_STATIC_SCRIPTS)
    return _html.page(_html.asset("viewer/static.html.j2"), css=css, js=js, data=data, needed_by="ioukit.view")


def viewer_page() -> tuple[str, str]:
    """The page as HTML, and its content security policy.

    Raises:
        ModuleNotFoundError: If Jinja2 is not installed.
    """
    css, js = _html.style(*_STYLES), _html.program(*_SCRIPTS)
    page = _html.page(
        _html.asset("viewer/viewer.html.j2"), css=css, js=js, data={}, needed_by="ioukit view", sources=_SOURCES
    )
    return page, _html.policy(css, js, _SOURCES)
