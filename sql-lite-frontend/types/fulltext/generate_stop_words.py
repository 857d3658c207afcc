#!/usr/bin/env python3
"""Writes stop_word_lists.inc from the lists that PostgreSQL's configurations of text search use: those of the Snowball project
for its languages, whose licence is in stop_words_licence.txt, and PostgreSQL's own of Nepali, under PostgreSQL's.

Usage: generate_stop_words.py FOLDER   (/usr/share/postgresql/15/tsearch_data, of Debian's package postgresql-15)"""
import pathlib
import sys
import textwrap

HERE = pathlib.Path(__file__).resolve().parent


def main():
    lines = ["// Written by generate_stop_words.py; the words' licence is in stop_words_licence.txt.", "// clang-format off"]
    for path in sorted(pathlib.Path(sys.argv[1]).glob("*.stop")):
        words = sorted({line.split()[0] for line in path.read_text().splitlines() if line.strip()})
        lines.append(f'{{"{path.stem}",')
        lines += [f' "{part} "' for part in textwrap.wrap(" ".join(words), 96, break_long_words=False, break_on_hyphens=False)]
        lines[-1] += "},"
    lines += ["// clang-format on", ""]
    (HERE / "stop_word_lists.inc").write_text("\n".join(lines))


if __name__ == "__main__":
    main()
