"""Runs cells: a change by one session, a use of the same by another while the change is not decided, how the change ends."""
import hashlib
import pathlib
import struct
import sys
import time
import zlib

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parent.parent / "isolation"),
                str(pathlib.Path(__file__).resolve().parent.parent / "sqldiff")]
import kinds  # noqa: E402
import steps  # noqa: E402
import whole  # noqa: E402

MODES = ("simple", "extended", "kept")
PATIENCE = 5
CATALOGS = whole.queries()


# PostgreSQL's errors for a constant of regconfig whose configuration has gone.
PARTS = ("XX000 cache lookup failed for text search", "XX000 tuple concurrently updated")


class Gone(Exception):
    """The server has ended, or closed a connection."""


class Session(steps.Session):
    def keep(self, text):
        return failed(self.prepare("kept", text))

    def begin_extended(self, name, text=None):
        """Parse, unless it was parsed before, Bind and Execute."""
        if text is not None:
            self.send(b"P", name + b"\0" + text.encode() + b"\0" + struct.pack("!h", 0))
        self.send(b"B", b"\0" + name + b"\0" + struct.pack("!hhh", 0, 0, 0))
        self.send(b"E", b"\0" + struct.pack("!i", 0))
        self.send(b"H", b"")
        self.extended = True

    def start(self, mode, text):
        if mode == "simple":
            self.begin(text)
        else:
            self.begin_extended(b"kept" if mode == "kept" else b"", None if mode == "kept" else text)


def failed(events):
    return next((value for kind, value in events if kind == "error"), None)


def told(events):
    """SQLSTATE and message, or the tag of the last statement."""
    error = failed(events)
    if error:
        return f"{error['C']} {error['M']}"
    return next((value for kind, value in reversed(events) if kind == "tag"), "nothing")


def number_of(*cell):
    """A number that stays when others come or go."""
    return zlib.crc32("|".join(cell).encode())


def cells(chosen):
    """(kind, change's name, how it ends, use, mode): a mode for each pair of change and use, every fourth pair rolled back as well."""
    for kind in kinds.kinds():
        if chosen and kind.name not in chosen:
            continue
        for change in kind.changes:
            for use in dict.fromkeys(kind.uses):
                number = number_of(kind.name, change, use)
                yield kind, change, "commit", use, MODES[number % 3]
                if number % 4 == 0:
                    yield kind, change, "rollback", use, MODES[number // 4 % 3]


class Runner:
    def __init__(self, server):
        self.server = server
        self.open()

    def open(self):
        self.connect(self.server.fresh())
        self.refused = {}

    def connect(self, fresh):
        if hasattr(self.server, "databases"):
            # PostgreSQL keeps what roles that go had in databases that have gone.
            fresh.run("set allow_system_table_mods = on; delete from pg_shdepend where "
                      "classid = 'pg_database'::regclass and objid not in (select oid from pg_database)")
        fresh.close()
        where = (self.server.folder, self.server.port, self.server.database)
        self.sessions = [Session(*where) for _ in range(4)]
        for session in self.sessions:
            # On a full machine the server's own limit has to come first.
            session.socket.settimeout(PATIENCE + 20)
        self.first, self.second, self.third, self.control = self.sessions

    def close(self):
        for session in self.sessions:
            try:
                session.close()
            except OSError:
                pass

    def execute(self, text):
        """Runs a statement that must succeed."""
        problem = failed(self.control.run(text))
        if problem:
            raise RuntimeError(f"{problem['C']} {problem['M']}: {text[:300]}")

    def empty(self):
        events = self.control.run(whole.CLEANERS)
        if failed(events):
            raise RuntimeError(told(events))
        words = [value[0] for kind, value in events if kind == "row"]
        if not words:
            return
        apart = [word for word in words if word.startswith("drop database") or "slot" in word]
        together = [word for word in words if word not in apart]
        for word in apart:
            self.execute(word)
        if together:
            self.execute("; ".join(together))

    def set_up(self, kind):
        self.execute(kinds.BASE)
        for script in kind.setup.split("; ") if kind.name in ("database", "slot") else [kind.setup]:
            self.execute(script)
        self.execute("reset search_path")
        for session in (self.first, self.second, self.third):
            problem = failed(session.run(f"set search_path = w; set statement_timeout = '{PATIENCE}s'"))
            if problem:
                raise RuntimeError(problem["M"])

    def waits(self, session):
        events = self.control.run(f"select 1 from pg_locks where not granted and pid = {session.pid}")
        return any(kind == "row" for kind, _ in events)

    def settle(self, session):
        until = time.monotonic() + PATIENCE + 5
        pause = 0.001
        hidden = time.monotonic() + 1
        while time.monotonic() < until:
            if session.has_answer(pause):
                return True
            if self.waits(session) and not session.has_answer(0):
                return False
            if time.monotonic() > hidden:
                return False
            pause = min(pause * 2, 0.05)
        raise Gone("neither an answer nor a wait")

    def run(self, cell):
        """Returns (the second session's answer, the final state; faults of the catalog)."""
        try:
            return self._run(*cell)
        except (OSError, ConnectionError, TimeoutError) as problem:
            raise Gone(str(problem)) from problem

    def _run(self, kind, change, end, use, mode):
        for session in (self.first, self.second, self.third):
            session.run("rollback")
            session.run("discard all")
        self.empty()
        self.set_up(kind)
        *before, text = use.split(" ;; ")
        heard = []
        for statement in before:
            problem = failed(self.second.run(statement))
            if problem:
                heard.append(f"before {problem['C']}")
        if mode == "kept":
            problem = self.second.keep(text)
            if problem:
                return f"parse {problem['C']}", [], "", f"parse {problem['C']} {problem['M']}"
        events = self.first.run("begin; " + kind.changes[change])
        problem = failed(events)
        if problem:
            self.refused[kind.name, change] = f"{problem['C']} {problem['M']}"
            return f"the change {problem['C']}", [], "", f"{problem['C']} {problem['M']}"
        self.second.start(mode, text)
        waited = not self.settle(self.second)
        if end == "rollback":
            heard_first = told(self.first.run("rollback"))
        else:
            heard_first = told(self.first.run("commit"))
        words = []
        if heard_first not in ("COMMIT", "ROLLBACK"):
            heard.append("first " + heard_first[:5])
        if not self.second.has_answer(PATIENCE + 5):
            raise Gone("still waits")
        answer = told(self.second.answer("9\n"))
        words.append(answer)
        heard.append(state(answer))
        if before and before[0].startswith("begin"):
            answer = told(self.second.run("commit"))
            words.append(answer)
            heard.append(state(answer))
        wrong = self.look(self.third)
        left = self.names()
        # The same again, by the session that had the conflict and by one that had not.
        answer = told(self.second.run(text, "9\n"))
        words.append(answer)
        heard.append(state(answer))
        self.second.run("rollback")
        self.third.run("begin")
        answer = told(self.third.run(text, "9\n"))
        words.append(answer)
        heard.append(state(answer))
        self.third.run("rollback")
        if any(word.startswith(("XX", "57014")) and not word.startswith(PARTS) for word in words):
            wrong.append("; ".join(words))
        self.waited = waited
        return " ".join(heard), wrong, left, "; ".join(words)

    def look(self, session):
        wrong = []
        events = session.run(CATALOGS)
        problem = failed(events)
        if problem:
            return [f"{problem['C']} {problem['M']}: the catalogs"]
        wrong = whole.dangling([value for kind, value in events if kind == "row"])
        # All at once; one by one only where something is wrong.
        if failed(session.run(whole.SHOWN)):
            for query in whole.SHOWN.split(";\n"):
                problem = failed(session.run(query))
                if problem:
                    wrong.append(f"{problem['C']} {problem['M']}: {query[:60]}")
        names = [value[0] for event, value in session.run(whole.READABLE) if event == "row"]
        if failed(session.run("; ".join(f"explain select * from {name}" for name in names))):
            for name in names:
                problem = failed(session.run(f"explain select * from {name}"))
                if problem and problem["C"] not in ("42501", "55000"):
                    wrong.append(f"{name}: {problem['C']} {problem['M']}")
        return wrong

    def lost(self):
        """Returns faults or changes found after the server was killed and has recovered."""
        for session in self.sessions:
            session.run("rollback")
        before = self.names()
        self.close()
        self.connect(self.server.after_kill())
        wrong = self.look(self.third)
        after = self.names()
        if after != before:
            gone = sorted(set(before.splitlines()) ^ set(after.splitlines()))
            wrong.append("before or after the restart alone: " + "; ".join(gone[:10]))
        return wrong

    def names(self):
        events = self.control.run(whole.NAMES)
        problem = failed(events)
        if problem:
            return f"{problem['C']} {problem['M']}"
        return "\n".join(sorted(value[0] or "" for kind, value in events if kind == "row"))


def state(answer):
    """SQLSTATE of an error, else the tag's words."""
    first = answer.split(" ", 1)[0]
    return first if len(first) == 5 and first.isalnum() and any(c.isdigit() for c in first) else answer.replace(" ", "_")


def digest(text):
    return hashlib.md5(text.encode()).hexdigest()[:6]
