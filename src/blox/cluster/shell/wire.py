"""The wire: messages over gRPC. msgpack that is checked against the types; a token; limits of size and time.

Two methods. `Deliver` hands a message over and answers nothing; the machines bear that one is lost. `Ask`
waits for an answer. Nothing on the wire is a pickle or is evaluated.
"""

from __future__ import annotations

import contextlib
import hmac
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import grpc
import msgspec

from blox.errors import BloxError

_SERVICE = "blox.Cluster"
_LARGEST = 4 << 20  # bytes of a message
_TOKEN = "blox-token"
_DEADLINE_S = 5.0
_OPTIONS = [
    ("grpc.max_receive_message_length", _LARGEST),
    ("grpc.max_send_message_length", _LARGEST),
    ("grpc.so_reuseport", 0),
    ("grpc.enable_http_proxy", 0),
]


class Server:
    """Serves on an address; `address` has the port that was found where 0 was asked for."""

    def __init__(
        self,
        address: str,
        token: str,
        deliver: Callable[[bytes], None],
        ask: Callable[[bytes], bytes] | None = None,
    ) -> None:
        """`deliver` and `ask` take what was received, and raise msgspec.ValidationError where it is no
        message."""
        self._token, self._deliver, self._ask = token, deliver, ask
        methods = {"Deliver": grpc.unary_unary_rpc_method_handler(self._delivered)}
        if ask is not None:
            methods["Ask"] = grpc.unary_unary_rpc_method_handler(self._asked)
        self._server = grpc.server(ThreadPoolExecutor(8), options=_OPTIONS, maximum_concurrent_rpcs=256)
        self._server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(_SERVICE, methods),))
        host, _, port = address.rpartition(":")
        try:
            found = self._server.add_insecure_port(f"{host}:{port}")
        except RuntimeError as error:
            fix = "choose another address"
            raise BloxError(f"cannot listen: {error}", where=address, fix=fix) from error
        self.address = f"{host}:{found}"
        self._server.start()

    def close(self) -> None:
        self._server.stop(0.2)

    def _delivered(self, data: bytes, context: Any) -> bytes:
        self._check(context)
        try:
            self._deliver(data)
        except (msgspec.ValidationError, msgspec.DecodeError) as error:
            context.abort(grpc.StatusCode.INVALID_ARGUMENT, f"not a message: {error}")
        return b""

    def _asked(self, data: bytes, context: Any) -> bytes:
        self._check(context)
        assert self._ask is not None
        try:
            return self._ask(data)
        except (msgspec.ValidationError, msgspec.DecodeError) as error:
            context.abort(grpc.StatusCode.INVALID_ARGUMENT, f"not a message: {error}")
            raise

    def _check(self, context: Any) -> None:
        given = dict(context.invocation_metadata()).get(_TOKEN, "")
        if not hmac.compare_digest(str(given), self._token):
            context.abort(grpc.StatusCode.UNAUTHENTICATED, "wrong token")


class Peers:
    """Sends to addresses, without waiting. A message that cannot be delivered is lost."""

    def __init__(self, token: str) -> None:
        self._metadata = ((_TOKEN, token),)
        self._channels: dict[str, tuple[grpc.Channel, Any]] = {}
        self._calls: set[Any] = set()

    def send(self, address: str, data: bytes) -> None:
        if address not in self._channels:
            channel = _channel(address)
            self._channels[address] = channel, channel.unary_unary(f"/{_SERVICE}/Deliver")
        with contextlib.suppress(ValueError):  # the channel was closed
            call = self._channels[address][1].future(data, timeout=_DEADLINE_S, metadata=self._metadata)
            self._calls.add(call)  # one that is not held is cancelled
            call.add_done_callback(self._calls.discard)

    def close(self) -> None:
        for channel, _ in self._channels.values():
            channel.close()


def ask(address: str, token: str, data: bytes, timeout_s: float = _DEADLINE_S) -> bytes:
    """Sends a request and waits for the answer. Raises BloxError if there is none."""
    with _channel(address) as channel:
        call = channel.unary_unary(f"/{_SERVICE}/Ask")
        try:
            answer: bytes = call(data, timeout=timeout_s, metadata=((_TOKEN, token),), wait_for_ready=True)
            return answer
        except grpc.RpcError as error:
            raise BloxError(
                f"the scheduler does not answer: {error.details()}",
                where=address,
                fix="`blox up` starts a cluster; is the token of that cluster the one in its directory?",
            ) from error


def _channel(address: str) -> grpc.Channel:
    # Each channel its own connection; a peer that comes back is found within a second.
    more = [("grpc.max_reconnect_backoff_ms", 1000), ("grpc.initial_reconnect_backoff_ms", 100)]
    return grpc.insecure_channel(address, options=_OPTIONS + more)
