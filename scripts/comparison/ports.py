"""TCP ports of loopback for servers of tests. They lie below the range from which the kernel takes the local ports of
connections (32768 and above): a port of that range can go to a client of a test beside this one at any moment."""
import itertools
import os
import socket

FIRST, COUNT = 20_000, 12_000
# Each process begins elsewhere, and no call returns the port of a call before.
candidates = itertools.count(os.getpid() * 37)


def free_port():
    """A port on which no process listens."""
    for number in itertools.islice(candidates, COUNT):
        port = FIRST + number % COUNT
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise SystemExit("no free port")
