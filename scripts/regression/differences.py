"""Two servers' answers to one statement, and which of the differences have others as their cause."""
import dataclasses
import json
import re

import reasons

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
    "named": "other values or rows of a named reason, see below",
    "notices": "other notices",
    "details": "errors that differ in detail, hint or position alone",
    "equal": "equal",
}
# Those that a statement does not pass on to the ones behind it.
_HARMLESS = ("columns", "order", "plan", "named", "notices", "details", "equal")
# Operators of three characters and more are users'.
_NAME = re.compile(r'"(?:[^"]|"")+"|[A-Za-z_][A-Za-z_0-9$]*|[-+*/<>=~!@#%^&|?]{3,}')
_DEFINING = re.compile(
    r"\s*(?:create|alter|drop)\s+(?:or\s+replace\s+)?(?:[a-z]+\s+)*?"
    r"(?:table|view|function|procedure|routine|type|domain|index|sequence|trigger|rule|policy|aggregate|operator\s+class|"
    r"operator\s+family|operator|cast|schema|role|user|group|extension|server|wrapper|statistics|publication|subscription|"
    r"language|method|collation|conversion|tablespace|database|transform|configuration|dictionary|parser|template)\s+"
    r"(?:concurrently\s+)?(?:if\s+(?:not\s+)?exists\s+)?"
    r"(?:only\s+)?([-+*/<>=~!@#%^&|?]+|(?:\"[^\"]+\"|[\w$]+)(?:\.(?:\"[^\"]+\"|[\w$]+))?)", re.IGNORECASE)
_CHANGING = re.compile(
    r"\s*(?:with\b.*?\)\s*)?(?:insert\s+into|update|delete\s+from|merge\s+into|copy|truncate(?:\s+table)?|select\s+.*?\binto|"
    r"comment\s+on\s+\w+|prepare|declare|lock\s+table|refresh\s+materialized\s+view|"
    r"cluster|set(?:\s+local|\s+session)?)\s+(?:only\s+|temp\s+|table\s+)*"
    r"((?:\"[^\"]+\"|[\w$]+)(?:\.(?:\"[^\"]+\"|[\w$]+))?)", re.IGNORECASE | re.DOTALL)
_ALSO_NAMED = re.compile(
    r"(?:\b(?:on(?:\s+(?:insert|update|delete|select)\s+to)?|rename\s+to|partition\s+of|attach\s+partition|inherit|constraint)\s|"
    r"inherits\s*\()\s*(?:only\s+)?([\w\".]+)", re.IGNORECASE)
_WRITING = re.compile(r"(?:with|insert|update|delete|merge|copy|truncate|cluster|execute)\b", re.IGNORECASE)
_CALLING = re.compile(r"(?:select|call|do)\b", re.IGNORECASE)
_WRITTEN_BY_BODY = re.compile(r"\b(?:insert\s+into|update|delete\s+from)\s+(?:only\s+)?([\w\".]+)", re.IGNORECASE)
_ROUTINE = re.compile(r"create\s+(?:or\s+replace\s+)?(?:function|procedure)\b", re.IGNORECASE)
_FETCHING = re.compile(r"(?:fetch|move)\b.*?([a-z_]\w*)\s*$", re.IGNORECASE | re.DOTALL)
_NAMING_QUERY = re.compile(r"(?:prepare|declare)\s+(\w+)", re.IGNORECASE)
_MAKING = re.compile(r"(?:create|prepare|declare)\b", re.IGNORECASE)
_OF_TABLE = re.compile(r"create\s+(?:or\s+replace\s+)?(?:constraint\s+)?(?:rule|trigger)\b", re.IGNORECASE)
_PATTERN = re.compile(r"\blike\s+E?'([^']{3,})'", re.IGNORECASE)
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
    reason: str = ""     # of kind named
    cause: "Answer" = None  # the first difference that this one follows from; itself: it has no other
    source: "Answer" = None  # of a variable in its text


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
        return "refused" if our_error["C"] == "0A000" or _needs_library(text, our_error) else "only_here"
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


def _needs_library(text, error):
    """Functions in C have a library, of which there are none here."""
    return error["C"] == "58P01" and re.search(r"\blanguage\s+'?c\b", text, re.IGNORECASE) is not None


def _values(events, wanted):
    return [json.dumps(value) for kind, value in events if kind == wanted]


def _columns(events):
    return [[(name, oid if oid < 16384 else 0) for name, oid, _ in value] for kind, value in events if kind == "columns"]


def _notices(events):
    return [tuple(value.get(field) for field in "SMDH") for kind, value in events if kind == "notice"]


def _names(text):
    found = {name.strip('"').lower() for name in _NAME.findall(text)}
    return {name for name in found if name not in _COMMON}


def _names_in_error(events):
    error = error_of(events) or {}
    return _names(f"{error.get('M', '')} {error.get('D', '')}")


def _last_part(name):
    return name.split(".")[-1].strip('"').lower()


def _changed_names(text):
    """Returns the names of the objects that the statement creates, changes or fills."""
    defining = _DEFINING.match(text)
    if defining:
        return {_last_part(name) for name in (defining[1], *_ALSO_NAMED.findall(text))} - _COMMON
    changing = _CHANGING.match(text)
    return {_last_part(changing[1])} - _COMMON if changing else set()


def _piece_of_pattern(found):
    escaped, many, one, other = found.groups()
    return ".*" if many else "." if one else re.escape(escaped or other)


class Causes:
    """Goes through answers in their order. A difference has an earlier one as its cause if the statement names an
    object that the earlier one left different, or if its transaction has failed on one side only. An object reaches to those that
    its definition names: a view to its tables, a table to the functions of its triggers and rules, a cursor to its query's."""

    def __init__(self):
        self._left_by = {}
        self._reaches = {}  # names in the definitions of an object
        self._routines = set()
        self._cursors = {}  # texts of DECLARE
        self._file = None
        self._block = None

    def note(self, answer):
        answer.kind = kind_of(answer.text, answer.theirs, answer.ours)
        text = without_comments(answer.text)
        if answer.file != self._file:
            self._begin(answer.file)
        if answer.kind in ("rows", "order"):
            answer.reason = reasons.reason(answer.file, self._with_query(text), answer.theirs, answer.ours) or ""
            answer.kind = "named" if answer.reason else answer.kind
        if answer.source and answer.source.kind == "named" and answer.kind not in _HARMLESS:
            answer.kind, answer.reason = "named", answer.source.reason
        before = self._block or (answer.source and answer.source.cause)
        if answer.states[0] == answer.states[1] != "E":
            self._block = None
        self._note_definition(text, answer)
        changed = _changed_names(text)
        if answer.kind in _HARMLESS:
            self._pass_on(answer, text, changed)
            if answer.states[0] != answer.states[1]:
                self._block = self._block or answer
            return
        names = _names(text) | _names_in_error(answer.theirs)
        # _mood is the type of arrays of mood.
        names |= {name[1:] for name in names if name.startswith("_") and name[1:] in self._left_by}
        names = self._reached(names)
        answer.cause = before or next((self._left_by[name] for name in names if name in self._left_by), None) \
            or self._cause_by_pattern(text) or answer
        if _WRITING.match(text):
            changed = self._reached(changed)
        elif _CALLING.match(text):
            called = _names(text) & self._routines
            changed = set(self._reached(called)) - called | changed
        elif _OF_TABLE.match(text):
            # A rule writes its tables, also through views.
            changed |= set(self._reached(_names(text) & self._reaches.keys()))
        elif _ROUTINE.match(text):
            # A routine that is missing does not write.
            changed |= {_last_part(name) for name in _WRITTEN_BY_BODY.findall(text)} - _COMMON
        for name in changed:
            self._left_by.setdefault(name, answer.cause)
        if answer.states[0] != answer.states[1]:
            self._block = self._block or answer.cause

    def _begin(self, file):
        self._file, self._block = file, None
        # A letter is an alias elsewhere.
        for known in (self._left_by, self._reaches):
            for name in [name for name in known if len(name) == 1]:
                del known[name]

    def _with_query(self, text):
        """Returns a statement with the query of the cursor that it fetches from."""
        found = _FETCHING.match(text)
        return f"{text} {self._cursors.get(found[1].lower(), '')}" if found else text

    def _pass_on(self, answer, text, changed):
        """A write whose answers are equal still passes on what its sources have, and so does a fetched row a cursor's place."""
        if answer.reason and _FETCHING.match(text):
            self._left_by.setdefault(_FETCHING.match(text)[1].lower(), answer)
        if _WRITING.match(text) and not error_of(answer.theirs):
            sources = self._reached(_names(text) - changed)
            cause = next((self._left_by[name] for name in sources if name in self._left_by), None)
            for name in changed if cause else ():
                self._left_by.setdefault(name, cause)

    def _note_definition(self, text, answer):
        made = _DEFINING.match(text) or _NAMING_QUERY.match(text)
        if not made or not _MAKING.match(text) or error_of(answer.theirs):
            return
        name = _last_part(made[1])
        if text[:7].lower() == "declare":
            self._cursors[name] = text
        if _ROUTINE.match(text):
            self._routines.add(name)
        if answer.kind in _HARMLESS:
            self._left_by.pop(name, None)
        is_of_table = _OF_TABLE.match(text)
        for owner in _changed_names(text) if is_of_table else {name}:
            kept = self._reaches.get(owner, set()) if is_of_table else set()
            self._reaches[owner] = kept | (_names(text) - {owner})

    def _reached(self, names):
        """Returns the names and all that their definitions name, those first that are nearest."""
        reached, at = list(names), 0
        known = set(names)
        while at < len(reached):
            more = (self._reaches.get(reached[at], set()) & self._reaches.keys()) - known
            reached += sorted(more)
            known |= more
            at += 1
        return reached

    def _cause_by_pattern(self, text):
        """Returns the cause of a difference in a list of the objects whose names match a pattern."""
        for literal in _PATTERN.findall(text):
            pattern = re.sub(r"\\+(.)|(%)|(_)|(.)", _piece_of_pattern, literal)
            for name, cause in self._left_by.items():
                if re.fullmatch(pattern, name):
                    return cause
        return None
