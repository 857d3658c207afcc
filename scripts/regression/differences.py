"""Two servers' answers to one statement, and which of the differences have others as their cause."""
import dataclasses
import json
import re

# From the most to the least serious kind, with the table's texts.
KINDS = {
    "rows": "other rows or another tag, in silence",
    "only_there": "an error of PostgreSQL's that is none here",
    "refused": "refused here by name (0A000)",
    "only_here": "an error here alone",
    "state": "errors on both, of another SQLSTATE",
    "message": "errors on both, of another message",
    "columns": "columns of another name or type",
    "order": "the same rows in another order, in spite of ORDER BY",
    "plan": "EXPLAIN's text",
    "notices": "other notices",
    "details": "errors that differ in detail, hint or position alone",
    "equal": "equal",
}
# Those that a statement does not pass on to the ones behind it.
_HARMLESS = ("columns", "order", "plan", "notices", "details", "equal")
_NAME = re.compile(r'"(?:[^"]|"")+"|[A-Za-z_][A-Za-z_0-9$]*')
_DEFINING = re.compile(
    r"\s*(?:create|alter|drop)\s+(?:or\s+replace\s+)?(?:[a-z]+\s+)*?"
    r"(?:table|view|function|procedure|routine|type|domain|index|sequence|trigger|rule|policy|aggregate|operator\s+class|"
    r"operator\s+family|operator|cast|schema|role|user|group|extension|server|wrapper|statistics|publication|subscription|"
    r"language|method|collation|conversion|tablespace|database|transform)\s+(?:concurrently\s+)?(?:if\s+(?:not\s+)?exists\s+)?"
    r"(?:only\s+)?((?:\"[^\"]+\"|[\w$]+)(?:\.(?:\"[^\"]+\"|[\w$]+))?)", re.IGNORECASE)
_CHANGING = re.compile(
    r"\s*(?:with\b.*?\)\s*)?(?:insert\s+into|update|delete\s+from|merge\s+into|copy|truncate(?:\s+table)?|select\s+.*?\binto|"
    r"comment\s+on\s+\w+|prepare|declare|lock\s+table|refresh\s+materialized\s+view)\s+(?:only\s+|temp\s+|table\s+)*"
    r"((?:\"[^\"]+\"|[\w$]+)(?:\.(?:\"[^\"]+\"|[\w$]+))?)", re.IGNORECASE | re.DOTALL)
_ALSO_NAMED = re.compile(
    r"(?:\b(?:on(?:\s+(?:insert|update|delete|select)\s+to)?|rename\s+to|partition\s+of|attach\s+partition|inherit)\s|"
    r"inherits\s*\()\s*(?:only\s+)?([\w\".]+)", re.IGNORECASE)
# Words and names of columns that stand for nothing by themselves.
_COMMON = set("""select from where create table view function procedure type index insert into values update delete set alter
add column drop if exists not null default or replace returns as language sql plpgsql begin end and in on to with by order
group having for each row execute trigger before after temp temporary unlogged is text int integer int4 int8 int2 bigint
smallint numeric varchar char boolean bool true false using unique primary key references constraint check foreign id name
public f1 f2 f3 q1 q2 val value cascade only all unbounded of new old return raise notice record count sum max min point box
circle path line float8 float4 real double precision date time timestamp timestamptz interval json jsonb xml inet cidr array
any like ilike between case when then else union limit offset distinct lateral join left right inner outer full cross natural
generate_series rows""".split())


@dataclasses.dataclass
class Answer:
    file: str
    line: int
    text: str
    theirs: list         # events of wire.Connection
    ours: list
    states: tuple        # of the transactions after it, theirs and ours: I, T or E as in ReadyForQuery
    kind: str = ""
    cause: "Answer" = None  # the first difference that this one follows from; itself: it has no other


def error_of(events):
    return next((fields for kind, fields in events if kind == "error"), None)


def without_comments(text):
    return re.sub(r"--[^\n]*", " ", re.sub(r"/\*.*?\*/", " ", text, flags=re.DOTALL)).strip()


def kind_of(text, theirs, ours):
    their_error, our_error = error_of(theirs), error_of(ours)
    if their_error and our_error:
        if their_error["C"] != our_error["C"]:
            return "state"
        if their_error["M"] != our_error["M"]:
            return "message"
        return "details" if any(their_error.get(field) != our_error.get(field) for field in "DHP") else "equal"
    if their_error:
        return "only_there"
    if our_error:
        return "refused" if our_error["C"] == "0A000" else "only_here"
    statement = without_comments(text).lower()
    their_rows, our_rows = _values(theirs, "row"), _values(ours, "row")
    if statement.startswith("explain"):
        return "equal" if their_rows == our_rows else "plan"
    if sorted(their_rows) != sorted(our_rows) or _values(theirs, "tag") != _values(ours, "tag"):
        return "rows"
    if their_rows != our_rows and re.search(r"order\s+by", statement):
        return "order"
    if _columns(theirs) != _columns(ours):
        return "columns"
    return "equal" if _notices(theirs) == _notices(ours) else "notices"


def _values(events, wanted):
    return [json.dumps(value) for kind, value in events if kind == wanted]


def _columns(events):
    return [[(name, oid if oid < 16384 else 0) for name, oid, _ in value] for kind, value in events if kind == "columns"]


def _notices(events):
    return [tuple(value.get(field) for field in "SMDH") for kind, value in events if kind == "notice"]


def _names(text):
    found = {name.strip('"').lower() for name in _NAME.findall(text)}
    return {name for name in found if len(name) > 1 and name not in _COMMON}


def _last_part(name):
    return name.split(".")[-1].strip('"').lower()


def _changed_names(text):
    """Returns the names of the objects that the statement creates, changes or fills."""
    defining = _DEFINING.match(text)
    if defining:
        return {_last_part(name) for name in (defining[1], *_ALSO_NAMED.findall(text))} - _COMMON
    changing = _CHANGING.match(text)
    return {_last_part(changing[1])} - _COMMON if changing else set()


class Causes:
    """Goes through answers in their order. A difference has an earlier one as its cause if the statement names an
    object that the earlier one left different, or if its transaction has failed on one side only."""

    def __init__(self):
        self._left_by = {}
        self._file = None
        self._block = None

    def note(self, answer):
        answer.kind = kind_of(answer.text, answer.theirs, answer.ours)
        if answer.file != self._file:
            self._file, self._block = answer.file, None
        before = self._block
        if answer.states[0] == answer.states[1] != "E":
            self._block = None
        text = without_comments(answer.text)
        changed = _changed_names(text)
        if answer.kind in _HARMLESS:
            if re.match(r"create\b", text, re.IGNORECASE) and not error_of(answer.theirs):
                for name in changed:
                    self._left_by.pop(name, None)
            return
        answer.cause = before or next((self._left_by[name] for name in _names(text) if name in self._left_by), answer)
        for name in changed:
            self._left_by.setdefault(name, answer.cause)
        if answer.states[0] != answer.states[1]:
            self._block = self._block or answer.cause
