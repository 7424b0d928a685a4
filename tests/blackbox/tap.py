"""A tap on the line: a TCP proxy that keeps what it passes on."""

from __future__ import annotations

import socket
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


class Tap:
    """What went over the line; each direction of all connections together, in the order of arrival."""

    def __init__(self, listener: socket.socket, port: int, *, strip_tls: bool) -> None:
        self.port: int = listener.getsockname()[1]
        self.from_client = bytearray()
        self.from_server = bytearray()
        self._listener = listener
        self._server_port = port
        self._strip_tls = strip_tls

    def accept(self) -> None:
        """Pass on every connection until the listener is closed."""
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            server = socket.create_connection(("127.0.0.1", self._server_port))
            if self._strip_tls:
                client.sendall(without_tls(server.recv(65536)))
            for source, target, kept in (
                (client, server, self.from_client),
                (server, client, self.from_server),
            ):
                threading.Thread(target=_pass_on, args=(source, target, kept), daemon=True).start()


def _pass_on(source: socket.socket, target: socket.socket, kept: bytearray) -> None:
    try:
        while data := source.recv(65536):
            kept.extend(data)
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        target.close()


def without_tls(greeting: bytes) -> bytes:
    """A server's greeting that does not offer TLS any more, as a man in the middle would like it."""
    # header, protocol, version, connection id, nonce, zero; then the capabilities, lowest byte first
    high_byte = greeting.index(0, 5) + 1 + 4 + 8 + 1 + 1
    offers_tls = 0x08
    assert greeting[high_byte] & offers_tls
    return greeting[:high_byte] + bytes([greeting[high_byte] & ~offers_tls]) + greeting[high_byte + 1 :]


@contextmanager
def tapped(port: int, *, strip_tls: bool = False) -> Iterator[Tap]:
    """Listen on a free port of 127.0.0.1 and pass everything on to `port`.

    With `strip_tls` the server seems to offer no TLS.
    """
    with socket.create_server(("127.0.0.1", 0)) as listener:
        tap = Tap(listener, port, strip_tls=strip_tls)
        threading.Thread(target=tap.accept, daemon=True).start()
        yield tap
        # a thread in accept() is not woken by close()
        listener.shutdown(socket.SHUT_RDWR)
