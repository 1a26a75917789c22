"""`blox ui`: pages in a browser: the film of finished runs, or a running cluster."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from blox.cli.terminal import say


def ui(
    results: Annotated[
        list[Path], typer.Argument(metavar="RESULTS...", help="Results directories to play as a film.")
    ],
    host: Annotated[
        str, typer.Option(help="The address to serve on; by default this machine alone can ask.")
    ] = "127.0.0.1",
    port: Annotated[
        int | None,
        typer.Option(min=0, max=65535, help="0: any that is free.", show_default="8265 if free"),
    ] = None,
    browser: Annotated[bool, typer.Option("--open", help="Open the page in the browser.")] = False,
) -> None:
    """Show finished runs as a film: the cluster, the queue and the figures at any moment; two side by side.

    blox ui results/demo/fifo results/demo/las
    """
    from blox.ui.server import LOOPBACK, address_of, listen, need_ui, serve

    need_ui()
    from blox.ui.film.app import FilmServer
    from blox.ui.film.runs import filmed

    app = FilmServer(filmed(results)).app((*LOOPBACK, host))
    listener = listen(host, port)
    address = address_of(listener, host)
    say(f"the film is at {address} (Ctrl-C ends it)")
    if browser:
        import webbrowser

        webbrowser.open(address)
    serve(app, listener)
