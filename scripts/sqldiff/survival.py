"""Runs generated statements on a server of its own with limits, judges whether the server survives them, and shrinks what does
it harm. Used by scripts/call-fuzz and scripts/ddl-fuzz.

A case is a list of steps that begins on an empty schema. After each case another connection asks SELECT 1. Findings are
deaths (the process has ended), hangs (no answer to that SELECT within HANG seconds), statements that outlive their timeout,
internal errors (SQLSTATE XX...), sessions that end, and a server that does not start again after a kill."""
import argparse
import collections
import dataclasses
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

import servers
import wire

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
HANG = 10
STATEMENT_TIMEOUT = 2
ADDRESS_SPACE = 8 << 30
SETTINGS = ("session_memory_limit=100MB", "server_memory_limit=400MB", "max_connections=40", "shared_buffers=64MB")
SESSION = f"set search_path = w, public; set statement_timeout = '{STATEMENT_TIMEOUT}s'; set lock_timeout = '200ms'; set client_min_messages = error"
# Internal errors that PostgreSQL reports in the same words.
AS_POSTGRESQL = re.compile(r"invalid XPath expression|could not create XPath object|cache lookup failed for text search|expected \d-element float8 array|unrecognized weight|unrecognized objtype abbreviation|tuple concurrently (updated|deleted)")
# How often a finding is replayed to make it smaller, and how long.
MOST_REPLAYS, MOST_SECONDS = 120, 60
FORGET_LOG = re.compile(r"0x[0-9a-f]+|\b\d+\b")


@dataclasses.dataclass(frozen=True)
class Step:
    text: str
    session: int = 0
    way: str = "simple"  # simple; extended; binary: extended with rows in binary; parse; parses: each line alone, all at once; kill: SIGKILL and a restart
    compared: bool = True  # with PostgreSQL's answer
    parameters: tuple = ()  # of extended and binary, as text

    def apart(self):
        """The same with one step for each statement."""
        return [Step(line, self.session, "parse") for line in self.text.split("\n")] if self.way == "parses" else [self]

    def line(self):
        if self.way == "kill":
            return "-- SIGKILL, restart"
        notes = ([f"session {self.session + 1}"] if self.session else []) + ([self.way] if self.way != "simple" else []) + ([f"parameters {self.parameters}"] if self.parameters else [])
        text = self.text if len(self.text) < 4000 else f"{self.text[:3900]} ... ({len(self.text)} bytes)"
        return (f"-- {', '.join(notes)}:\n" if notes else "") + text + ";"


@dataclasses.dataclass(frozen=True)
class Finding:
    kind: str
    signature: str
    detail: str


KILL = Step("", way="kill")


class Died(Exception):
    """Carries the finding that made the server or a session of it unusable."""

    def __init__(self, finding):
        super().__init__(finding.signature)
        self.finding = finding


def outcome(events):
    """The first SQLSTATE, or None; the rows in no order."""
    error = next((value for kind, value in events if kind == "error"), None)
    return error, sorted((tuple(value) for kind, value in events if kind == "row"), key=repr)


class Runner:
    """A server and the sessions that run steps on it."""

    def __init__(self, scratch, port, program, setup):
        self.setup = setup
        self.server = servers.Swizzle(scratch, port, program, settings=SETTINGS, address_space=ADDRESS_SPACE)
        self.sessions = {}
        self.control = None

    def fresh(self):
        """Starts on an empty data directory."""
        self.close()
        self.server.fresh().close()
        self.control = self.connect(HANG)
        self.run_setup()

    def connect(self, timeout):
        return wire.Connection(self.server.folder, self.server.port, timeout=timeout)

    def run_setup(self):
        for text in self.setup:
            error, _ = outcome(self.control.run(text))
            if error:
                raise SystemExit(f"the setup fails: {error['C']} {error['M']}: {text[:300]}")

    def close(self):
        for session in [*self.sessions.values(), self.control]:
            if session:
                session.socket.close()
        self.sessions, self.control = {}, None

    def stop(self):
        self.close()
        self.server.stop()

    def session(self, number):
        if number not in self.sessions:
            try:
                self.sessions[number] = self.connect(STATEMENT_TIMEOUT + HANG)
                self.sessions[number].run(SESSION)
            except (OSError, TimeoutError):
                self.sessions.pop(number, None)
                self.judge("a login")
                raise
        return self.sessions[number]

    def drop_sessions(self):
        """Ends the sessions, and with them their transactions."""
        for session in self.sessions.values():
            session.close()
        self.sessions = {}

    def log_tail(self):
        return (self.server.folder / "log").read_text(errors="replace").splitlines()

    def death(self):
        """The finding of a process that has ended, named by the first words it left."""
        lines = self.log_tail()[-500:]
        places = [number for number, line in enumerate(lines) if re.search(r"invariant violated|INVARIANT|PANIC|terminate called", line)]
        words = lines[places[-1]:] if places else lines[-10:]
        stack = stack_of(self.server.program, words)
        told = [line for line in words if not re.search(r"\[0x[0-9a-f]+\]$|^STACK", line)]
        signature = FORGET_LOG.sub("#", " ".join([*told[:1], *(frame.split(" ")[0] for frame in stack[:3])]))
        return Finding("death", signature, "\n".join([*told[:6], *stack]))

    def judge(self, what):
        """Raises Died if the server has died or does not answer."""
        try:
            self.server.process.wait(0.3)
            raise Died(self.death())
        except subprocess.TimeoutExpired:
            pass
        begun = time.monotonic()
        try:
            other = self.connect(HANG)
            other.run("select 1")
            other.close()
        except (OSError, TimeoutError) as problem:
            # A death takes a moment to write its stack.
            try:
                self.server.process.wait(5)
                raise Died(self.death()) from None
            except subprocess.TimeoutExpired:
                pass
            if time.monotonic() - begun < HANG / 2:
                return
            raise Died(Finding("hang", what[:80], f"no answer to SELECT 1 within {HANG} s: {problem}")) from None

    def run(self, step):
        """The step's events; raises Died. An internal error is among the events."""
        if step.way == "kill":
            self.kill()
            return []
        session = self.session(step.session)
        begun = time.monotonic()
        try:
            if step.way == "parses":
                return [("error", error) for error in session.prepare_all(step.text.split("\n")) if error]
            if step.way == "parse":
                return session.prepare("", step.text)
            return session.run(step.text, "1\n", step.parameters if step.way in ("extended", "binary") else None, step.way == "binary")
        except wire.Fatal as fatal:
            self.forget(step.session)
            return [("error", fatal.fields)]
        except TimeoutError:
            self.forget(step.session)
            self.judge(first_words(step.text))
            raise Died(Finding("no answer", first_words(step.text), f"no answer after {time.monotonic() - begun:.0f} s with statement_timeout {STATEMENT_TIMEOUT} s")) from None
        except OSError as problem:
            self.forget(step.session)
            self.judge(first_words(step.text))
            if "without end" in str(problem):
                return []
            raise Died(Finding("session ended", first_words(step.text), str(problem))) from None

    def forget(self, number):
        session = self.sessions.pop(number, None)
        if session:
            session.socket.close()

    def kill(self):
        """SIGKILL and recovery."""
        self.close()
        try:
            self.server.after_kill().close()
            self.control = self.connect(HANG)
        except SystemExit as problem:
            raise Died(Finding("no start", FORGET_LOG.sub("#", str(problem)[-200:]), str(problem)[-3000:])) from None


def stack_of(program, lines):
    """Functions and lines of the addresses in a crash report, the innermost first."""
    addresses = [match.group(1) for line in lines for match in [re.search(re.escape(program.name) + r"\(.*?\+(0x[0-9a-f]+)\)", line)] if match]
    if not addresses:
        return []
    told = subprocess.run(["addr2line", "-Cfpe", program, *addresses[:40]], capture_output=True, text=True).stdout.splitlines()
    shown = []
    for line in told:
        function, _, place = line.partition(" at ")
        name = re.sub(r"\(.*|<.*", "", function.replace("(anonymous namespace)::", ""))
        if name.startswith("swizzle") and not re.search(r"invariant_failed|write_report|on_crash", name):
            shown.append(f"{name.replace('swizzle::sql::', '')} {'/'.join(place.split(' ')[0].split('/')[-2:])}")
    return shown[:12]


def first_words(text):
    return FORGET_LOG.sub("#", " ".join(text.split())[:100])


def internal_error(events):
    """The finding of an SQLSTATE of class XX among the events."""
    for kind, value in events:
        if kind == "error" and value["C"].startswith("XX") and not AS_POSTGRESQL.search(value["M"]):
            place = f" {value.get('F')}:{value.get('L')}" if value["C"] == "XX000" else ""
            message = FORGET_LOG.sub("#", value["M"])[:120]
            return Finding("internal error", f"{value['C']} {message}", f"{value['C']} {value['M']}{place}")
    return None


class Lab:
    """Runs cases, counts, shrinks, and prints the findings."""

    def __init__(self, name, options, setup, clean, check=None, known=(), independent=False):
        """`independent`: steps are compared with PostgreSQL even after an answer of the case has differed. `clean`:
        statements that empty the schema before `setup`. `check(runner)` inspects the stored objects and returns faults.
        `known`: patterns of expected signatures, each with its reason."""
        self.options, self.clean, self.check, self.known, self.independent = options, clean, check, known, independent
        self.scratch = pathlib.Path(tempfile.mkdtemp(prefix=name + "-"))
        self.scratch.chmod(0o755)
        self.name = name
        self.setup = setup
        self.runner = Runner(self.scratch, options.port, options.program, clean + setup)
        self.beside = None
        self.counts, self.outcomes, self.expected = collections.Counter(), collections.Counter(), collections.Counter()
        self.found, self.differences = {}, {}
        self.begun = time.monotonic()
        self.dice = random.Random(options.seed)
        print(f"seed {options.seed}", flush=True)

    def __enter__(self):
        try:
            self.runner.fresh()
            if self.options.beside:
                self.beside = Beside(self.options.beside, self.name, self.clean, self.setup)
                self.beside.fresh()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self.runner.stop()
        if self.beside:
            self.beside.close()
        shutil.rmtree(self.scratch, ignore_errors=True)

    def seconds(self):
        return time.monotonic() - self.begun

    def goes_on(self):
        return self.counts["statements"] < self.options.statements and self.seconds() < self.options.seconds

    def case(self, steps):
        """Runs the steps on the schema of the setup, looks whether all is well, and makes the schema anew."""
        done = []
        self.counts["cases"] += 1
        try:
            for step in steps:
                if not self.goes_on():
                    break
                done.append(step)
                self.step(step, done)
            finding = self.after_case(self.runner)
            if finding:
                self.report(finding, done)
                self.runner.fresh()
        except Died as died:
            self.report(died.finding, done)
            self.runner.fresh()
        except (OSError, TimeoutError) as problem:
            try:
                self.runner.judge("a look at what is left")
                self.report(Finding("session ended", "control", str(problem)), done)
            except Died as died:
                self.report(died.finding, done)
            self.runner.fresh()
        if self.beside:
            self.beside.fresh()

    def after_case(self, runner, replay=False):
        """The finding of a server that is not well after a case. The schema is empty again where it is."""
        runner.drop_sessions()
        error, _ = outcome(runner.control.run("select 1"))
        if error:
            return Finding("no health", error["C"], error["M"])
        faults = self.check(runner, replay) if self.check else None
        if faults:
            return Finding("not whole", FORGET_LOG.sub("#", faults[0])[:120], "\n".join(faults[:6]))
        for text in self.clean + self.setup:
            error, _ = outcome(runner.control.run(text))
            if error:
                return Finding("cannot be emptied", FORGET_LOG.sub("#", f"{error['C']} {error['M']}")[:120], f"{error['C']} {error['M']}: {text[:200]}")
        return None

    def step(self, step, done):
        self.counts["statements"] += len(step.apart()) if step.way != "kill" else 0
        self.counts["kills"] += step.way == "kill"
        if self.options.verbose:
            print(step.line(), flush=True)
        events = self.runner.run(step)
        error, rows = outcome(events)
        if step.way != "kill":
            self.outcomes[error["C"] if error else "fine"] += 1
        finding = internal_error(events)
        if self.beside:
            finding = self.compare(step, done, error, rows, finding)
        if finding:
            self.report(finding, done)

    def compare(self, step, done, error, rows, finding):
        """Drops an internal error that PostgreSQL reports too; notes other differences."""
        answer = self.beside.run(step)
        if answer is None:
            return finding
        theirs, their_rows = answer
        ours = error["C"] if error else None
        self.counts["compared"] += 1
        if ours == theirs and (rows == their_rows or not step.compared):
            return None if finding and theirs == ours else finding
        self.beside.lost = not self.independent  # what follows may differ because of this
        if ours == "0A000":
            self.counts["refused here"] += 1
            return finding
        key = (re.sub(r"\b(w|v)\.\w+|\d+|'[^']*'", "#", step.text)[:60], ours or "fine", theirs or "fine")
        if key not in self.differences:
            note = f"here {ours or 'fine'} {error['M'] if error else rows[:3]}; PostgreSQL {theirs or 'fine'} {'' if theirs else their_rows[:3]}"
            self.differences[key] = [0, note, [one.line() for one in done]]
        self.differences[key][0] += 1
        return finding

    def report(self, finding, done):
        key = (finding.kind, finding.signature)
        for pattern, reason in self.known:
            if re.search(pattern, finding.signature) or re.search(pattern, finding.detail):
                self.expected[reason] += 1
                return
        self.found[key] = self.found.get(key, 0) + 1
        if self.found[key] > 1:
            return
        done = [each for step in done for each in step.apart()]
        print(f"==== {finding.kind}: {finding.detail}", flush=True)
        steps, reproduced = self.shrink(finding, done) if self.options.shrink else (done, False)
        print(f"---- {len(steps)} of {len(done)} statements{'' if reproduced else ', not reproduced on a fresh server'}:")
        text = "\n".join(step.line() for step in steps)
        print(text + "\n====", flush=True)
        if self.options.findings:
            self.options.findings.mkdir(parents=True, exist_ok=True)
            path = self.options.findings / f"{self.name}-{self.options.seed}-{len(self.found)}.sql"
            path.write_text(f"/* {finding.kind}: {finding.detail} */\n" + ";\n".join(self.clean + self.setup) + ";\n" + text + "\n")

    def shrink(self, finding, steps):
        """Fewer steps that have the same finding on a fresh server, and whether it was found again at all."""
        replayer = Runner(self.scratch / "replay", self.options.port + 2, self.options.program, self.clean + self.setup)
        begun, tries = time.monotonic(), 0

        def fails(candidate):
            nonlocal tries
            tries += 1
            replayer.fresh()
            try:
                for step in candidate:
                    found = internal_error(replayer.run(step))
                    if found and (found.kind, found.signature) == (finding.kind, finding.signature):
                        return True
                found = self.after_case(replayer, finding.kind == "not whole")
                return bool(found) and (found.kind, found.signature) == (finding.kind, finding.signature)
            except Died as died:
                # Once a stored object causes the death, other statements may show it too.
                return died.finding.kind == finding.kind
            except (OSError, TimeoutError):
                try:
                    replayer.judge("a replay")
                except Died as died:
                    return died.finding.kind == finding.kind
                return False

        try:
            # Most findings are the last statement alone.
            if fails(steps[-1:]):
                return steps[-1:], True
            if not fails(steps):
                return steps, False
            size = max(1, len(steps) // 2)
            while size:
                at, smaller = 0, False
                while at < len(steps):
                    candidate = steps[:at] + steps[at + size:]
                    if tries > MOST_REPLAYS or time.monotonic() - begun > MOST_SECONDS:
                        return steps, True
                    if candidate and fails(candidate):
                        steps, smaller = candidate, True
                    else:
                        at += size
                size = size if smaller and size == 1 else size // 2
            return steps, True
        finally:
            replayer.stop()

    def end(self):
        """Prints the summary; the exit code."""
        for (kind, signature), count in sorted(self.found.items(), key=lambda item: -item[1]):
            print(f"  {count} times {kind}: {signature[:200]}")
        for reason, count in self.expected.most_common():
            print(f"  {count} times known: {reason}")
        if self.beside:
            for (text, ours, theirs), (count, note, lines) in sorted(self.differences.items(), key=lambda item: -item[1][0])[:self.options.most]:
                print(f"  {count} times {ours} here, {theirs} in PostgreSQL: {text}\n    {note}\n    " + "\n    ".join(lines[-6:]))
        print("  " + ", ".join(f"{name} {count}" for name, count in self.outcomes.most_common(16)))
        extra = "".join(f", {self.counts[name]} {name}" for name in ("kills", "compared", "refused here") if self.counts[name])
        if self.beside:
            extra += f", {len(self.differences)} kinds of other answers"
        print(f"{self.counts['statements']} statements in {self.counts['cases']} cases, {self.seconds():.0f} s{extra}: "
              f"{sum(kind in ('death', 'no start') for kind, _ in self.found)} deaths, {sum(kind in ('hang', 'no answer') for kind, _ in self.found)} hangs, "
              f"{sum(kind not in ('death', 'no start', 'hang', 'no answer') for kind, _ in self.found)} other findings")
        return 1 if self.found else 0


class Beside:
    """A PostgreSQL that runs the same steps in a database of its own."""

    def __init__(self, port, name, clean, setup):
        self.port, self.clean, self.setup = port, clean, setup
        self.database = name.replace("-", "_")
        first = wire.Connection("127.0.0.1", port)
        first.run(f"drop database if exists {self.database} with (force)")
        first.run(f"create database {self.database} template template0")
        first.close()
        self.sessions, self.lost = {}, False

    def connect(self):
        return wire.Connection("127.0.0.1", self.port, self.database, timeout=STATEMENT_TIMEOUT + HANG)

    def fresh(self):
        self.drop_sessions()
        self.lost = False
        control = self.connect()
        for text in self.clean + self.setup:
            error, _ = outcome(control.run(text))
            if error:
                raise SystemExit(f"the setup fails in PostgreSQL: {error['C']} {error['M']}: {text[:300]}")
        control.close()

    def drop_sessions(self):
        for session in self.sessions.values():
            session.close()
        self.sessions = {}

    def run(self, step):
        """SQLSTATE and rows; None once the two have parted."""
        if step.way == "kill":
            self.drop_sessions()
        if self.lost or step.way in ("kill", "parses"):
            return None
        if step.session not in self.sessions:
            self.sessions[step.session] = self.connect()
            self.sessions[step.session].run(SESSION)
        session = self.sessions[step.session]
        try:
            if step.way == "parse":
                events = session.prepare("", step.text)
            else:
                events = session.run(step.text, "1\n", step.parameters if step.way in ("extended", "binary") else None, step.way == "binary")
        except (OSError, TimeoutError):
            self.sessions.pop(step.session).socket.close()
            self.lost = True
            return None
        error, rows = outcome(events)
        return error["C"] if error else None, rows

    def close(self):
        self.drop_sessions()
        last = wire.Connection("127.0.0.1", self.port)
        last.run(f"drop database if exists {self.database} with (force)")
        last.close()


def parse_arguments(about, port, statements):
    """The options that every generator has."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    parser.add_argument("--statements", type=int, default=statements)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--beside", type=int, metavar="PORT")
    parser.add_argument("--no-shrink", dest="shrink", action="store_false")
    parser.add_argument("--findings", type=pathlib.Path, metavar="FOLDER")
    parser.add_argument("--most", type=int, default=60)
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--program", type=pathlib.Path)
    parser.add_argument("--port", type=int, default=port)
    options = parser.parse_args()
    if not options.program:
        subprocess.run([ROOT / "scripts" / "build", "release", "swizzled"], check=True, stdout=sys.stderr)
        options.program = pathlib.Path(os.environ.get("SWIZZLE_BUILD_ROOT", ROOT / "build")) / "release/server/swizzled"
    options.program = options.program.resolve()
    return options
