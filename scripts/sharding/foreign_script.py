"""scripts/sharding/foreign.sql as steps, and how two answers to one are compared; the file's head says
what its lines mean."""
import dataclasses
import re

ALL = ("0", "1", "2")


@dataclasses.dataclass
class Step:
    line: int
    heading: str
    heading_number: int
    where: tuple
    session: str
    text: str
    copy_data: str = ""
    sees: str = ""
    without: str = ""
    loose: bool = False

    def judge(self, ours, theirs):
        """Returns the error in our answer; nothing if there is none."""
        for name, lines in (("ours", ours), ("PostgreSQL's", theirs)):
            text = "\n".join(lines)
            if self.sees and not re.search(self.sees, text):
                return f"  {name} has no /{self.sees}/:\n    " + "\n    ".join(lines[:20])
            if self.without and re.search(self.without, text):
                return f"  {name} has /{self.without}/:\n    " + "\n    ".join(lines[:20])
        if self.loose:
            ours, theirs = ([line for line in lines if line.startswith("error")] for lines in (ours, theirs))
        elif "order by" not in self.text and not self.text.startswith(("explain", "fetch")):
            ours, theirs = sorted(ours), sorted(theirs)
        if ours == theirs:
            return ""
        only_ours = [line for line in ours if line not in theirs] or ours
        only_theirs = [line for line in theirs if line not in ours] or theirs
        return "\n".join([f"  ours       {line}" for line in only_ours[:6]]
                         + [f"  PostgreSQL {line}" for line in only_theirs[:6]])


def shown(events):
    """An answer as lines."""
    lines = []
    for kind, value in events:
        if kind == "row":
            lines.append("row " + "|".join("NULL" if v is None else v for v in value))
        elif kind == "tag":
            lines.append(f"tag {value}")
        elif kind == "error":
            # Not the hint: PostgreSQL's names a file of its own.
            lines.append(f"error {value['C']} {value['M']} {value.get('D', '')} {value.get('W', '')}")
        elif kind == "columns":
            lines.append("columns " + " ".join(str(column) for column in value))
    return lines


class _Reader:
    def __init__(self):
        self.steps = []
        self.heading, self.heading_number = "", -1
        self.where, self.session = ("coordinator",), "main"
        self.next = {}
        self.text = []

    def command(self, line):
        word, _, rest = line[1:].partition(" ")
        if word == "on":
            self.where = ALL if rest == "all" else (rest,)
        elif word == "session":
            self.session = rest
        elif word == "sees":
            self.next["sees"] = rest
        elif word == "not":
            self.next["without"] = rest
        elif word == "loose":
            self.next["loose"] = True
        else:
            raise SystemExit(f"foreign.sql: no such line: {line}")

    def sql(self, number, line, rest_of_file):
        self.text.append(line)
        if not line.endswith(";"):
            return
        text = "\n".join(self.text)[:-1]
        self.text = []
        copied = []
        if re.search(r"(?i)^copy .* from stdin", text):
            for _, row in rest_of_file:
                if row == r"\.":
                    break
                copied.append(row + "\n")
        self.steps.append(Step(number, self.heading, self.heading_number, self.where, self.session, text,
                               "".join(copied), **self.next))
        self.next = {}


def read(path):
    reader = _Reader()
    lines = iter(enumerate(path.read_text().splitlines(), 1))
    for number, line in lines:
        if reader.text:
            reader.sql(number, line, lines)
        elif line.startswith("## "):
            reader.heading = line[3:]
            reader.heading_number += 1
        elif line.startswith("\\"):
            reader.command(line)
        elif line and not line.startswith("--"):
            reader.sql(number, line, lines)
    if reader.text:
        raise SystemExit("foreign.sql ends in the middle of a statement")
    return reader.steps
