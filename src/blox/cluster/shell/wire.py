"""The wire: messages over gRPC. msgpack that is checked against the types; a token; limits of size and time.

Two methods. `Deliver` hands a message over and answers nothing; the machines bear that one is lost. `Ask`
waits for an answer. Nothing on the wire is a pickle or is evaluated.
"""

from __future__ import annotations

import contextlib
import hmac
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NoReturn, TypeVar

import grpc
import msgspec

from blox.cluster.shell.limits import RateLimit
from blox.errors import BloxError

_SERVICE = "blox.Cluster"
_LARGEST = 4 << 20  # bytes of a message
_TOKEN = "blox-token"
_DEADLINE_S = 5.0
_THREADS = 32
_MOST_CALLS = 512  # at once; further ones are refused
_DELIVERED = 20_000.0, 40_000.0  # messages of nodes: a second, and at once
_ASKED = 1_000.0, 5_000.0  # requests of users
_LONGEST_REASON = 500  # characters
T = TypeVar("T")
_OPTIONS = [
    ("grpc.max_receive_message_length", _LARGEST),
    ("grpc.max_send_message_length", _LARGEST),
    ("grpc.so_reuseport", 0),
    ("grpc.enable_http_proxy", 0),
]


class Busy(Exception):
    """So much waits to be done that a message is refused."""


class Server:
    """Serves on an address; `address` has the port that was found where 0 was asked for."""

    def __init__(
        self,
        address: str,
        token: str,
        deliver: Callable[[bytes], str],
        ask: Callable[[bytes], bytes] | None = None,
        refused: Callable[[str], None] = lambda why: None,
    ) -> None:
        """`deliver` and `ask` take what was received, and raise msgspec.ValidationError where it is no
        message. `deliver` answers with the reason if it refuses one, and with nothing otherwise. Whatever is
        refused is told to `refused`."""
        self._token, self._deliver, self._ask, self._tell = token, deliver, ask, refused
        self._limits = RateLimit(*_DELIVERED), RateLimit(*_ASKED)
        methods = {"Deliver": grpc.unary_unary_rpc_method_handler(self._delivered)}
        if ask is not None:
            methods["Ask"] = grpc.unary_unary_rpc_method_handler(self._asked)
        self._server = grpc.server(
            ThreadPoolExecutor(_THREADS), options=_OPTIONS, maximum_concurrent_rpcs=_MOST_CALLS
        )
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
        self._server.stop(0.2).wait(5.0)

    def _delivered(self, data: bytes, context: Any) -> bytes:
        self._check(context, self._limits[0])
        reason = self._decoded(self._deliver, data, context)
        if reason:
            self._refuse(context, grpc.StatusCode.FAILED_PRECONDITION, reason)
        return b""

    def _asked(self, data: bytes, context: Any) -> bytes:
        self._check(context, self._limits[1])
        assert self._ask is not None
        return self._decoded(self._ask, data, context)

    def _decoded(self, act: Callable[[bytes], T], data: bytes, context: Any) -> T:
        try:
            return act(data)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            self._refuse(context, grpc.StatusCode.INVALID_ARGUMENT, f"not a message: {error}")
        except Busy as error:
            self._refuse(context, grpc.StatusCode.RESOURCE_EXHAUSTED, str(error))

    def _check(self, context: Any, limit: RateLimit) -> None:
        if not limit.allows():
            reason = f"more than {limit.per_s:,.0f} messages a second: send this one again later"
            self._refuse(context, grpc.StatusCode.RESOURCE_EXHAUSTED, reason)
        given = str(dict(context.invocation_metadata()).get(_TOKEN, ""))
        if not hmac.compare_digest(given.encode(), self._token.encode()):
            self._refuse(context, grpc.StatusCode.UNAUTHENTICATED, "wrong token")

    def _refuse(self, context: Any, status: grpc.StatusCode, reason: str) -> NoReturn:
        self._tell(reason)
        context.abort(status, reason[:_LONGEST_REASON])
        raise AssertionError("abort raises")


class Peers:
    """Sends to addresses, without waiting. A message that cannot be delivered is lost."""

    def __init__(self, token: str, refused: Callable[[str, str], None] = lambda address, why: None) -> None:
        """`refused` is told, from another thread, the address that refuses a message, and its reason."""
        self._metadata = ((_TOKEN, token),)
        self._refused = refused
        self._channels: dict[str, tuple[grpc.Channel, Any]] = {}
        self._calls: set[Any] = set()

    def send(self, address: str, data: bytes) -> None:
        if address not in self._channels:
            channel = _channel(address)
            self._channels[address] = channel, channel.unary_unary(f"/{_SERVICE}/Deliver")
        with contextlib.suppress(ValueError):  # the channel was closed
            call = self._channels[address][1].future(data, timeout=_DEADLINE_S, metadata=self._metadata)
            self._calls.add(call)  # one that is not held is cancelled
            call.add_done_callback(lambda done: self._ended(address, done))

    def _ended(self, address: str, call: Any) -> None:
        self._calls.discard(call)
        if call.code() not in (
            grpc.StatusCode.OK,
            grpc.StatusCode.UNAVAILABLE,
            grpc.StatusCode.DEADLINE_EXCEEDED,
            grpc.StatusCode.CANCELLED,
        ):
            self._refused(address, call.details() or "")

    def close(self) -> None:
        for channel, _ in self._channels.values():
            channel.close()


class Line:
    """Asks one address, and waits for answers. The connection is kept from one request to the next."""

    def __init__(self, address: str) -> None:
        self.address, self._channel = address, _channel(address)
        self._call = self._channel.unary_unary(f"/{_SERVICE}/Ask")

    def ask(self, token: str, data: bytes, timeout_s: float = _DEADLINE_S) -> bytes:
        """Raises BloxError if there is no answer; at once, if nothing listens at the address."""
        try:
            answer: bytes = self._call(data, timeout=timeout_s, metadata=((_TOKEN, token),))
            return answer
        except (grpc.RpcError, ValueError) as error:  # ValueError: another thread has closed the channel
            said = error.details() if isinstance(error, grpc.RpcError) else str(error)
            raise BloxError(
                f"the scheduler does not answer: {said}",
                where=self.address,
                fix="`blox up` starts a cluster; is the token of that cluster the one in its directory?",
            ) from error

    def close(self) -> None:
        self._channel.close()


def ask(address: str, token: str, data: bytes, timeout_s: float = _DEADLINE_S) -> bytes:
    """Sends one request and waits for the answer. Raises BloxError if there is none."""
    line = Line(address)
    try:
        return line.ask(token, data, timeout_s)
    finally:
        line.close()


def _channel(address: str) -> grpc.Channel:
    # Each channel its own connection; a peer that comes back is found within a second.
    more = [("grpc.max_reconnect_backoff_ms", 1000), ("grpc.initial_reconnect_backoff_ms", 100)]
    return grpc.insecure_channel(address, options=_OPTIONS + more)
