"""Reads a script as psql does, as far as PostgreSQL's regression tests use it: statements with their variables, commands
that begin with a backslash, and the data of COPY FROM STDIN behind its statement."""
import dataclasses
import re

_WORD = re.compile(r"[A-Za-z_\x80-\U0010ffff][A-Za-z_0-9$\x80-\U0010ffff]*")
_NUMBER = re.compile(r"[0-9][0-9A-Za-z_.]*")
_DOLLAR = re.compile(r"\$(?:[A-Za-z_\x80-\U0010ffff][A-Za-z_0-9\x80-\U0010ffff]*)?\$")
_VARIABLE = re.compile(r""":(?:(?P<text>\w+)|'(?P<literal>\w+)'|"(?P<name>\w+)"|\{\?(?P<test>\w+)\})""")
_COMMAND = re.compile(r"\\(\\|[A-Za-z_!?]+[+S]*)?")
# Commands that send what has been read, instead of a semicolon.
_SENDING = ("g", "gset", "gx", "gdesc", "gexec", "crosstabview", "watch")
# Those that send it by the extended protocol, which psql's own tests do.
_LEFT_OUT = ("bind", "bind_named", "parse", "close_prepared", "sendpipeline")
_ROUTINES = re.compile(r"create (or replace )?(function|procedure)\b")


@dataclasses.dataclass
class Statement:
    line: int
    parts: list       # texts and matches of _VARIABLE
    ended_by: str     # ";", "end", or the name of a command
    argument: str     # of that command

    def text(self, variables):
        return "".join(part if isinstance(part, str) else _value(part, variables) for part in self.parts)

    def variables(self):
        return [part[part.lastgroup] for part in self.parts if not isinstance(part, str)]


@dataclasses.dataclass
class Command:
    line: int
    name: str
    argument: str


def words(text, variables):
    """The arguments of a command, without their quotes and with the values of variables."""
    found = []
    at = 0
    is_open = False
    while at < len(text):
        if text[at].isspace():
            is_open = False
            at += 1
            continue
        if not is_open:
            found.append("")
            is_open = True
        variable = _VARIABLE.match(text, at) if text[at] == ":" else None
        if text[at] == "'":
            end = _end_of_quoted(text, at + 1, "'", has_escapes=True)
            found[-1] += re.sub(r"\\(.)|''", lambda m: {"n": "\n", "t": "\t", None: "'"}.get(m[1], m[1]), text[at + 1:end - 1])
            at = end
        elif variable:
            found[-1] += _value(variable, variables)
            at = variable.end()
        else:
            found[-1] += text[at]
            at += 1
    return found


def _value(variable, variables):
    kind = variable.lastgroup
    value = variables.get(variable[kind])
    if kind == "test":
        return "FALSE" if value is None else "TRUE"
    if value is None:
        return variable[0]
    if kind == "text":
        return value
    if kind == "name":
        return '"' + value.replace('"', '""') + '"'
    quoted = "'" + value.replace("'", "''") + "'"
    return " E" + quoted.replace("\\", "\\\\") if "\\" in value else quoted


def _end_of_quoted(text, at, quote, has_escapes=False):
    """The place behind the closing quote."""
    while at < len(text):
        if text[at] == "\\" and has_escapes:
            at += 2
        elif text.startswith(quote * 2, at):
            at += 2
        elif text[at] == quote:
            return at + 1
        else:
            at += 1
    return len(text)


def _end_of_comment(text, at):
    if text.startswith("--", at):
        end = text.find("\n", at)
        return len(text) if end < 0 else end
    depth = 0
    while at < len(text):
        if text.startswith("/*", at):
            depth += 1
            at += 2
        elif text.startswith("*/", at):
            depth -= 1
            at += 2
        else:
            at += 1
        if depth == 0:
            break
    return at


class Script:
    def __init__(self, text):
        self.text = text
        self.at = 0

    def copy_data(self):
        """The lines behind the present one, up to that with a backslash and a full stop."""
        self.at = self._end_of_line(self.at) + 1
        end = re.compile(r"^\\\.$", re.MULTILINE).search(self.text, self.at)
        data = self.text[self.at:end.start() if end else len(self.text)]
        self.at = self._end_of_line(end.start()) + 1 if end else len(self.text)
        return data

    def items(self):
        """Statements and commands in their order. The caller may take data between two of them."""
        statement = _Collected()
        while self.at < len(self.text):
            char = self.text[self.at]
            if char == "\\" and not self.text.startswith("\\;", self.at):
                line = self._line()
                name, argument = self._command()
                if name in _SENDING and not statement.parts:
                    pass  # psql would send the statement before once more
                elif name in _SENDING:
                    yield Statement(line, statement.parts, name, argument)
                    statement = _Collected()
                elif name in ("r", "reset", *_LEFT_OUT):
                    statement = _Collected()
                elif name != "\\":
                    yield Command(line, name, argument)
            elif char == ";" and statement.is_complete():
                line = self._line()
                self.at += 1
                if statement.parts:
                    yield Statement(line, statement.parts, ";", "")
                statement = _Collected()
            else:
                self._take_piece(statement)
        if statement.parts:
            yield Statement(self._line(), statement.parts, "end", "")

    def _take_piece(self, statement):
        """Adds the token at the current position to the statement."""
        text, at = self.text, self.at
        word = _WORD.match(text, at)
        dollar = _DOLLAR.match(text, at)
        variable = _VARIABLE.match(text, at) if text[at] == ":" else None
        if text.startswith("--", at) or text.startswith("/*", at):
            self.at = _end_of_comment(text, at)
        elif text[at] in "'\"":
            self.at = _end_of_quoted(text, at + 1, text[at])
        elif text[at] in "eEnNbBxX" and text.startswith("'", at + 1):
            self.at = _end_of_quoted(text, at + 2, "'", has_escapes=text[at] in "eE")
        elif dollar:
            end = text.find(dollar[0], dollar.end())
            self.at = len(text) if end < 0 else end + len(dollar[0])
        elif text.startswith("\\;", at):
            statement.add(";")
            self.at += 2
            return
        elif text.startswith("::", at) or text.startswith(":=", at):
            self.at += 2
        elif variable:
            statement.parts.append(variable)
            self.at = variable.end()
            return
        elif word:
            statement.note_word(word[0].lower())
            self.at = word.end()
        else:
            number = _NUMBER.match(text, at)
            self.at = number.end() if number else at + 1
            statement.note_sign(text[at])
        statement.add(text[at:self.at])

    def _command(self):
        """The name and the argument of the command at the present place, which it passes."""
        found = _COMMAND.match(self.text, self.at)
        name = found[1] or ""
        self.at = found.end()
        if name == "\\":
            return name, ""
        end = self._end_of_line(self.at)
        argument = self.text[self.at:end]
        # Another command may follow in the line.
        next_one = argument.find("\\" if name in (*_SENDING, *_LEFT_OUT, "endif", "else", "r") else "\\\\")
        if next_one >= 0:
            argument = argument[:next_one]
        self.at += len(argument)
        return name, argument.strip()

    def _line(self):
        return self.text.count("\n", 0, self.at) + 1

    def _end_of_line(self, at):
        end = self.text.find("\n", at)
        return len(self.text) if end < 0 else end


class _Collected:
    """Parts of a statement read so far."""

    def __init__(self):
        self.parts = []
        self.parentheses = 0
        self.first_words = ""
        self.blocks = 0  # BEGIN ATOMIC … END in the body of a routine

    def add(self, text):
        if self.parts and isinstance(self.parts[-1], str):
            self.parts[-1] += text
        elif self.parts or text.strip():
            self.parts.append(text)

    def note_sign(self, sign):
        if sign == "(":
            self.parentheses += 1
        elif sign == ")":
            self.parentheses = max(0, self.parentheses - 1)

    def note_word(self, word):
        if len(self.first_words) < 40:
            self.first_words += word + " "
        if not _ROUTINES.match(self.first_words):
            return
        if word == "begin" or (word == "case" and self.blocks > 0):
            self.blocks += 1
        elif word == "end" and self.blocks > 0:
            self.blocks -= 1

    def is_complete(self):
        return self.parentheses == 0 and self.blocks == 0
