"""What is asked of both servers in one go, and how their answers are compared."""
import dataclasses
import re

from calls import CallMaker
from expressions import COMMON, Scope
from pieces import Literal, Parameters, Piece, all_pieces, literals, render, replaced
from queries import QueryMaker
from sessions import SessionMaker
from shapes import ShapeMaker
from tables import TableMaker
from writes import WriteMaker


@dataclasses.dataclass
class Request:
    text: str
    parameters: list | None = None


@dataclasses.dataclass
class Case:
    mode: str
    statement: Piece
    ordered: bool
    table: object = None   # target of a write
    keeps: bool = False    # a write that is committed
    with_parameters: bool = False

    def requests(self, statement):
        parameters = Parameters() if self.with_parameters else None
        text = render(statement, parameters)
        request = Request(text, parameters.values if parameters else None)
        if self.mode.startswith("session"):
            return [Request(render(step)) for step in statement.parts if render(step)]
        if not self.table:
            return [request]
        rows = Request(f"select * from {self.table.name}")
        return [Request("begin"), request, rows, Request("commit" if self.keeps else "rollback")]


class CaseMaker:
    """All statements of one round."""

    def __init__(self, random):
        self.random = random
        self.queries = QueryMaker(random, [])
        self.tables, self.setup = TableMaker(random, self.queries.expressions).database()
        self.queries.tables = self.tables
        self.writes = WriteMaker(random, self.tables, self.queries)
        self.calls = CallMaker(random)
        self.sessions = SessionMaker(random)
        self.shapes = ShapeMaker(random)
        self.last = None

    def case(self, mode=None):
        """A statement of any kind, or of one."""
        case = self._case()
        while mode and not case.mode.startswith(mode):
            case = self._case()
        return case

    def _case(self):
        random = self.random
        way = random.random()
        if way < 0.15 and self.last:
            return self._again(self.last)
        if way < 0.35:
            case = Case("call", self.calls.statement(), True)
            case.with_parameters = random.random() < 0.15
            return case
        if way < 0.4:
            return Case("session", self.sessions.statement(), True)
        if way < 0.43:
            return Case("session of definitions", self.shapes.session(), True)
        if way < 0.5:
            statement, ordered = self.shapes.statement()
            return Case("shape", statement, ordered)
        if way < 0.6:
            statement, table = self.writes.statement()
            # Undo the write, so that the round's tables stay as every other statement expects them.
            case = Case("write", statement, False, table)
        else:
            statement, ordered = self.queries.statement(random.choice([0, 1, 1, 2, 2, 3]))
            case = Case("query", statement, ordered)
        case.with_parameters = random.random() < 0.15
        self.last = case
        if random.random() < 0.1:
            return self._mistaken(case)
        return case

    def _again(self, case):
        """The same shape with other constants."""
        others = {}
        for literal in literals(case.statement):
            kind = literal.kind[1:]
            plain = literal.written == literal.text or literal.kind == "=text"
            # Patterns and small numbers stand where another constant would be another statement.
            if not plain and self.random.random() < 0.7:
                others[id(literal)] = self.queries.expressions.literal(kind)
        return dataclasses.replace(case, mode=case.mode + " again", statement=replaced(case.statement, others))

    def _mistaken(self, case):
        """Replaces one expression by one of another type than expected."""
        random = self.random
        found = [piece for piece in all_pieces(case.statement) if piece.kind.startswith("=")]
        if not found:
            return case
        piece = random.choice(found)
        wrong = random.choice([kind for kind in COMMON if "=" + kind != piece.kind])
        made = random.choice([self.queries.expressions.make(wrong, Scope([]), 1), Piece("=x", "no_such_column"),
                              Piece("=x", "no_such_function(1)"), Piece("=x", "count(*)"), Piece("=x", "'x'"),
                              Piece("=x", "id"), Piece("=x", "(select 1, 2)"), Piece("=x", "row(1, 2)"),
                              Piece("=x", "sum(1) over ()")])
        return dataclasses.replace(case, mode="mistaken", statement=replaced(case.statement, {id(piece): made}),
                                   with_parameters=False)


# ---- answers

@dataclasses.dataclass
class Answer:
    """Answer to one request. The text of an error is kept for the report, and not compared."""
    columns: list
    rows: list
    tags: list
    state: str = ""
    message: str = dataclasses.field(default="", compare=False)


def answer(events, ordered=False):
    result = Answer([], [], [])
    for kind, value in events:
        if kind == "columns":
            # User-defined types have another number on each server.
            result.columns = [(name, min(oid, 16384), modifier) for name, oid, modifier in value]
        elif kind == "row":
            result.rows.append(value)
        elif kind == "tag":
            result.tags.append(value)
        elif kind == "error":
            result.state, result.message = value["C"], value["M"]
    if result.state:
        # Timing decides if a description or some rows come before the error.
        result.columns, result.rows = [], []
    if not ordered:
        result.rows.sort(key=lambda row: [(field is None, field or "") for field in row])
    return result


def answers(connection, requests, ordered):
    return [answer(connection.run(request.text, "", request.parameters), ordered) for request in requests]


@dataclasses.dataclass
class Difference:
    kind: tuple
    theirs: object
    ours: object
    refusal: str = ""

    def shown(self):
        return "\n".join(_shown("-", self.theirs, self.ours) + _shown("+", self.ours, self.theirs))


def _shown(mark, mine, other):
    if not isinstance(mine, Answer):
        return [f"{mark} {mine}"]
    if mine.state:
        return [f"{mark} ! {mine.state} {mine.message}"]
    lines = [f"{mark} : {mine.columns} {mine.tags}"] if not isinstance(other, Answer) or \
        (mine.columns, mine.tags) != (other.columns, other.tags) else []
    rows = mine.rows if not isinstance(other, Answer) or sorted(map(str, mine.rows)) == sorted(map(str, other.rows)) else \
        [row for row in mine.rows if row not in other.rows] or mine.rows
    return lines + [f"{mark}   {row}" for row in rows[:8]] + ([f"{mark}   … {len(rows)} rows"] if len(rows) > 8 else [])


# Functions that PostgreSQL got after 15; min and max of bytea and rows among them.
NEWER = {"any_value", "array_reverse", "array_sample", "array_shuffle", "array_sort", "casefold", "crc32", "crc32c", "date_add",
         "date_subtract", "erf", "erfc", "gamma", "generate_series", "json_agg_strict", "json_object_agg_strict",
         "json_object_agg_unique", "json_object_agg_unique_strict", "jsonb_agg_strict", "jsonb_object_agg_strict",
         "jsonb_object_agg_unique", "jsonb_object_agg_unique_strict", "lgamma", "max", "min", "pg_basetype", "pg_input_error_info",
         "pg_input_is_valid", "random", "random_normal", "reverse", "timezone", "to_bin", "to_oct", "to_regtypemod",
         "uuid_extract_timestamp", "uuid_extract_version", "uuidv4", "uuidv7", "xmltext"}


def known_difference(request, theirs, ours):
    """Why the two need not answer alike, as docs/sql-support.md has it; empty where they should."""
    missing = re.match(r"function (?:pg_catalog\.)?(\w+)\(", theirs.message or "")
    if theirs.state == "42883" and missing and missing[1] in NEWER and ours.state != "42883":
        return "known: a function of a later PostgreSQL"
    if theirs.state == "22P02" and (theirs.message or "").startswith("malformed array literal") and ours.state in ("", "22P02"):
        return "known: a text that later versions read as an array"
    if theirs.state == "22008" and not ours.state and "inf" in request.text.lower() and "interval" in request.text.lower():
        return "known: an infinite interval, which there is since 17"
    if (theirs.state, ours.state) == ("23503", "23001"):
        return "known: RESTRICT has a code of its own since 18"
    if theirs.state and ours.state:
        several = request.text.lower().startswith("alter table") and _parts(request.text) > 1
        return "known: of several faults of an ALTER TABLE another one" if several else ""
    # One that has rows, or whose rows are not even looked at, would have computed it.
    is_empty = ours.tags and not ours.rows and all(tag.endswith(" 0") for tag in ours.tags)
    # An action of MERGE may have no rows though the statement has.
    is_merge = re.match(r"(with\b.*\))?\s*merge\b", request.text.lower(), re.S)
    if theirs.state.startswith("22") and not ours.state and (is_empty or is_merge):
        return "known: computed only where there is a row"
    return ""


def _parts(text):
    """Returns the number of a list's elements: counts commas outside of parentheses and quotes."""
    bare = re.sub(r"'(?:[^']|'')*'|\"[^\"]*\"", "", text)
    while (shorter := re.sub(r"\([^()]*\)", "", bare)) != bare:
        bare = shorter
    return 1 + bare.count(",")


def difference(requests, theirs, ours):
    """The first of the requests whose answers differ, or None."""
    for request, there, here in zip(requests, theirs, ours):
        if there == here:
            continue
        if not isinstance(here, Answer):
            return Difference(("ended",), there, here)
        refused = here.state == "0A000" and there.state != "0A000"
        refusal = "refused: " + here.message if refused else known_difference(request, there, here)
        what = "columns" if here.columns != there.columns else "rows" if here.rows != there.rows else "tags"
        return Difference((there.state, here.state, "" if there.state or here.state else what), there, here, refusal)
    return None


def same_kind(found, wanted):
    return found is not None and found.kind == wanted.kind and bool(found.refusal) == bool(wanted.refusal)
