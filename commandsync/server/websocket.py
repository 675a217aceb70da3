"""How connections speak WebSocket: no client holds up a close, and nothing it sends is an error."""

import logging
from http import HTTPStatus

from uvicorn._types import ASGISendEvent
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.exceptions import SecurityError
from websockets.http11 import Request

from commandsync.server import protocol

LONGEST_CLOSE = 10.0
"""Seconds for a client to receive what was sent, its close frame included."""

_RESTART = (1012, "the service restarts")


class WebSocketProtocol(WebSocketsSansIOProtocol):
    """The web server's own protocol, changed where clients are odd.

    The web server itself waits for ever for a client that does not read, before it sends the close
    frame and after it, and for more of a handshake that its library cannot read. It gives no reason
    when it ends, and logs an error for a refused handshake and for text that is not UTF-8.
    """

    def handle_events(self) -> None:
        """Read on; the first call has the whole handshake."""
        super().handle_events()
        if self.handshake_initiated or self.transport.is_closing():
            return
        error = self.conn.handshake_exc
        if isinstance(error, SecurityError) or isinstance(error and error.__cause__, SecurityError):
            status, reason = HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, "its head is too large"
        else:
            status, reason = HTTPStatus.BAD_REQUEST, "it must be a GET without a body"
        protocol.refuse(
            self.transport, status, f"the request is not a valid WebSocket handshake: {reason}"
        )

    def handle_connect(self, event: Request) -> None:
        """Answer a handshake, and log it as the web server logs every other request."""
        client = ":".join(map(str, self.client or ()))
        logging.getLogger("uvicorn.access").info('%s - "WebSocket %s"', client, event.path)
        super().handle_connect(event)

    async def send(self, message: ASGISendEvent) -> None:
        """Send a message; a close frame is sent though the client does not read."""
        if message["type"] == "websocket.close":
            self.writable.set()
            self.loop.call_later(LONGEST_CLOSE, self.transport.abort)
        await super().send(message)
        if message["type"] == "websocket.http.response.body":
            self.handshake_complete = True

    def shutdown(self) -> None:
        """Close the connection because the service ends."""
        if self.handshake_complete and not self.close_sent:
            self._fail(*_RESTART)
        self.loop.call_later(protocol.LONGEST_SHUTDOWN, self.transport.abort)
        super().shutdown()

    def send_receive_event_to_app(self) -> None:
        """Pass a message on, or close the connection if it is not text."""
        if self.curr_msg_data_type == "text":
            try:
                b"".join(self.frames).decode()
            except UnicodeDecodeError:
                self._fail(1007, "a text frame is not UTF-8")
                self.transport.close()
                return
        super().send_receive_event_to_app()

    def _fail(self, code: int, reason: str) -> None:
        self.queue.put_nowait({"type": "websocket.disconnect", "code": code, "reason": reason})
        self.conn.send_close(code, reason)
        self.transport.write(b"".join(self.conn.data_to_send()))
        self.close_sent = True
