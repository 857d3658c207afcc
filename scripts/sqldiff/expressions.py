"""Random expressions of a wanted type over the columns in scope. None of them fails in evaluation,
whatever the rows hold and in whatever order conditions are asked: numbers stay small, divisors are
not zero. What they answer does not depend on the order of rows either."""
import re

import servers
from pieces import Literal, Piece

TYPES = ["bool", "int2", "int4", "int8", "numeric", "float8", "text", "date", "timestamp", "timestamptz",
         "interval", "int4[]", "text[]", "uuid", "bytea", "time", "varbit", "macaddr", "money", "int4range", "numrange",
         "daterange", "int4multirange", "mood", "price", "pair", "jsonb", "tsvector", "macaddr8", "inet", "xml", "point",
         "timetz", "float4", "cidr", "pg_lsn", "bit(8)", "tsquery", "jsonpath", "circle", "box", "lseg", "path", "polygon",
         "int8range", "tsrange", "tstzrange", "nummultirange", "datemultirange", "mood[]", "pair[]", "citext", "hstore"]
# Types that the tables' database defines, and that its values are made of.
DEFINED = ["create type mood as enum ('sad', 'ok', 'o k', 'Happy')",
           "create domain price as numeric(12,2) check (value > -100000)",
           "create type pair as (a int4, b text)", "create extension citext", "create extension hstore"]
# Types without order and equality.
UNORDERED = ["xml", "point", "jsonpath", "circle", "box", "lseg", "path", "polygon", "hstore"]
# The types that users compare, group and sort by most.
COMMON = ["int4", "int4", "int4", "int8", "text", "text", "numeric", "date", "bool", "float8", "int2",
          "timestamptz", "timestamp", "text[]", "int4[]", "uuid", "interval", "bytea", "time", "varbit", "macaddr", "money",
          "int4range", "numrange", "daterange", "int4multirange", "mood", "price", "pair", "jsonb", "tsvector", "macaddr8",
          "inet", "timetz", "float4", "cidr", "pg_lsn", "bit(8)", "tsquery", "int8range", "tsrange", "tstzrange",
          "nummultirange", "datemultirange", "mood[]", "pair[]", "citext"]
NUMBERS = ["int4", "int8", "numeric", "int2"]

WORDS = ["", "a", "b", "ab", "Abc", "abc", "b c", "ä", "x%y", "a_b", "zz", "1", "-5", "NULL", "it's", "\\"]

# {type} an expression, {small} a small number, {A} {B} two expressions of one type picked for the
# place, {lit type} a constant.
TEMPLATES = {
    "int2": ["({int4} % 100)::int2", "least({int2}, {int2})", "abs({int2} % 50::int2)::int2", "({bool}::int4)::int2"],
    "int4": ["({int4} + {lit int4})", "({int4} - {int4})", "({int4} * {small})", "({int4} / nullif({int4}, 0))",
             "({int4} % nullif({int4}, 0))", "abs({int4})", "length({text})", "{int2}::int4",
             "position({text} in {text})", "cardinality({int4[]})", "array_length({text[]}, 1)",
             "({int4[]})[{small}]", "({date} - {date})", "extract(year from {date})::int4", "octet_length({text})",
             "round({numeric} % 1000)::int4", "{bool}::int4", "({int2} + {int4})", "(- {int4})", "ascii({text})",
             "({int4} & {int4})", "({int4} | {small})", "({int4} # {int4})", "array_position({int4[]}, {int4})",
             "octet_length({bytea})", "char_length({text})", "mod({int4}, nullif({small}, 0))"],
    "int8": ["{int4}::int8", "({int8} + {int4})", "({int4} - {int8})", "({int8} * {small})", "abs({int8})",
             "({int8} / nullif({int4}, 0))", "(length({text}) + {int8})", "({int8} % nullif({int8}, 0))",
             "(({int4} % 8)::int8 << 3)"],
    "numeric": ["({numeric} + {numeric})", "({numeric} - {int4})", "({numeric} * {numeric})",
                "({numeric} / nullif({numeric}, 0))", "round({numeric}, {small})", "trunc({numeric}, {small})",
                "{int4}::numeric", "({int4} / 7.0)", "abs({numeric})", "ceil({numeric})", "floor({numeric})",
                "extract(epoch from {timestamptz})", "extract(dow from {date})", "mod({numeric}, nullif({numeric}, 0))",
                "sqrt(abs({numeric} % 1000))", "extract(hour from {timestamp})", "{numeric}::numeric(40,1)",
                "(- {numeric})", "extract(day from {interval})", "sign({numeric})"],
    "float8": ["({float8} + {float8})", "({float8} * 0.5)", "{int4}::float8", "{numeric}::float8",
               "sqrt(abs({float8}))", "({float8} / nullif({float8}, 0))", "round({float8})", "floor({float8})",
               "abs({float8})", "({float8} - {int4})", "date_part('month', {timestamp})", "(- {float8})"],
    "text": ["({text} || {text})", "upper({text})", "lower({text})", "substr({text}, {small}, {small})",
             "left({text}, {small})", "right({text}, {small})", "replace({text}, {lit text}, {lit text})",
             "trim({text})", "lpad({text}, {small}, 'xy')", "repeat({text}, 2)", "{int4}::text", "{date}::text",
             "{bool}::text", "{numeric}::text", "{float8}::text", "to_char({date}, 'YYYY-MM-DD')",
             "to_char({int4}, 'FM999990')", "md5({text})", "reverse({text})", "initcap({text})",
             "split_part({text}, 'b', 1)", "concat({A}, {A})", "concat_ws('-', {text}, {int4})",
             "format('%s:%s', {A}, {text})", "translate({text}, 'ab', 'X')", "array_to_string({int4[]}, ',')",
             "({text[]})[{small}]", "quote_literal({text})", "{uuid}::text", "encode({bytea}, 'hex')",
             "{interval}::text", "{timestamp}::text", "({int4} || {text})", "ltrim({text}, 'a')",
             "overlay({text} placing 'zz' from 2)", "to_char({timestamp}, 'YYYY-MM-DD HH24:MI:SS')",
             "array_to_string({text[]}, '|', '*')", "{int4[]}::text", "pg_typeof({A})::text", "{text}::varchar(3)::text",
             "quote_nullable({int4}::text)", "regexp_replace({text}, '[ab]', 'x', 'g')", "substring({text} from 2 for 2)",
             "btrim({text}, 'ab')", "rpad({text}, {small})", "quote_ident({text})", "to_char({numeric}, 'FM99990.00')"],
    "bool": ["({A} = {A})", "({A} <> {A})", "({A} < {A})", "({A} >= {A})", "({bool} and {bool})", "({bool} or {bool})",
             "(not {bool})", "({B} is null)", "({B} is not null)", "({A} is distinct from {A})",
             "({A} is not distinct from {A})", "({A} between {A} and {A})", "({int4} in ({int4}, {lit int4}, {lit int4}))",
             "({text} in ({lit text}, {lit text}))", "({text} like {pattern})", "({text} not like {pattern})",
             "({text} ilike {pattern})", "({text} ~ {regex})", "({int4} = any ({int4[]}))", "({text} <> all ({text[]}))",
             "({int4[]} @> {int4[]})", "({int4[]} && {int4[]})", "({bool} is true)", "({bool} is not false)",
             "({bool} is unknown)", "(({A}, {B}) < ({A}, {B}))", "(({A}, {B}) = ({A}, {B}))", "({A} not in ({A}, {A}))",
             "starts_with({text}, {lit text})", "({int4} < any ({int4[]}))", "({int8} > {int4})", "({numeric} <= {int4})",
             "({float8} > {int8})", "({date} < {timestamptz})", "({int4} not between {small} and {int4})",
             "({A} between symmetric {A} and {A})", "(({int4}, {text}) in (({int4}, {text}), ({int4}, {text})))"],
    "date": ["({date} + {small})", "({date} - {small})", "{timestamp}::date", "{timestamptz}::date",
             "greatest({date}, {lit date})", "date_trunc('month', {date})::date"],
    "timestamp": ["{date}::timestamp", "({timestamp} + {interval})", "date_trunc('month', {timestamp})",
                  "({timestamptz} at time zone 'UTC')", "({date} + {time})", "({timestamp} - {interval})"],
    "timestamptz": ["{date}::timestamptz", "({timestamptz} + {interval})", "date_trunc('day', {timestamptz})",
                    "({timestamp} at time zone 'Europe/Berlin')"],
    "interval": ["({timestamp} - {timestamp})", "({interval} * {small})", "make_interval(days => {small})",
                 "({interval} + {interval})", "justify_hours({interval})", "age({timestamp}, {timestamp})"],
    "int4[]": ["array[{int4}, {int4}]", "({int4[]} || {int4})", "array_append({int4[]}, {int4})",
               "array_remove({int4[]}, {int4})", "array_cat({int4[]}, {int4[]})", "({int4[]})[1:2]",
               "array_prepend({int4}, {int4[]})", "array_replace({int4[]}, {int4}, {int4})"],
    "text[]": ["array[{text}, {text}]", "string_to_array({text}, 'b')", "({text[]} || {text})", "array_remove({text[]}, {text})",
               "array[{int4}::text, null]", "regexp_split_to_array({text}, 'b')"],
    "uuid": ["md5({text})::uuid"],
    "bytea": ["decode(md5({text}), 'hex')", "convert_to({text}, 'UTF8')", "({bytea} || {bytea})", "substr({bytea}, {small}, 2)"],
    "time": ["{timestamp}::time", "({time} + {interval})"],
    "varbit": ["({varbit} || {varbit})", "substring({varbit} from {small} for 3)", "({int4} % 100)::bit(8)::varbit",
               "(~ {varbit})::varbit", "({varbit} << {small})::varbit"],
    "macaddr": ["(~ {macaddr})", "({macaddr} & {macaddr})", "({macaddr} | {macaddr})", "trunc({macaddr})"],
    "money": ["({money} + {money})", "({money} - {money})", "({money} * {small})", "({money} / nullif({small}, 0))",
              "({int4} % 1000)::money"],
    "int4range": ["int4range({int4} % 100, 200)", "({int4range} * {int4range})", "range_merge({int4range}, {int4range})",
                  "int4range({small}, null)", "range_merge({int4multirange})"],
    "numrange": ["numrange(least({numeric}, 5), 5, '[]')", "({numrange} * {numrange})", "range_merge({numrange}, {numrange})"],
    "daterange": ["daterange({date}, null, '[]')", "({daterange} * {daterange})", "daterange(null, {date})"],
    "int4multirange": ["int4multirange({int4range}, {int4range})", "({int4multirange} + {int4multirange})",
                       "({int4multirange} - {int4multirange})", "({int4multirange} * {int4multirange})"],
}
TEMPLATES["bool"] += ["({int4range} @> {int4})", "({int4range} && {int4range})", "({int4} <@ {int4range})", "isempty({numrange})",
                      "({numrange} -|- {numrange})", "({daterange} << {daterange})", "({numrange} &< {numrange})",
                      "({int4multirange} @> {int4range})", "({int4multirange} && {int4range})", "upper_inc({numrange})",
                      "({int4range} <@ {int4multirange})", "({int4multirange} @> {int4})"]
TEMPLATES["int4"] += ["upper({int4range})", "lower({int4multirange})", "length({varbit})", "bit_count({varbit})::int4"]
TEMPLATES["numeric"] += ["lower({numrange})", "{money}::numeric"]
TEMPLATES["date"] += ["upper({daterange})"]
TEMPLATES["text"] += ['({text} collate "de-x-icu")', '({text} collate "C")',
                      "{varbit}::text", "{macaddr}::text", "{money}::text", "{int4range}::text", "{numrange}::text",
                      "{int4multirange}::text"]
TEMPLATES |= {
    "mood": ["(array['sad', 'ok', 'Happy']::mood[])[1 + abs({int4} % 3)]", "(enum_range(null::mood))[{small}]",
             "enum_first({mood})"],
    "price": ["({numeric} % 1000)::price", "({price} % 1000)::price", "({int4} % 1000)::price"],
    "pair": ["row({int4}, {text})::pair", "(case when {bool} then row(1, null) else row({int4}, 'a') end)::pair",
             "row(({pair}).a, {text})::pair"],
    "jsonb": ["jsonb_build_object('a', {int4}, 'b', {text})", "to_jsonb({int4[]})", "({jsonb} -> 'a')", "({jsonb} -> {small})",
              "jsonb_build_array({text}, {bool}, {jsonb})", "to_jsonb({pair})", "to_jsonb({mood})", "jsonb_strip_nulls({jsonb})",
              "jsonb_path_query_first({jsonb}, '$.a')", "({jsonb} #> array['a', '0'])", "to_jsonb({text})"],
    "tsvector": ["to_tsvector('simple', {text})", "({tsvector} || {tsvector})", "strip({tsvector})", "setweight({tsvector}, 'B')",
                 "to_tsvector('english', {text})"],
    "macaddr8": ["{macaddr}::macaddr8", "(~ {macaddr8})", "({macaddr8} & {macaddr8})", "trunc({macaddr8})"],
    "inet": ["({inet} + {small})", "set_masklen({inet}, 8)", "network({inet})::inet", "broadcast({inet})"],
    "xml": ["xmlelement(name a, {text})", "xmlconcat({xml}, {xml})", "xmlforest({int4} as x, {date} as y)", "xmlcomment('c')"],
    "point": ["point({float8}, {float8})", "({point} + {point})", "({point} - {point})"],
}
TEMPLATES["bool"] += ["({jsonb} @> {jsonb})", "jsonb_exists({jsonb}, {lit text})", "({jsonb} <@ {jsonb})", "({jsonb} @? '$.a')",
                      "({tsvector} @@ 'a | b & !zz'::tsquery)", "({inet} << {inet})", "({inet} && {inet})", "({pair} = {pair})",
                      "({mood} > 'ok')", "({point} ~= {point})", "({point} << {point})", "(({pair}).b = {text})",
                      "xpath_exists('/a', xmlelement(name a, {text}))"]
TEMPLATES["int4"] += ["({pair}).a", "length({tsvector})", "masklen({inet})", "array_position(enum_range(null::mood), {mood})"]
TEMPLATES["numeric"] += ["{price}", "({price} + {numeric})", "({jsonb} ->> 'n')::numeric"]
TEMPLATES["float8"] += ["({point} <-> {point})", "({point})[0]"]
TEMPLATES["text"] += ["({pair}).b", "{mood}::text", "{jsonb}::text", "({jsonb} ->> 'b')", "jsonb_typeof({jsonb})", "{pair}::text",
                      "{tsvector}::text", "{xml}::text", "{point}::text", "host({inet})", "{price}::text", "{macaddr8}::text"]
TEMPLATES |= {
    "timetz": ["({time} at time zone 'UTC')", "{timestamptz}::timetz", "({timetz} + {interval})", "({date} + {timetz})::timetz"],
    "float4": ["{float8}::float4", "({float4} + {float4})", "abs({float4})", "({int4} % 1000)::float4"],
    "cidr": ["network({inet})", "set_masklen({cidr}, 8)"],
    "pg_lsn": ["({pg_lsn} + {small}::numeric)", "greatest({pg_lsn}, '0/0')", "({int4} % 100 + 100)::numeric::text::numeric + {pg_lsn}"],
    "bit(8)": ["({int4} % 100)::bit(8)", "(~ {bit(8)})", "({bit(8)} & {bit(8)})", "({bit(8)} # {bit(8)})", "({bit(8)} << {small})"],
    "tsquery": ["({tsquery} && {tsquery})", "(!! {tsquery})", "({tsquery} <-> {tsquery})", "plainto_tsquery('english', {text})",
                "websearch_to_tsquery('simple', {text})", "({tsquery} || {tsquery})"],
    "jsonpath": ["'$.a'::jsonpath", "'strict $[*] ? (@ > 1)'::jsonpath"],
    "circle": ["circle({point}, abs({float8}) + 1)", "({circle} + {point})", "circle({box})"],
    "box": ["box({point}, {point})", "({box} # {box})", "box({circle})", "bound_box({box}, {box})"],
    "lseg": ["lseg({point}, {point})", "diagonal({box})"],
    "path": ["path({polygon})", "pclose({path})", "popen({path})", "({path} + {point})"],
    "polygon": ["polygon({box})", "polygon(4, {circle})", "polygon(pclose({path}))"],
    "int8range": ["int8range({int8} % 100, 200)", "({int8range} * {int8range})", "range_merge({int8range}, {int8range})"],
    "tsrange": ["tsrange({timestamp}, null, '(]')", "({tsrange} * {tsrange})", "range_merge({tsrange}, {tsrange})"],
    "tstzrange": ["tstzrange(null, {timestamptz}, '[]')", "({tstzrange} * {tstzrange})"],
    "nummultirange": ["nummultirange({numrange}, {numrange})", "({nummultirange} + {nummultirange})",
                      "({nummultirange} - {nummultirange})", "({nummultirange} * {nummultirange})"],
    "datemultirange": ["datemultirange({daterange})", "({datemultirange} - {datemultirange})",
                       "({datemultirange} * {datemultirange})"],
    "mood[]": ["enum_range({mood}, null)", "array[{mood}, {mood}]", "({mood[]} || {mood})", "array_remove({mood[]}, {mood})"],
    "pair[]": ["array[{pair}, {pair}]", "({pair[]} || {pair})", "array[row({int4}, {text})::pair]"],
    "citext": ["{text}::citext", "lower({citext}::text)::citext", "({citext} || {citext})::citext", "replace({citext}, 'a', 'Z')::citext"],
    "hstore": ["hstore({text}, {text})", "({hstore} || {hstore})", "({hstore} - 'a'::text)", "hstore({text[]}, {text[]})",
               "slice({hstore}, array['a', 'b'])", "hstore({pair})"],
}
TEMPLATES["bool"] += ["({circle} && {circle})", "({circle} @> {point})", "({box} && {box})", "({box} << {box})", "({lseg} ?# {box})",
                      "({polygon} @> {point})", "({polygon} && {polygon})", "isclosed({path})", "({circle} = {circle})",
                      "({tsvector} @@ {tsquery})", "({tsquery} @> {tsquery})", "({jsonb} @? {jsonpath})", "({int8range} @> {int8})",
                      "({tsrange} && {tsrange})", "({tstzrange} @> {timestamptz})", "({nummultirange} @> {numeric})",
                      "({datemultirange} && {daterange})", "({mood} = any ({mood[]}))", "({pair} = any ({pair[]}))",
                      "({citext} = {text}::citext)", "({citext} like {pattern})", "({citext} ~ {regex})", "({hstore} ? {lit text})",
                      "({hstore} @> {hstore})", "({hstore} = {hstore})", "({cidr} >> {inet})", "({bit(8)} = {bit(8)})",
                      "(({A}, {B}) >= ({A}, {B}))", "(({A}, {B}, {int4}) <= ({A}, {B}, {int4}))", "(({A}, {B}) <> ({A}, {B}))",
                      "(({A}, {B}) is distinct from ({A}, {B}))", "(row({A}, {B}) between row({A}, {B}) and row({A}, {B}))",
                      "(({int4}, {B}) > ({small}, {B}))", "(({A}, {text}) > (select {A}, {text}))",
                      "(({A}, {B}) not in (({A}, {B}), ({A}, {B})))", "(({A}, {int4}) < all (select {A}, {int4}))"]
TEMPLATES["int4"] += ["npoints({path})", "npoints({polygon})", "numnode({tsquery})", "length({citext})", "get_bit({bit(8)}, {small})"]
TEMPLATES["float8"] += ["area({circle})", "area({box})", "length({lseg})", "({circle} <-> {circle})", "({float4} * 0.5)"]
TEMPLATES["numeric"] += ["({pg_lsn} - {pg_lsn})", "upper({nummultirange})"]
TEMPLATES["text"] += ["{tsquery}::text", "{circle}::text", "{box}::text", "{path}::text", "{polygon}::text", "{hstore}::text",
                      "({hstore} -> {lit text})", "{citext}::text", "upper({citext})", "{nummultirange}::text", "{cidr}::text",
                      "{pg_lsn}::text", "{timetz}::text", "{float4}::text", "{mood[]}::text", "{pair[]}::text", "{jsonpath}::text"]
TEMPLATES["jsonb"] += ["hstore_to_jsonb({hstore})", "jsonb_path_query_array({jsonb}, {jsonpath})", "to_jsonb({pair[]})",
                       "to_jsonb({citext})"]
TEMPLATES["text[]"] += ["akeys({hstore})", "avals({hstore})"]
if servers.ORACLE >= 18:
    TEMPLATES["bool"] += ["({text} is json)", "({jsonb} is json object)", "({jsonb}::text is not json array with unique keys)",
                          "(json_scalar({text}) is json scalar)", "json_exists({jsonb}, {path})",
                          "json_exists({jsonb}, {path} passing {int4} as x, {text} as y true on error)"]
    TEMPLATES["int4"] += ["json_value({jsonb}, {path} returning int4)", "json_value({jsonb}, {path} returning int4 default {small} on empty default 7 on error)",
                          "json_value({jsonb}, '$.a' returning int4 error on error)"]
    TEMPLATES["numeric"] += ["json_value({jsonb}, '$.n.decimal(5, 2)' returning numeric)", "json_value({jsonb}, '$.a.number()' returning numeric)"]
    TEMPLATES["text"] += ["json_value({jsonb}, {path})", "json_value({jsonb}, {path} passing {int4} as x, {jsonb} as y)", "json_query({jsonb}, {path} returning text omit quotes)",
                          "json_array({int4}, {text} returning text)", "json_serialize({jsonb}::text)", "json({jsonb}::text)::text", "json_scalar({date})::text",
                          "json_object('k' : {int4}, {text} : {bool} null on null returning text)", "json_value({jsonb}, '$.a.string()')"]
    TEMPLATES["jsonb"] += ["json_query({jsonb}, {path})", "json_query({jsonb}, {path} with wrapper)", "json_query({jsonb}, {path} with conditional wrapper empty array on empty)",
                           "json_query({jsonb}, {path} passing {int4} as x, {bool} as y empty object on error)", "json_array({int4}, {bool}, {jsonb} null on null returning jsonb)",
                           "json_array({jsonb}, {int4} absent on null returning jsonb)", "json_object('a' : {int4}, 'b' : {bool} returning jsonb)", "json_array(select {int4} returning jsonb)",
                           "json_object('a' : {int4}, {text} : {jsonb} absent on null with unique keys returning jsonb)"]
    TEMPLATES["int4[]"] += ["json_query({jsonb}, '$.a' returning int4[])"]
ANY_TYPE = ["coalesce({T}, {T})", "case when {bool} then {T} else {T} end", "case when {bool} then {T} end",
            "nullif({T}, {T})", "greatest({T}, {T})", "least({T}, {T})", "(case {A} when {A} then {T} else {T} end)"]
ANY_UNORDERED = ["coalesce({T}, {T})", "case when {bool} then {T} else {T} end", "case when {bool} then {T} end"]
PLACE = re.compile(r"\{([^}]*)\}")


class Scope:
    """Columns that an expression may name, as (text or piece, type) pairs; those of outer queries come last."""

    def __init__(self, columns, outer=None):
        self.columns = columns
        self.outer = outer

    def of_type(self, wanted):
        found = [column for column, kind in self.columns if kind == wanted]
        if self.outer:
            found += self.outer.of_type(wanted)
        return found


class Expressions:
    """`subquery(kind, scope)`, where given, makes a piece out of a query now and then."""

    def __init__(self, random):
        self.random = random
        self.subquery = None

    def literal(self, kind):
        random = self.random
        if kind in ("int2", "int4"):
            text = str(random.choice([0, 1, 2, 3, 5, 7, -1, 10, random.randint(-100, 100)]))
            return Literal("=" + kind, text, text if kind == "int4" and text[0] != "-" else f"({text})::{kind}")
        if kind == "int8":
            text = str(random.choice([0, 1, 5, 10**10, random.randint(-10**12, 10**12)]))
            return Literal("=int8", text, f"({text})::int8")
        if kind == "numeric":
            text = random.choice(["0.5", "1.00", "-2.75", "10.0", "100", "0.001", "3.14159"])
            return Literal("=numeric", text, text if text[0] != "-" and "." in text else f"({text})::numeric")
        if kind == "float8":
            text = random.choice(["0.5", "-1.25", "3", "100.75", "0"])
            return Literal("=float8", text, f"'{text}'::float8")
        if kind == "bool":
            text = random.choice(["true", "false"])
            return Literal("=bool", text, text)
        if kind == "text":
            text = random.choice(WORDS)
            quoted = "'" + text.replace("'", "''") + "'"
            return Literal("=text", text, quoted if random.random() < 0.5 else quoted + "::text")
        if kind == "int4[]":
            text = "{" + ",".join(random.choice(["1", "2", "3", "7", "NULL"]) for _ in range(random.randint(0, 3))) + "}"
        elif kind == "text[]":
            text = "{" + ",".join(random.choice(["a", "b", "NULL", '"b c"', '""']) for _ in range(random.randint(0, 3))) + "}"
        elif kind == "date":
            text = random.choice(["2020-02-29", "2021-01-01", "1999-12-31", f"2022-0{random.randint(1, 9)}-15"])
        elif kind == "timestamp":
            text = random.choice(["2020-02-29 12:34:56.789", "2021-01-01 00:00:00", "2022-07-04 23:59:59"])
        elif kind == "timestamptz":
            text = random.choice(["2020-02-29 12:34:56+00", "2021-07-01 00:00:00+02", "1999-12-31 23:59:59.5-08"])
        elif kind == "interval":
            text = random.choice(["1 day", "2 hours", "1 mon", "-3 days 04:05:06", "1 year 2 mons", "00:00:00.25"])
        elif kind == "varbit":
            text = random.choice(["", "0", "1", "101", "1011", "00000000", "110011001"])
        elif kind == "macaddr":
            text = f"08:00:2b:0{random.randint(0, 9)}:02:ff"
        elif kind == "money":
            text = random.choice(["0", "1.50", "-3.33", "1,234.56", "$10"])
        elif kind == "int4range":
            text = random.choice(["empty", "[1,5]", "(,3)", "[4,)", "[2,2]", "(1,9)"])
        elif kind == "numrange":
            text = random.choice(["empty", "[1,5]", "[1.50,3)", "(2,5]", "[5,)", "(,1.0)"])
        elif kind == "daterange":
            text = random.choice(["empty", "[2020-02-29,2021-01-01)", "(,2022-01-01]", "[1999-12-31,)"])
        elif kind == "int4multirange":
            text = random.choice(["{}", "{[1,3),[5,7)}", "{(,2),[4,5]}", "{[2,9]}"])
        elif kind == "mood":
            text = random.choice(["sad", "ok", "o k", "Happy"])
        elif kind == "price":
            text = random.choice(["0", "1.50", "-3.33", "99999"])
        elif kind == "pair":
            text = random.choice(["(1,a)", "(,)", '(2,"b c")', '(-1,"")', "(1,ab)"])
        elif kind == "jsonb":
            text = random.choice(['{"a": 1, "b": "x"}', '{"b": null, "a": [1, 2]}', "[]", "{}", "1", '"a"', "null", "true",
                                  '[1, "a", {"c": 2}]', '{"a": {"a": 1}, "n": 5}'])
        elif kind == "tsvector":
            text = random.choice(["", "a b", "b:1A a:2", "zz", "a:1,3B b c"])
        elif kind == "macaddr8":
            text = f"08:00:2b:ff:fe:0{random.randint(0, 9)}:02:ff"
        elif kind == "inet":
            text = random.choice(["10.0.0.1", "10.0.0.0/8", "10.1.2.3/16", "::1", "fe80::/10", "192.168.1.0/24"])
        elif kind == "xml":
            text = random.choice(["<a/>", "<a>b</a>", "text", '<r><x i="1">a</x></r>'])
        elif kind == "point":
            text = random.choice(["(0,0)", "(1,-2.5)", "(0.5,3)"])
        elif kind == "timetz":
            text = random.choice(["00:00:00+00", "12:34:56.5+02", "23:59:59-08", "12:34:56.5-03:30"])
        elif kind == "float4":
            text = random.choice(["0.5", "-1.25", "3", "1e10", "0"])
        elif kind == "cidr":
            text = random.choice(["10.0.0.0/8", "192.168.1.0/24", "::/0", "10.1.2.3/32"])
        elif kind == "pg_lsn":
            text = random.choice(["0/0", "0/10", "16/B374D848", "1/0"])
        elif kind == "bit(8)":
            text = random.choice(["00000000", "11111111", "10110001", "00000001"])
        elif kind == "tsquery":
            text = random.choice(["a", "a & b", "!a | b", "a <-> b", "a | b", "zz & !b", ""])
        elif kind == "jsonpath":
            text = random.choice(["$", "$.a", "$[*]", "$.* ? (@ > 0)", "strict $.a"])
        elif kind == "circle":
            text = random.choice(["<(0,0),1>", "<(1,-2.5),0.5>", "<(0.5,3),2.5>"])
        elif kind == "box":
            text = random.choice(["(1,1),(0,0)", "(2,3),(-1,0.5)", "(0,0),(0,0)"])
        elif kind == "lseg":
            text = random.choice(["[(0,0),(1,1)]", "[(0,1),(1,0)]", "[(0,0),(0,0)]"])
        elif kind == "path":
            text = random.choice(["((0,0),(1,1),(2,0))", "[(0,0),(1,1)]", "((1,2))"])
        elif kind == "polygon":
            text = random.choice(["((0,0),(1,1),(2,0))", "((0,0),(0,4),(4,4),(4,0))", "((1,2))"])
        elif kind == "int8range":
            text = random.choice(["empty", "[1,5]", "(,3)", "[4,)", "[1,10000000000)"])
        elif kind == "tsrange":
            text = random.choice(["empty", "[2020-02-29 00:00,2021-01-01 12:00)", "(,2022-01-01]", "[1999-12-31,)"])
        elif kind == "tstzrange":
            text = random.choice(["empty", "[2020-02-29 00:00+00,2021-01-01 12:00+00)", "(,2022-01-01 00:00+02]"])
        elif kind == "nummultirange":
            text = random.choice(["{}", "{[1,3),[5,7)}", "{(,2.5),[4,5]}", "{[2,9]}"])
        elif kind == "datemultirange":
            text = random.choice(["{}", "{[2020-02-29,2021-01-01),[2022-01-01,)}", "{(,2019-01-01)}"])
        elif kind == "mood[]":
            text = random.choice(["{}", "{sad,ok}", '{"o k",NULL}', "{Happy}"])
        elif kind == "pair[]":
            text = random.choice(["{}", '{"(1,a)",NULL}', '{"(2,\\"b c\\")","(,)"}'])
        elif kind == "citext":
            text = random.choice(["a", "A", "Abc", "abc", "b C", ""])
        elif kind == "hstore":
            text = random.choice(["", "a=>1", 'a=>NULL,b=>"x y"', "zz=>a,a=>b"])
        elif kind == "uuid":
            text = f"00000000-0000-4000-8000-00000000000{random.randint(0, 9)}"
        elif kind == "bytea":
            text = random.choice(["\\x", "\\x00ff", "\\x6162"])
        else:
            text = random.choice(["00:00:00", "12:34:56.5", "23:59:59"])
        return Literal("=" + kind, text, f"'{text}'::{kind}")

    def make(self, kind, scope, depth):
        random = self.random
        columns = scope.of_type(kind)
        if columns and random.random() < (0.5 if depth > 0 else 0.9):
            column = random.choice(columns)
            return column if isinstance(column, Piece) else Piece("=" + kind, column)
        if depth <= 0:
            if random.random() < 0.08:
                return Piece("=" + kind, f"null::{kind}")
            return self.literal(kind)
        if self.subquery and random.random() < 0.05:
            found = self.subquery(kind, scope, depth)
            if found:
                return found
        if random.random() < 0.2:
            return self._from_template(kind, random.choice(ANY_UNORDERED if kind in UNORDERED else ANY_TYPE), scope, depth)
        return self._from_template(kind, random.choice(TEMPLATES[kind]), scope, depth)

    def _from_template(self, kind, template, scope, depth):
        chosen = {"A": self.random.choice(COMMON), "B": self.random.choice(COMMON), "T": kind}
        parts = []
        at = 0
        for place in PLACE.finditer(template):
            parts.append(template[at:place.start()])
            parts.append(self._part(chosen.get(place[1], place[1]), scope, depth - 1))
            at = place.end()
        parts.append(template[at:])
        return Piece("=" + kind, *parts)

    def _part(self, wanted, scope, depth):
        random = self.random
        if wanted == "small":
            text = str(random.randint(0, 4))
            return Literal("=int4", text, text)
        if wanted == "pattern":
            text = random.choice(["a%", "%b%", "_", "%", "a\\_b", "", "ab", "%c", "_b%"])
            return Literal("=text", text, f"'{text}'")
        if wanted == "regex":
            text = random.choice(["^a", "b$", "[abc]+", "a|z", ".b", "^$"])
            return Literal("=text", text, f"'{text}'")
        if wanted == "path":
            text = random.choice(["$", "$.a", "$.b", "$[*]", "$.a[*] ? (@ > 1)", "strict $.a", "strict $.n + 1", "$.*", "$.a.type()", "$.**.size()"])
            return Literal("=jsonpath", text, f"'{text}'")
        if wanted.startswith("lit "):
            return self.literal(wanted[4:])
        return self.make(wanted, scope, depth)


def settled(kind, expression):
    """The expression so that equal values look alike: 1.0 and 1.00, 0 and -0, 24 hours and a day."""
    if kind == "numeric":
        return Piece("=numeric", "round(", expression, ", 3)")
    if kind in ("float8", "float4"):
        return Piece("=" + kind, "(", expression, f" + 0::{kind})")
    if kind == "citext":
        return Piece("=citext", "lower(", expression, "::text)::citext")
    if kind == "nummultirange":
        return Piece("=nummultirange", "nummultirange(numrange(trim_scale(lower(", expression, ")), trim_scale(upper(", expression,
                     ")), '[]'))")
    if kind == "interval":
        return Piece("=interval", "justify_interval(", expression, ")")
    if kind == "numrange":
        # [1,2] and [1.0,2.00]
        return Piece("=numrange", "numrange(trim_scale(lower(", expression, ")), trim_scale(upper(", expression,
                     ")), case when lower_inc(", expression, ") then '[' else '(' end || case when upper_inc(", expression,
                     ") then ']' else ')' end)")
    return expression
