"""Differences between two answers that say nothing about users' rows, each with a named reason by which they are counted:
values and orders that PostgreSQL does not fix, the catalog's own contents, texts of definitions. What differs in anything
else remains a difference."""
import collections
import json
import math
import re

REASONS = {
    "numbers": "numbers of objects, rows and transactions",
    "unordered": "rows of a query without ORDER BY: which of them, or in which order a function saw them",
    "plans": "EXPLAIN's text as rows of a function, and the calls that a plan makes",
    "texts": "the text of definitions, in rows that are else equal",
    "catalog": "the system's own objects, in tests of its catalog and of its internals",
    "kinds": "lists of objects of kinds that are refused by name",
    "storage": "how relations are stored: sizes, files, TOAST",
    "statistics": "estimates and counters of statistics",
    "random": "random values and samples",
    "moment": "the time, the process, the place in the log",
    "digits": "the last digits of sums of floating-point numbers",
}
_TEXTS = (
    ("plans", r"\bexplain_\w+\s*\(|\blogging_agg_\w+\s*\(|\bquery_plan\s*\("),
    ("texts", r"\bpg_get_(?:view|function|rule|trigger|constraint|index|partkey|statisticsobj)def\w*\s*\(|"
              r"\binformation_schema\.(?:views|routines|triggers|check_constraints)\b|\bpg_(?:views|matviews|rules)\b"),
    ("storage", r"\bpg_(?:relation|table|total_relation|indexes|database|column|tablespace)_size\s*\(|\b\w*relfilenode\w*\b|"
                r"\breltoastrelid\b|\bpg_toast\w*\b|\battmissingval\b|\bpg_my_temp_schema\b|\bvac_option_tab\w*|\bcheck_ddl_rewrite\b|\bselect comp\(\)|\bclustertest\b"),
    ("kinds", r"\binformation_schema\.(?:foreign_\w+|user_mapping\w*|_pg_foreign\w+|_pg_user_mapping\w*)\b|"
              r"\bpg_(?:foreign_\w+|user_mappings?|conversion|opclass|opfamily|amop|amproc|am|ts_template|ts_parser|"
              r"publication_tables|subscription\w*|largeobject\w*|event_trigger|transform|statistic_ext)\b"),
    ("catalog", r"\btgfoid\b|\bRI_ConstraintTrigger|RI\\\\_FKey|\bpg_shdepend\b|\bpolqual\b|"
                r"\bpg_backend_memory_contexts\b|\bschemaname\s*=\s*'pg_catalog'"),
    ("statistics", r"\bpg_stat(?:s|s_ext|istic|istic_ext_data|s_ext_exprs)\b|\bpg_stat(?:io)?_(?!activity\b)\w+|"
                   r"\brel(?:tuples|pages|allvisible|allfrozen)\b|"
                   r"\bcheck_estimated_rows\s*\(|\bcustom_plans\b"),
    ("random", r"\brandom(?:_normal)?\s*\(|\bgen_random_uuid\s*\(|\buuidv[47]\s*\(|\btablesample\b"),
    ("moment", r"\bpg_(?:backend_pid|current_wal_\w+|current_snapshot|postmaster_start_time|conf_load_time)\s*\(|\btxid_current|"
               r"\bpg_current_xact_id|\b(?:clock|statement|transaction)_timestamp\s*\(|\bversion\s*\("),
)
_TEXTS = tuple((reason, re.compile(text, re.IGNORECASE)) for reason, text in _TEXTS)
_OF_DEFINITION = re.compile(r"pg_get_\w+def\w*|(?:view_|routine_)?definition|action_statement|check_clause")
_OF_CATALOG = ("opr_sanity", "type_sanity", "misc_sanity", "sanity_check", "oidjoins", "init_privs")
_ORDERED = re.compile(r"\border\s+by\b", re.IGNORECASE)
_PARTIAL = re.compile(r"\blimit\b|\bfetch\b|\bdistinct\s+on\b", re.IGNORECASE)
_SEES_ORDER = re.compile(
    r"\b(?:array_agg|string_agg|xmlagg|jsonb?_agg\w*|jsonb?_object_agg\w*|jsonb?_arrayagg|array)\s*\(|\bover\b", re.IGNORECASE)
_OF_PEERS = ("first_value", "last_value", "nth_value", "lag", "lead", "row_number", "ntile")
# Names of the columns that calls of these give.
_NAMED_OF_PEER = re.compile(rf"\b(?:{'|'.join(_OF_PEERS)})\s*\([^()]*\)\s*over\s*(?:\w+|\([^()]*\))\s*(?:as\s+)?(\w+)", re.IGNORECASE)
_CHOOSES_PEER = re.compile(rf"\b(?:{'|'.join(_OF_PEERS)})\s*\(.*\bover\b", re.IGNORECASE | re.DOTALL)
_NUMBER_TYPES = {26, 27, 28, 29, 5069}  # oid, tid, xid, cid, xid8
_FLOAT_TYPES = {700, 701}
_FIRST_OF_USERS = 16384


def reason(file, text, theirs, ours):
    """Returns the key of REASONS under which the rows of two answers without errors may differ, or None. `text` is free of
    comments."""
    if file in _OF_CATALOG:
        return "catalog"
    for name, pattern in _TEXTS:
        if pattern.search(text) and _has_reason(name, theirs, ours):
            return name
    if _misses_toast_alone(theirs, ours):
        return "storage"
    columns, their_rows, our_rows = _columns(theirs), _rows(theirs), _rows(ours)
    if not columns or len(their_rows) != len(our_rows):
        return None
    for name, types, hidden in (("numbers", _NUMBER_TYPES, _without_number), ("digits", _FLOAT_TYPES, _without_last_digits)):
        if types.intersection(columns) and _sorted(their_rows, columns, types, hidden) == _sorted(our_rows, columns, types, hidden):
            return name
    if _CHOOSES_PEER.search(text) and _differ_in_some_columns(text, theirs, their_rows, our_rows):
        return "unordered"
    if _ORDERED.search(text):
        return None
    if _PARTIAL.search(text) or (_SEES_ORDER.search(text) and _characters(their_rows) == _characters(our_rows)):
        return "unordered"
    return None


def _has_reason(name, theirs, ours):
    """Returns false if the rows differ in more than the reason explains."""
    if name == "texts":
        return _without_definitions(theirs) == _without_definitions(ours)
    if name == "kinds":  # Ours are missing.
        return not collections.Counter(map(tuple, _rows(ours))) - collections.Counter(map(tuple, _rows(theirs)))
    return True


def _misses_toast_alone(theirs, ours):
    """True if ours lack only rows that are about TOAST tables."""
    more, fewer = collections.Counter(map(tuple, _rows(theirs))), collections.Counter(map(tuple, _rows(ours)))
    missing = more - fewer
    return bool(missing) and not fewer - more and all(any(str(field).startswith("pg_toast") for field in row) for row in missing)


def _without_definitions(events):
    names = next(([name for name, *_ in value] for kind, value in events if kind == "columns"), [])
    return sorted(json.dumps([value for name, value in zip(names, row) if not _OF_DEFINITION.fullmatch(name)])
                  for row in _rows(events))


def _columns(events):
    return [oid for kind, value in events if kind == "columns" for _, oid, _ in value]


def _rows(events):
    return [value for kind, value in events if kind == "row"]


def _sorted(rows, columns, types, hidden):
    return sorted(json.dumps([hidden(value) if oid in types and value is not None else value
                              for oid, value in zip(columns, row)]) for row in rows)


def _without_number(value):
    return "" if not value.isdigit() or int(value) >= _FIRST_OF_USERS else value


def _without_last_digits(value):
    number = float(value)
    return f"{number:.12g}" if math.isfinite(number) else value


def _differ_in_some_columns(text, events, theirs, ours):
    """True if the rows are equal but for columns of window functions, which see peers in any order."""
    names = next([name for name, *_ in value] for kind, value in events if kind == "columns")
    of_peers = {*_OF_PEERS, *(name.lower() for name in _NAMED_OF_PEER.findall(text))}
    kept = [at for at, name in enumerate(names) if name not in of_peers
            and sorted(str(row[at]) for row in theirs) == sorted(str(row[at]) for row in ours)]

    def shown(rows):
        return sorted(json.dumps([row[at] for at in kept]) for row in rows)
    return bool(kept) and shown(theirs) == shown(ours)


def _characters(rows):
    return sorted("".join(field or "" for row in rows for field in row))
