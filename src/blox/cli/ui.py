"""`blox ui`: pages in a browser: the film of finished runs, or a running cluster."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from blox.cli.cluster_tables import Directory, need_grpc
from blox.cli.terminal import say

if TYPE_CHECKING:
    from blox.ui.server import Page


def ui(
    results: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="RESULTS...", help="Results directories to play as a film.", show_default="the cluster"
        ),
    ] = None,
    host: Annotated[
        str, typer.Option(help="The address to serve on; by default this machine alone can ask.")
    ] = "127.0.0.1",
    port: Annotated[
        int | None,
        typer.Option(min=0, max=65535, help="0: any that is free.", show_default="8265 if free"),
    ] = None,
    browser: Annotated[bool, typer.Option("--open", help="Open the page in the browser.")] = False,
    cluster: Directory = None,
) -> None:
    """Show finished runs as a film, two side by side; or, without results, the running cluster as it works.

    blox ui results/demo/fifo results/demo/las
    """
    from blox.ui.server import LOOPBACK, address_of, listen, need_ui, serve

    need_ui()
    hosts = (*LOOPBACK, host)
    page, token = (_film(results), "") if results else _live(cluster)
    listener = listen(host, port)
    address = address_of(listener, host)
    say(f"{'the cluster' if token else 'the film'} is at {address} (Ctrl-C ends it)")
    if token:
        say(f"with controls: {address}#token={token}")
    if browser:
        import webbrowser

        webbrowser.open(f"{address}#token={token}" if token else address)
    serve(page, hosts, listener)


def _film(results: Sequence[Path]) -> Page:
    from blox.ui.film.app import FilmServer
    from blox.ui.film.runs import filmed

    return FilmServer(filmed(results))


def _live(cluster: str | None) -> tuple[Page, str]:
    """The page of a cluster, and its token."""
    need_grpc()
    from blox.cluster.shell.place import Place
    from blox.ui.live.app import LiveServer

    place = Place.of(cluster)
    return LiveServer(place), place.token()
