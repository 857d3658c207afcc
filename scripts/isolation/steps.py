"""Runs the steps of several sessions on a server, one after the other, but for those that wait."""
import itertools
import select
import time

import wire


class Session(wire.Connection):
    def __init__(self, *where):
        super().__init__(*where)
        self.pid = self.run("select pg_backend_pid()")[-2][1][0]
        self.waiting = None

    def begin(self, text):
        self.send(b"Q", text.encode() + b"\0")

    def has_answer(self, seconds):
        return self.buffer or select.select([self.socket], [], [], seconds)[0]


def told(events):
    """An answer in one line; rows in no order, and none in front of an error: how many those are says where
    rows lie."""
    rows = sorted("(" + ",".join("null" if v is None else v for v in value) + ")" for kind, value in events
                  if kind == "row")
    ends = [value if kind == "tag" else f"{value['C']} {value['M']}" for kind, value in events
            if kind in ("tag", "error")]
    failed = any(kind == "error" for kind, _ in events)
    return " ".join(ends if failed else rows + ends)


class Driver:
    def __init__(self, connect):
        self.control = connect()
        self.sessions = {1: connect(), 2: connect()}
        self.tables = None

    def waits(self, session):
        events = self.control.run(f"select 1 from pg_locks where not granted and pid = {session.pid}")
        return any(kind == "row" for kind, _ in events)

    def settle(self, session, patience=20.0):
        """Returns True if the session has answered, False if it waits for another."""
        until = time.monotonic() + patience
        pause = 0.002
        while time.monotonic() < until:
            if session.has_answer(pause):
                return True
            if self.waits(session) and not session.has_answer(0):
                return False
            pause = min(pause * 2, 0.05)
        raise TimeoutError("neither an answer nor a wait")

    def set_up(self, scenario):
        if scenario.tables != self.tables:
            self.prepare(scenario.tables)
        self.tables = None if scenario.changes_tables else scenario.tables
        self.prepare(scenario.rows)

    def prepare(self, script):
        for statement in script.split(";\n"):
            events = self.control.run(statement)
            if any(kind == "error" for kind, _ in events):
                raise RuntimeError(f"{statement}: {told(events)}")

    def run(self, scenario):
        """Runs the scenario. Returns (session, answer) for each step, with "waits" among the answers, and the final
        rows."""
        self.set_up(scenario)
        parts = []
        for number, text in scenario.steps:
            session = self.sessions[number]
            if session.waiting is not None:
                self.finish(number, parts)
            session.begin(text)
            if self.settle(session):
                parts.append((number, told(session.answer(None))))
            else:
                session.waiting = text
                parts.append((number, "waits"))
            for other, one in self.sessions.items():
                if other != number and one.waiting is not None and self.settle(one):
                    self.finish(other, parts)
        for number, session in self.sessions.items():
            if session.waiting is not None:
                self.finish(number, parts)
            session.run("rollback")
        return parts, self.left(scenario)

    def left(self, scenario):
        return [f"{table} {told(self.control.run(f'select * from {table}'))}" for table in scenario.shown]

    def finish(self, number, parts):
        session = self.sessions[number]
        session.waiting = None
        parts.append((number, told(session.answer(None))))

    def is_serial(self, scenario, parts, left):
        """Returns True if the committed transactions, run one after the other in some order, have the same result."""
        heard = {number: [answer for of, answer in parts if of == number and answer != "waits"]
                 for number in self.sessions}
        committed = [number for number, answers in heard.items() if answers and answers[-1] == "COMMIT"]
        for order in itertools.permutations(committed):
            self.set_up(scenario)
            same = all(told(self.sessions[number].run(text)) == answer for number in order
                       for text, answer in zip([text for of, text in scenario.steps if of == number], heard[number]))
            for session in self.sessions.values():
                session.run("rollback")
            if same and self.left(scenario) == left:
                return True
        return False
