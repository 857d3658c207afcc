"""Just enough of the PostgreSQL protocol to run scripts: start-up without a password over a unix
socket, Query, Parse/Bind/Execute with text parameters, COPY."""
import socket
import struct

MOST_EVENTS = 20000


class Fatal(ConnectionError):
    """An error that ended the session; its fields by letter."""

    def __init__(self, fields):
        super().__init__(fields["M"])
        self.fields = fields


class Connection:
    def __init__(self, directory, port, database="postgres", timeout=10, user="postgres", settings=("TimeZone", "UTC")):
        # As libpq does: what begins with a slash is the socket's folder, all else a host.
        local = str(directory).startswith("/")
        self.socket = socket.socket(socket.AF_UNIX if local else socket.AF_INET)
        self.socket.settimeout(timeout)
        self.socket.connect(f"{directory}/.s.PGSQL.{port}" if local else (str(directory), port))
        self.buffer = b""
        self.extended = False
        self.state = "I"  # of its transaction, as ReadyForQuery has it
        words = ("user", user, "database", database, "client_encoding", "UTF8", *settings)
        body = struct.pack("!i", 196608) + b"".join(w.encode() + b"\0" for w in words) + b"\0"
        self.socket.sendall(struct.pack("!i", len(body) + 4) + body)
        self.answer(None)

    def close(self):
        self.socket.settimeout(1)
        try:
            self.send(b"X", b"")
        except OSError:
            pass
        self.socket.close()

    def send(self, kind, body):
        self.socket.sendall(kind + struct.pack("!i", len(body) + 4) + body)

    def run(self, text, copy_data="", parameters=None, binary=False):
        """The events of one request: see script.transcript. `copy_data`: a text, or a function that is called when the server
        wants it. `binary`: rows come in the binary format, if there are parameters."""
        self.extended = parameters is not None
        if parameters is None:
            self.send(b"Q", text.encode(errors="surrogateescape") + b"\0")
        else:
            self.send(b"P", b"\0" + text.encode() + b"\0" + struct.pack("!h", 0))
            self.send(b"D", b"S\0")
            bound = b"\0\0" + struct.pack("!hh", 0, len(parameters))
            for value in parameters:
                data = None if value is None else value.encode()
                bound += struct.pack("!i", -1) if data is None else struct.pack("!i", len(data)) + data
            self.send(b"B", bound + (struct.pack("!hh", 1, 1) if binary else struct.pack("!h", 0)))
            self.send(b"E", b"\0" + struct.pack("!i", 0))
            # A Sync now would be passed over by a COPY that reads rows, or end one that has failed.
            self.send(b"H", b"")
        return self.answer(copy_data)

    def prepare_all(self, texts):
        """Sends a Parse of each text, each with its Sync, in one go. Returns the error of each, or None."""
        messages = b"".join(b"P" + struct.pack("!i", len(body) + 4) + body + b"S\0\0\0\4"
                            for body in (b"\0" + text.encode() + b"\0\0\0" for text in texts))
        self.extended = False
        self.socket.sendall(messages)
        return [next((value for kind, value in self.answer(None) if kind == "error"), None) for _ in texts]

    def prepare(self, name, text):
        """A Parse message alone."""
        self.extended = False
        self.send(b"P", name.encode() + b"\0" + text.encode() + b"\0" + struct.pack("!h", 0))
        self.send(b"S", b"")
        return self.answer(None)

    def answer(self, copy_data):
        events = []
        copied = ""
        while True:
            kind, body = self.message()
            if self.extended and kind in b"CIE":
                self.send(b"S", b"")
                self.extended = False
            if kind == b"Z":
                self.state = body.decode()
                return events
            if kind == b"T":
                events.append(("columns", _columns(body)))
            elif kind == b"t":
                count = struct.unpack_from("!h", body)[0]
                events.append(("parameters", struct.unpack_from(f"!{count}I", body, 2)))
            elif kind == b"D":
                events.append(("row", _row(body)))
                if len(events) > MOST_EVENTS:
                    raise ConnectionError("an answer without end")
            elif kind == b"C":
                events.append(("tag", body[:-1].decode(errors="backslashreplace")))
            elif kind == b"I":
                events.append(("tag", "(empty)"))
            elif kind in (b"E", b"N"):
                fields = {f[:1].decode(): f[1:].decode(errors="backslashreplace") for f in body[:-1].split(b"\0") if f}
                events.append(("error" if kind == b"E" else "notice", fields))
                if fields.get("V", fields["S"]) == "FATAL":
                    raise Fatal(fields)
            elif kind == b"G":
                data = copy_data() if callable(copy_data) else copy_data
                self.send(b"d", data.encode(errors="surrogateescape"))
                self.send(b"c", b"")
                if self.extended:
                    self.send(b"H", b"")
            elif kind == b"d":
                copied += body.decode(errors="replace")
            elif kind == b"c":
                events.extend(("row", [line]) for line in copied.split("\n")[:-1])
                copied = ""
            elif kind == b"R":
                if struct.unpack_from("!i", body)[0] != 0:
                    raise ConnectionError("the server wants a password")

    def receive(self, count):
        """Receives until the buffer has so many bytes, up to a gigabyte."""
        pieces, size = [self.buffer], len(self.buffer)
        while size < count:
            pieces.append(self.socket.recv(65536))
            size += len(pieces[-1])
            if not pieces[-1]:
                raise ConnectionError("the server closed the connection")
        if len(pieces) > 1:
            self.buffer = b"".join(pieces)

    def message(self):
        self.receive(5)
        end = 1 + struct.unpack_from("!i", self.buffer, 1)[0]
        self.receive(end)
        kind, body = self.buffer[:1], self.buffer[5:end]
        self.buffer = self.buffer[end:]
        return kind, body


def _columns(body):
    columns = []
    at = 2
    for _ in range(struct.unpack_from("!h", body)[0]):
        end = body.index(b"\0", at)
        _, _, oid, _, modifier, _ = struct.unpack_from("!IhIhih", body, end + 1)
        columns.append((body[at:end].decode(), oid, modifier))
        at = end + 19
    return columns


def _row(body):
    values = []
    at = 2
    for _ in range(struct.unpack_from("!h", body)[0]):
        length = struct.unpack_from("!i", body, at)[0]
        at += 4
        values.append(None if length < 0 else body[at:at + length].decode(errors="backslashreplace"))
        at += max(length, 0)
    return values
