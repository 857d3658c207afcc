#!/usr/bin/env python3
"""Writes facts.inc: the rows of pg_proc, pg_operator and pg_cast that concern types we have, and the names of
types and functions besides; and leakproof.inc, which functions tell nothing of their arguments but their result.

Usage: generate_facts.py PSQL_ARGUMENT… (of a PostgreSQL 18), e.g. -h /tmp/socket -U postgres
Only what has an implementation in this folder is ever shown to a client."""
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
SEPARATOR = "\x1f"


def query(sql):
    done = subprocess.run(["psql", "-X", "-q", "-At", "-F", SEPARATOR, *sys.argv[1:], "-c", sql],
                          check=True, capture_output=True, text=True)
    return [line.split(SEPARATOR) for line in done.stdout.splitlines()]


def known_types():
    types = (HERE.parent / "type_list.inc").read_text()
    return set(re.findall(r"\b(\d+)\b", types))


def quoted(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


class Pool:
    def __init__(self):
        self.items = []
        self.seen = {}

    def place(self, items):
        """Returns the position of the items in a list of all; equal runs share a position."""
        key = tuple(items)
        if key not in self.seen:
            self.seen[key] = len(self.items)
            self.items.extend(items)
        return f"{self.seen[key]}, {len(items)}"


def missing_types(known):
    """Names of types that a statement could have."""
    rows = query("""select oid, typname from pg_type where typnamespace = 11 and typtype in ('b', 'r', 'm')
                    and typelem = 0 or typname in ('point', 'lseg', 'box', 'line', 'event_trigger', 'fdw_handler',
                    'index_am_handler', 'table_am_handler', 'tsm_handler')""")
    return {name for oid, name in rows if oid not in known}


def lines(names):
    names = [quoted(name) for name in sorted(names)]
    return ["    " + ", ".join(names[i:i + 6]) + "," for i in range(0, len(names), 6)]


def write_leakproof():
    oids = [row[0] for row in query("select oid from pg_proc where proleakproof and oid < 12000 order by oid")]
    out = ["// Written by generate_facts.py from PostgreSQL 18: numbers of functions. Facts only; no code.",
           "// clang-format off"]
    out += ["    " + ", ".join(oids[i:i + 16]) + "," for i in range(0, len(oids), 16)]
    (HERE / "leakproof.inc").write_text("\n".join([*out, "// clang-format on", ""]))


def main():
    write_leakproof()
    known = known_types()
    hidden = {"2281", "2275", "2279"}  # internal, cstring, trigger
    types, texts = Pool(), Pool()
    functions, operators, casts, oids = [], [], [], set()
    names_known, names_missing = set(), set()

    rows = query("""
      select p.oid, proname, prorettype, provariadic, prokind, provolatile, proisstrict, proretset,
             array_to_string(proargtypes::oid[], ' '), coalesce(array_to_string(proargnames, ' ', '-'), ''),
             coalesce(array_to_string(proargmodes, ' '), ''),
             coalesce(array_to_string(proallargtypes, ' '), ''),
             coalesce(pg_get_expr(proargdefaults, 0), ''),
             (select string_agg(typname, ',' order by n)
                from unnest(proargtypes::oid[]) with ordinality a(t, n) join pg_type on pg_type.oid = t)
        from pg_proc p where (pronamespace = 11 and prokind in ('f', 'a', 'w') and p.oid < 12000)
           or proname = '_pg_expandarray'
       order by p.oid""")
    for (oid, name, result, variadic, kind, volatility, strict, retset, arguments, names, modes,
         all_types, defaults, spelled) in rows:
        arguments = arguments.split()
        out_types, out_names, in_names = [], [], []
        names = ["" if n == "-" else n for n in names.split(" ")] if names else []
        if modes:
            for mode, type_, label in zip(modes.split(), all_types.split(),
                                          names or [""] * len(modes.split())):
                if mode in "ot":
                    out_types.append(type_)
                    out_names.append(label)
                else:
                    in_names.append(label)
        else:
            in_names = names
        used = set(arguments) | {result} | set(out_types)
        if set(arguments) & hidden or result in hidden:
            continue
        if not used <= known:
            names_missing.add(name)
            continue
        if kind != "w" and re.search(r"(_trig_|gtsvector|brinopcode)", name):
            continue
        default_texts = []
        if defaults:
            default_texts = [re.sub(r"::[a-z \[\]]+$", "", d).strip("'") for d in defaults.split(", ")]
        flag = {"t": "true", "f": "false"}
        oids.add(oid)
        names_known.add(name)
        as_types = [f"TypeId{{{t}}}" for t in arguments]
        functions.append(
            f"    {{{oid}, {quoted(name + '(' + spelled + ')')}, {len(name)}, TypeId{{{result}}}, "
            f"TypeId{{{variadic}}}, '{kind}', '{volatility}', {flag[strict]}, {flag[retset]}, "
            f"{{{types.place(as_types)}}}, {{{texts.place([quoted(n) for n in in_names])}}}, "
            f"{{{texts.place([quoted(d) for d in default_texts])}}}, "
            f"{{{texts.place([quoted(n) for n in out_names])}}}, "
            f"{{{types.place([f'TypeId{{{t}}}' for t in out_types])}}}}},")

    for row in query("""
      select o.oid, oprname, oprleft, oprright, oprresult, oprcode::oid, oprcom, oprnegate,
             oprcanmerge, oprcanhash,
             coalesce((select typname || ',' from pg_type where oid = oprleft), '') ||
             (select typname from pg_type where oid = oprright)
        from pg_operator o where oprnamespace = 11 and oprright <> 0 order by o.oid"""):
        oid, name, left, right, result, code, commutator, negator, merge, hash_, spelled = row
        if code not in oids:
            continue
        operators.append(
            f"    {{{oid}, {quoted(name + '(' + spelled + ')')}, {len(name)}, TypeId{{{left}}}, "
            f"TypeId{{{right}}}, TypeId{{{result}}}, {code}, {commutator}, {negator}, "
            f"{str(merge == 't').lower()}, {str(hash_ == 't').lower()}}},")

    for source, target, function, context, method in query("""
      select castsource, casttarget, castfunc, castcontext, castmethod from pg_cast
       where oid < 16384 order by castsource, casttarget"""):
        if {source, target} <= known and (function == "0" or function in oids):
            casts.append(f"    {{TypeId{{{source}}}, TypeId{{{target}}}, {function}, "
                         f"'{context}', '{method}'}},")

    out = ["// Written by generate_facts.py from PostgreSQL 18. Facts only; no code.",
           "// clang-format off",
           "constexpr TypeId kTypePool[] = {"]
    out += ["    " + ", ".join(types.items[i:i + 8]) + "," for i in range(0, len(types.items), 8)]
    out += ["};", "constexpr std::string_view kTextPool[] = {"]
    out += ["    " + ", ".join(texts.items[i:i + 8]) + "," for i in range(0, len(texts.items), 8)]
    out += ["};", "constexpr FunctionFacts kFunctionFacts[] = {", *functions, "};",
            "constexpr OperatorFacts kOperatorFacts[] = {", *operators, "};",
            "constexpr CastFacts kCastFacts[] = {", *casts, "};",
            "constexpr std::string_view kMissingTypeNames[] = {", *lines(missing_types(known)), "};",
            "constexpr std::string_view kMissingFunctionNames[] = {", *lines(names_missing - names_known), "};",
            "// clang-format on", ""]
    (HERE / "facts.inc").write_text("\n".join(out))
    print(len(functions), "functions,", len(operators), "operators,", len(casts), "casts")


if __name__ == "__main__":
    main()
