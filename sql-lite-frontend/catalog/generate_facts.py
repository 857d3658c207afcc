#!/usr/bin/env python3
"""Writes facts.inc: which system relations PostgreSQL 18 has and what their columns are called,
the input and output functions of the types we have, and the operator classes over them.

Usage: generate_facts.py PSQL_ARGUMENT… (of a PostgreSQL 18), e.g. -h /tmp/socket -U postgres
A relation or column that nothing computes is empty or NULL: clients find the name and no rows."""
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
SEPARATOR = "\x1f"
TEXT = "25"


def query(sql):
    done = subprocess.run(["psql", "-X", "-q", "-At", "-F", SEPARATOR, *sys.argv[1:], "-c", sql],
                          check=True, capture_output=True, text=True)
    return [line.split(SEPARATOR) for line in done.stdout.splitlines()]


def known_types():
    types = (HERE.parent / "types" / "type_list.inc").read_text()
    return set(re.findall(r"\b(\d+)\b", types))


def main():
    known = known_types()
    relations, columns = [], []
    rows = query("""
      select c.oid, n.nspname, c.relname, c.relkind, a.attname,
             coalesce(nullif(t.typbasetype, 0), t.oid), a.attnotnull
        from pg_class c join pg_namespace n on n.oid = c.relnamespace
        join pg_attribute a on a.attrelid = c.oid and a.attnum > 0
        join pg_type t on t.oid = a.atttypid
       where n.nspname in ('pg_catalog', 'information_schema') and c.relkind in ('r', 'v')
         and c.relname !~ '^_pg_'
       order by n.nspname desc, c.relname, a.attnum""")
    previous = None
    # Views have no fixed numbers there; here theirs follow each other.
    view_oid = 12100
    for oid, schema, name, kind, column, type_, not_null in rows:
        if (schema, name) != previous:
            if kind == "v" or int(oid) >= 12000:
                view_oid += 1
                oid = str(view_oid)
            constant = "kPgCatalogSchema" if schema == "pg_catalog" else "kInformationSchema"
            relations.append([oid, constant, name, kind, len(columns), 0])
            previous = (schema, name)
        relations[-1][5] += 1
        flag = "true" if not_null == "t" else "false"
        columns.append(f'    {{"{column}", TypeId{{{type_ if type_ in known else TEXT}}}, {flag}}},')

    functions = query("""
      select oid, typinput::oid, typoutput::oid, typreceive::oid, typsend::oid, typmodin::oid,
             typmodout::oid, typanalyze::oid, typsubscript::oid
        from pg_type where oid < 12000 order by oid""")
    functions = [row for row in functions if row[0] in known]
    # Besides, how domains and enums that users make are read and written.
    made = {2597, 2598, 3506, 3507, 3532, 3533}
    used = sorted(({int(oid) for row in functions for oid in row[1:]} | made) - {0})
    # And trigger functions, estimators, which CREATE OPERATOR names, handlers of access methods, and functions of text search.
    names = query(f"""
      select oid, proname, prorettype::oid, array_to_string(proargtypes::oid[], ' '), proisstrict,
             provolatile
        from pg_proc
       where oid in ({','.join(map(str, used))}) or (proname ~ 'sel$' and proargtypes[0] = 'internal'::regtype)
          or (prorettype = 'trigger'::regtype and oid < 12000) or oid in (select amhandler from pg_am) or proname ~ '^(prsd_|dsimple_|dsnowball_)'
       order by oid""")
    classes = query("""
      select c.oid, c.opcname, c.opcfamily, c.opcintype, c.opcdefault, f.opfname
        from pg_opclass c join pg_opfamily f on f.oid = c.opcfamily
       where c.opcmethod = 403 order by c.oid""")
    classes = [row for row in classes if row[3] in known]

    out = ["// Written by generate_facts.py from PostgreSQL 18. Facts only; no code.",
           "// clang-format off",
           "constexpr ColumnFacts kColumnFacts[] = {", *columns, "};",
           "constexpr RelationFacts kRelationFacts[] = {"]
    out += [f"    {{{oid}, {schema}, \"{name}\", '{kind}', {first}, {count}}},"
            for oid, schema, name, kind, first, count in relations]
    out += ["};", "constexpr TypeFunctions kTypeFunctions[] = {"]
    out += ["    {TypeId{" + row[0] + "}, {" + ", ".join(row[1:]) + "}}," for row in functions]
    out += ["};", "constexpr FunctionName kFunctionNames[] = {"]
    for oid, name, result, arguments, strict, volatility in names:
        arguments = [f"TypeId{{{argument}}}" for argument in arguments.split()]
        out += [f'    {{{oid}, "{name}", TypeId{{{result}}}, {len(arguments)}, '
                f'{{{", ".join(arguments)}}}, {"true" if strict == "t" else "false"}, '
                f"'{volatility}'}},"]
    out += ["};", "constexpr OperatorClass kOperatorClasses[] = {"]
    out += [f'    {{{oid}, "{name}", {family}, "{family_name}", TypeId{{{type_}}}, '
            f'{"true" if default == "t" else "false"}}},'
            for oid, name, family, type_, default, family_name in classes]
    out += ["};", "// clang-format on", ""]
    (HERE / "facts.inc").write_text("\n".join(out))
    print(len(relations), "relations,", len(columns), "columns,", len(functions), "types")


if __name__ == "__main__":
    main()
