"""The viewer within a notebook: a frame with its page, or with a cut-out that needs no server."""

from __future__ import annotations

import html
import os
import sys

__all__ = ["FRAMES", "frame", "in_notebook", "is_elsewhere", "static_frame"]

FRAMES = (
    *(f"{scheme}://{host}:*" for scheme in ("http", "https") for host in ("localhost", "127.0.0.1")),
    *("vscode-webview:", "vscode-file:"),
)
"""The pages that may hold the viewer in a frame: notebooks on this machine."""

_HEIGHT = 760
_ELSEWHERE = (
    *("COLAB_RELEASE_TAG", "KAGGLE_KERNEL_RUN_TYPE", "JUPYTERHUB_USER", "BINDER_SERVICE_HOST", "CODESPACES"),
    *("DATABRICKS_RUNTIME_VERSION", "SAGEMAKER_INTERNAL_IMAGE_URI", "SSH_CONNECTION"),
)
"""Environment variables of kernels that run on another machine than the browser."""


def in_notebook() -> bool:
    """Whether this is the kernel of a notebook, which shows what the last line of a cell returns."""
    module = sys.modules.get("IPython")
    shell = None if module is None else module.get_ipython()
    return hasattr(shell, "kernel")


def is_elsewhere() -> bool:
    """Whether the browser likely runs on another machine, from which this one cannot be reached."""
    return any(os.environ.get(name) for name in _ELSEWHERE)


def frame(address: str, plain: str) -> str:
    """The page of a server in a frame, as HTML of a notebook.

    Args:
        address: The address for the frame.
        plain: The address for a page of its own.
    """
    words = (
        "This frame is empty if the notebook runs on another machine, or if the viewer has ended: run the cell again, "
        "or pass <code>static=True</code>."
    )
    return (
        f'<iframe src="{html.escape(address)}" width="100%" height="{_HEIGHT}" title="ioukit view" allowfullscreen '
        'style="border: 1px solid #8886; border-radius: 6px"></iframe>'
        f'<p style="font-size: 85%; margin: 4px 0"><a href="{html.escape(plain)}" target="_blank" rel="noopener">Open '
        f"in a page of its own</a>. {words}</p>"
    )


def static_frame(page: str) -> str:
    """A page without a server in a frame. It can run its own script, and reach neither the notebook nor a server."""
    plain = html.escape(page).encode("ascii", "xmlcharrefreplace").decode()  # whatever the notebook is stored as
    return (
        f'<iframe srcdoc="{plain}" width="100%" height="{_HEIGHT}" title="ioukit view" '
        'sandbox="allow-scripts" style="border: 1px solid #8886; border-radius: 6px"></iframe>'
    )
