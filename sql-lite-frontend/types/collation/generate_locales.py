#!/usr/bin/env python3
"""generate_locales.py DSN > locales.inc: the locales of which a PostgreSQL 15 has made collations.

A locale keeps its place for good: compare with the list before, and put what is new at its end."""
import subprocess
import sys

HEAD = """// The locales of ICU that PostgreSQL 15 makes collations of, in its order: what a locale's collation
// is numbered is its place here, so new ones only ever come at the end.
// Written by generate_locales.py.
// clang-format off
"""
QUERY = "SELECT colliculocale FROM pg_collation WHERE collprovider = 'i' AND oid < 16384 ORDER BY oid"


def main():
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    asked = subprocess.run(["psql", "-AtX", "-c", QUERY, sys.argv[1]], capture_output=True, text=True, check=True)
    lines, line = [], ""
    for item in (f'"{locale}",' for locale in asked.stdout.split()):
        if len(line) + len(item) + 1 > 98:
            lines.append(line.rstrip())
            line = ""
        line += item + " "
    print(HEAD + "\n".join([*lines, line.rstrip()]))


if __name__ == "__main__":
    main()
