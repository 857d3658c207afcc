"""A server of ours as one shard of several: it can be killed and started again."""
import signal
import subprocess
import time

import wire

LOST = (OSError, ConnectionError)


class Shard:
    def __init__(self, number, scratch, port, program, loopback=False):
        self.number = number
        self.folder = scratch / f"shard-{number}"
        self.port = port
        self.program = program
        self.addresses = "127.0.0.1" if loopback else ""
        self.process = None
        self.folder.mkdir()
        subprocess.run([program, "init", "-D", self.folder / "data", "-U", "postgres", "--peer-only"],
                       check=True, capture_output=True)
        # Every user of the socket and of this machine's loopback is let in: the data is the script's own.
        (self.folder / "data" / "swizzle_hba.conf").write_text(
            "local all all trust\nhost all all 127.0.0.1/32 trust\n")

    def command(self):
        words = [self.program, "-D", self.folder / "data", "-p", self.port, "-k", self.folder, "-h", self.addresses,
                 "-c", "shared_buffers=128MB", "-c", "max_prepared_transactions=200"]
        return [str(word) for word in words]

    def start(self):
        with open(self.folder / "log", "a") as log:
            self.process = subprocess.Popen(self.command(), stdout=log, stderr=log)
        for _ in range(1500):
            try:
                self.connect().close()
                return
            except LOST:
                if self.process.poll() is not None:
                    break
                time.sleep(0.02)
        raise SystemExit(f"shard {self.number} does not start: {self.folder / 'log'}")

    def connect(self):
        return wire.Connection(self.folder, self.port)

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            self.process.wait(60)
