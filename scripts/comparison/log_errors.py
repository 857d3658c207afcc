"""What a server's log says went wrong."""
import re


def errors_in(text):
    """Returns the log's errors and the first lines of their statements, without parts that differ from run to run."""
    found = {}
    lines = text.splitlines()
    for at, line in enumerate(lines):
        told = re.search(r"(ERROR|FATAL|PANIC):  (.*)", line)
        if not told or "terminating connection" in told.group(2) or "canceling statement" in told.group(2):
            continue
        statement = next((re.search(r"STATEMENT:  (.*)", later).group(1) for later in lines[at + 1:at + 6]
                          if "STATEMENT:  " in later), "")
        message = re.sub(r"\d+", "N", told.group(2))
        message = re.sub(r" at character N$", "", message)
        found.setdefault(message, statement)
    return found
