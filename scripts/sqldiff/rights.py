"""Cells: a statement that a role runs in some state of the rights, and the SQLSTATE that comes out.

A book is a module with SETUP (statements of the superuser), ROLES (who connects) and pages(): each a
state's name, the superuser's statements that bring it about, and its cells. A cell is (statement,
mode); each is run by every role, inside a block that is rolled back. With word_of(events) a book says what
else of an answer counts, as items behind the SQLSTATE."""
import gzip
import re

MAY_FAIL = "/*may fail*/"

# Statements that are refused inside a transaction block.
ALONE = re.compile(r"(?i)^(create|drop) database|^(vacuum|alter system|reindex (database|system)|"
                   r"create index concurrently|drop index concurrently|reindex .*concurrently)|"
                   r"^(begin|commit|rollback|savepoint|release)")


class Ended(Exception):
    """The server is gone, or has closed the connection."""


class Sessions:
    """A connection for each role, opened before any right is given or taken."""

    def __init__(self, server, book):
        self.server = server
        first = server.fresh()
        for statement in book.SETUP:
            for kind, value in first.run(statement):
                if kind == "error" and not statement.startswith(MAY_FAIL):
                    raise SystemExit(f"set-up: {statement}: {value['C']} {value['M']}")
        self.root = first
        self.of = {role: server.again(role) for role in book.ROLES}
        self.word_of = getattr(book, "word_of", lambda events: failed(events) or "00000")
        self.names = 0
        self.kept = {}

    def close(self):
        for connection in (*self.of.values(), self.root):
            connection.close()

    def reopen(self, role):
        self.of[role].close()
        try:
            self.of[role] = self.server.again(role)
        except OSError as problem:
            raise Ended(str(problem)) from problem

    def keep(self, role, statement):
        """The name of the statement as the session prepared it when it first met it, or why not."""
        if (role, statement) not in self.kept:
            self.names += 1
            name = f"k{self.names}"
            problem = failed(self.of[role].prepare(name, statement))
            if problem:
                return name, problem
            self.kept[role, statement] = name
        return self.kept[role, statement], None

    def state_of(self, role, statement, mode):
        """Returns the statement's SQLSTATE, or 00000, and the parts of the answer that the book records."""
        connection = self.of[role]
        alone = ALONE.match(statement)
        how, _, other = mode.partition(" as ")
        try:
            if how.startswith("kept"):
                name, problem = self.keep(role, statement)
                events = [("error", {"C": problem})] if problem else None
            if not alone:
                connection.run("begin")
            if how == "cursor":
                events = connection.run(f"declare k cursor for {statement}")
                events = events if failed(events) else self.under(other, connection, "fetch all from k")
            elif how.startswith("kept"):
                unsecured = "set local row_security = off; " if how == "kept unsecured" else ""
                events = events or self.under(other, connection, f"{unsecured}execute {name}")
            elif mode == "simple":
                events = connection.run(statement)
            elif mode == "extended":
                events = connection.run(statement, parameters=[])
            else:
                self.names += 1
                name = f"p{self.names}"
                events = connection.prepare(name, statement)
                if not failed(events):
                    events = connection.run(f"execute {name}")
            connection.run("rollback")
        except (OSError, ConnectionError) as problem:
            raise Ended(str(problem)) from problem
        return self.word_of(events)

    @staticmethod
    def under(role, connection, text):
        """Returns the statement run as that role, if one is given."""
        return connection.run(f"set local role {role}; {text}" if role else text)


def failed(events):
    return next((value["C"] for kind, value in events if kind == "error"), None)


def answers(server, book, each):
    """Calls `each` with (page, mode, statement, [SQLSTATE of each role])."""
    sessions = Sessions(server, book)
    for page, statements, cells in book.pages():
        for statement in statements:
            events = sessions.root.run(statement)
            if failed(events) and not statement.startswith(MAY_FAIL):
                raise SystemExit(f"{page}: {statement}: {failed(events)}")
        for mode, statement in cells:
            states = []
            for role in book.ROLES:
                try:
                    states.append(sessions.state_of(role, statement, mode))
                except Ended as problem:
                    print(f"{role}: {statement}: {problem}", flush=True)
                    states.append("ENDED")
                    sessions = revived(server, book, sessions, page)
            each(page, mode, statement, states)
    sessions.close()


def revived(server, book, sessions, page):
    """Sessions again, on a new cluster where the server has ended, in the state of that page."""
    sessions.close()
    sessions = Sessions(server, book)
    for name, statements, _ in book.pages():
        for statement in statements:
            sessions.root.run(statement)
        if name == page:
            break
    return sessions


# Refusals for want of a right: no privilege, an invalid grant, no such login, too many connections …
RIGHTS = ("42501", "0LP01", "28000", "53300", "42939")
# Our server has no such object, so no right to it can be missing.
ABSENT = re.compile(r"pg_class_oid_index|^drop (type|extension|domain) if exists")


def allows_more(statement, expected, got):
    """Returns True if our server allows what PostgreSQL refuses for lack of a right. Refusals for other reasons are
    counted too, but do not concern rights."""
    done = got.split(";")[0] == "00000"
    return done and expected.split(";")[0] in RIGHTS and not ABSENT.search(statement)


def line_of(page, mode, statement, states):
    return "\t".join((page, mode, " ".join(states), statement))


def store(path, text):
    """Always the same bytes for the same answers."""
    path.write_bytes(gzip.compress(text.encode(), mtime=0))


def stored(path):
    """{(page, mode, statement): [states]}"""
    kept = {}
    for line in gzip.decompress(path.read_bytes()).decode().splitlines():
        if line.startswith("#"):
            continue
        page, mode, states, statement = line.split("\t", 3)
        kept[page, mode, statement] = states.split(" ")
    return kept
