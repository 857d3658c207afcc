"""Scripts of the sqllogictest kind: records of statements and queries with what must come of them.

  statement ok | error [REGULAR EXPRESSION] | count N
  query TYPES [nosort | rowsort | valuesort] [LABEL]    then ---- and the values, one in each line
  skipif NAME / onlyif NAME        about the next record; we are both "swizzle" and "postgresql"
  hash-threshold N                 results of more values are kept as "N values hashing to MD5"
  halt                             what follows is not run

TYPES has a letter for each column: I integers, R numbers with three digits behind the point, T text.
NULL is "NULL", an empty text "(empty)", and what cannot be printed "@". Queries with one label must
have one result. A blank line ends a record; # begins a comment."""
import dataclasses
import hashlib
import re


@dataclasses.dataclass
class Record:
    line: int
    kind: str  # "ok", "error", "count", "query", "hash-threshold", "halt"
    argument: str = ""
    sql: str = ""
    types: str = ""
    sort: str = "nosort"
    label: str = ""
    result: list = dataclasses.field(default_factory=list)
    conditions: list = dataclasses.field(default_factory=list)  # (skipif or onlyif, name)
    head: list = dataclasses.field(default_factory=list)  # its lines above the result, comments too

    def is_for(self, names):
        return all((name in names) == (word == "onlyif") for word, name in self.conditions)


class Malformed(Exception):
    pass


def read(path):
    records = []
    block = []
    for number, line in enumerate([*path.read_text().splitlines(), ""], 1):
        if line.strip():
            block.append((number, line))
            continue
        if any(not text.startswith("#") for _, text in block):
            records.append(_record(path, block))
        elif block:
            records.append(Record(block[0][0], "comment", head=[text for _, text in block]))
        block = []
    return records


def _record(path, block):
    record = Record(block[0][0], "")
    lines = iter(block)
    for number, text in lines:
        record.head.append(text)
        words = text.split()
        if text.startswith("#"):
            continue
        if words[0] in ("skipif", "onlyif") and len(words) > 1:
            record.conditions.append((words[0], words[1]))
            continue
        if words[0] == "statement" and len(words) > 1 and words[1] in ("ok", "error", "count"):
            record.kind, record.argument = words[1], text.split(None, 2)[2] if len(words) > 2 else ""
        elif words[0] == "query" and len(words) > 1 and not set(words[1]) - set("ITR"):
            record.kind, record.types = "query", words[1]
            record.sort = words[2] if len(words) > 2 else "nosort"
            record.label = words[3] if len(words) > 3 else ""
            if record.sort not in ("nosort", "rowsort", "valuesort"):
                raise Malformed(f"{path}:{number}: no such order: {record.sort}")
        elif words[0] in ("halt", "hash-threshold"):
            record.kind, record.argument = words[0], words[1] if len(words) > 1 else ""
        else:
            raise Malformed(f"{path}:{number}: {text}")
        break
    sql = []
    for _, text in lines:
        if text == "----":
            record.result = [value for _, value in lines]
            break
        sql.append(text)
        record.head.append(text)
    record.sql = "\n".join(sql)
    return record


def _value(letter, text):
    if text is None:
        return "NULL"
    if letter == "I":
        return {"t": "1", "f": "0"}.get(text) or str(int(float(text)) if re.search(r"[.eE]", text) else int(text))
    if letter == "R":
        return f"{float(text):.3f}"
    return re.sub(r"[^ -~]", "@", text) or "(empty)"


def shown(record, rows, threshold):
    """The result's lines, as they stand in a script. Raises ValueError where a value has another type."""
    rows = [[_value(letter, field) for letter, field in zip(record.types, row)] for row in rows]
    if record.sort == "rowsort":
        rows.sort()
    values = [value for row in rows for value in row]
    if record.sort == "valuesort":
        values.sort()
    if threshold and len(values) > threshold:
        text = "".join(value + "\n" for value in values)
        return [f"{len(values)} values hashing to {hashlib.md5(text.encode()).hexdigest()}"]
    return values


class Run:
    """A script on one connection. `names`: names of the server in skipif and onlyif."""

    def __init__(self, connection, names):
        self.connection = connection
        self.names = names
        self.threshold = 0
        self.labels = {}
        self.halted = False

    def step(self, record):
        """Returns the error in the answer, or None, and for a query the result's lines."""
        if self.halted or record.kind == "comment" or not record.is_for(self.names):
            return None, None
        if record.kind == "halt":
            self.halted = True
            return None, None
        if record.kind == "hash-threshold":
            self.threshold = int(record.argument)
            return None, None
        events = self.connection.run(record.sql)
        errors = [value for kind, value in events if kind == "error"]
        if record.kind == "error":
            return self._expected_error(record, errors), None
        if errors:
            return f"{errors[0]['C']} {errors[0]['M']}", None
        if record.kind == "query":
            return self._result(record, events)
        if record.kind == "count":
            count = [value.split()[-1] for kind, value in events if kind == "tag"]
            return (None if count == [record.argument] else f"count {count}"), None
        return None, None

    @staticmethod
    def _expected_error(record, errors):
        if not errors:
            return "no error"
        if not re.search(record.argument, f"{errors[0]['C']} {errors[0]['M']}"):
            return f"another error: {errors[0]['C']} {errors[0]['M']}"
        return None

    def _result(self, record, events):
        columns = next((value for kind, value in events if kind == "columns"), [])
        if len(columns) != len(record.types):
            return f"{len(columns)} columns instead of {len(record.types)}", None
        try:
            result = shown(record, [value for kind, value in events if kind == "row"], self.threshold)
        except ValueError as problem:
            return str(problem), None
        if record.label and self.labels.setdefault(record.label, result) != result:
            return f"another result than the query before with label {record.label}", result
        return None, result


def differences(connection, records, names):
    """Returns (record, error) for each record whose result differs from its script."""
    run = Run(connection, names)
    for record in records:
        try:
            problem, result = run.step(record)
        except OSError as lost:
            yield record, f"the connection ended: {lost}"
            return
        if problem is None and result is not None and result != record.result:
            problem = "another result:\n" + "\n".join(f"- {line}" for line in record.result) + "\n" + \
                "\n".join(f"+ {line}" for line in result)
        if problem:
            yield record, problem


def with_results(connection, records, names):
    """Returns the script's text with the present results. Raises Malformed if a record fails."""
    run = Run(connection, names)
    blocks = []
    for record in records:
        problem, result = run.step(record)
        if problem:
            raise Malformed(f"line {record.line}: {record.sql}: {problem}")
        lines = record.head
        if record.kind == "query":
            lines = [*lines, "----", *(record.result if result is None else result)]
        blocks.append("\n".join(lines) + "\n")
    return "\n".join(blocks)
