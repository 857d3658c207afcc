"""Scripts of statements, and what their answers look like as text.

A script is SQL that psql can run. A request, that is one Query message, ends at a line whose last
character is a semicolon, so several statements in one line are one message. The data of COPY FROM
STDIN follows its request, up to a line with a backslash and a full stop. Comments of these forms, on
lines of their own, speak about the next request:

  -- unordered            its rows may come in any order: they are sorted on both sides
  -- parameters: 1 | (null) | x   sent as Parse, Bind and Execute with these values as text
  -- connect: NAME        is the first of a new connection, to that database
  -- differs: REASON      our answer is known to differ from PostgreSQL's, and must

One is about the whole script, as its first line:

  -- oracle: VERSION      the PostgreSQL that is asked, if not 18: 15 where the answer hangs on a library's version,
                          or is not 18's yet

The C++ reader of the same form is sql-lite-frontend/tests/corpus/script.cpp."""
import dataclasses
import re

COPY_IN = re.compile(r"^\s*copy\b.*\bfrom\s+stdin\b", re.IGNORECASE | re.DOTALL)


@dataclasses.dataclass
class Request:
    line: int
    text: str
    unordered: bool = False
    parameters: list | None = None
    differs: str = ""
    connect: str = ""
    copy_data: str = ""


def oracle(path):
    """The version of PostgreSQL whose answers count."""
    found = re.match(r"-- oracle: (\d+)\n", path.read_text())
    return int(found.group(1)) if found else 18


def read(path):
    requests = []
    marks = {}
    text = ""
    first = 0
    lines = iter(enumerate(path.read_text().splitlines(), 1))
    for number, line in lines:
        if not text:
            if line.startswith("--"):
                _mark(line, marks)
                continue
            if not line.strip():
                continue
            first = number
        text += line + "\n"
        if not line.rstrip().endswith(";"):
            continue
        request = Request(first, text.rstrip("\n"), **marks)
        if COPY_IN.search(text):
            for _, data in lines:
                if data == "\\.":
                    break
                request.copy_data += data + "\n"
        requests.append(request)
        text, marks = "", {}
    if text:
        raise SystemExit(f"{path}:{first}: a request without a semicolon at the end of a line")
    return requests


def _mark(line, marks):
    word, _, rest = line[2:].strip().partition(":")
    if word == "unordered":
        marks["unordered"] = True
    elif word in ("differs", "connect"):
        marks[word] = rest.strip()
    elif word == "parameters":
        values = [value.strip() for value in rest.split("|")]
        marks["parameters"] = [None if value == "(null)" else value for value in values if value]


def transcript(request, events, type_names):
    """The answer to one request: the request behind "> ", then one line per event: "? " parameter
    types, ": " columns, two spaces and a row, "= " tag, "! " error, "~ " notice."""
    lines = [f"> {line}" for line in request.text.splitlines()]
    rows = []
    described = None  # where the last column line is, while no row has followed it

    def flush():
        lines.extend(sorted(rows) if request.unordered else rows)
        rows.clear()

    for kind, value in events:
        if kind == "row":
            described = None
            rows.append("  " + _line("|".join("(null)" if field is None else field for field in value)))
            continue
        flush()
        if kind == "columns":
            described = len(lines)
            lines.append(": " + _line(", ".join(f"{name} {_type(type_names, oid, modifier)}"
                                          for name, oid, modifier in value)))
        elif kind == "parameters":
            lines.append("? " + ", ".join(_type(type_names, oid, -1) for oid in value))
        elif kind == "tag":
            lines.append("= " + value)
        elif kind == "error":
            # The moment when an error was noticed decides if it comes before or behind the description of its rows; the
            # statement means the same.
            if described is not None:
                del lines[described]
            lines.extend("! " + line for line in _diagnostic(value))
        elif kind == "notice":
            lines.extend("~ " + line for line in _diagnostic(value))
    flush()
    return "\n".join(lines) + "\n"


def _type(type_names, oid, modifier):
    # User-defined types have another number in every run.
    name = type_names.get(oid, "user-defined" if oid >= 16384 else str(oid))
    return name if modifier == -1 else f"{name}({modifier})"


def _line(text):
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r") if "\n" in text or "\r" in text \
        else text


def _diagnostic(fields):
    severity = "" if fields["S"] == "ERROR" else fields["S"] + " "
    lines = [f"{severity}{fields['C']} {_line(fields['M'])}"]
    for key, name in (("D", "DETAIL"), ("H", "HINT"), ("P", "POSITION"), ("W", "CONTEXT"),
                      ("s", "SCHEMA"), ("t", "TABLE"), ("c", "COLUMN"), ("d", "TYPE"),
                      ("n", "CONSTRAINT")):
        if fields.get(key):
            lines.append(f"  {name}: {_line(fields[key])}")
    return lines
