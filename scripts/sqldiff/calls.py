"""Random calls with hostile arguments: large and tiny numbers, odd dates, patterns of all kinds. Each
stands in a SELECT of its own, so that an error can only be the one that the call raises."""
from pieces import Literal, Piece

NUMBERS = {
    "int2": ["0", "1", "-1", "7", "32767", "-32768", "100"],
    "int4": ["0", "1", "-1", "2", "3", "10", "-7", "2147483647", "-2147483648", "65536", "1000000"],
    "int8": ["0", "1", "-1", "9223372036854775807", "-9223372036854775808", "4294967296", "12345678901"],
    "numeric": ["0", "1", "-1", "0.5", "-0.05", "1.50", "123456789.123456789", "1e-20", "9.99", "-12345.678", "NaN",
                "Infinity", "-Infinity", "1e30", "99999999999999999999", "0.000", "2.5", "-2.5", "1234567890123456789012"],
    "float8": ["0", "-0", "1", "0.1", "-1.5", "1e308", "1e-308", "1e12", "123456789012", "NaN", "Infinity", "-Infinity",
               "2.5", "0.30000000000000004", "1e22", "3.5"],
    "float4": ["0", "1", "0.1", "-1.5", "1e38", "1e-38", "NaN", "Infinity", "16777217", "3.4e38", "1e10"],
}
DATES = ["2020-02-29", "2023-12-31", "0001-01-01", "1999-01-08", "4713-01-01 BC", "5874897-12-31", "infinity", "-infinity",
         "2000-01-01", "1582-10-15", "0044-03-15 BC", "1969-12-31", "2038-01-19"]
CLOCKS = ["00:00:00", "23:59:59.999999", "24:00:00", "12:30:45.5", "04:05", "00:00:00.000001", "12:00:00"]
INTERVALS = ["1 day", "-1 day", "1 month", "1 year 2 mons 3 days 04:05:06.789", "-1 year -2 mons +3 days -04:05:06", "36:00:00",
             "0", "100 years", "1.5 days", "P1Y2M3DT4H5M6S", "1 week", "-0.5 month", "00:00:00.000001", "1-2", "3 4:05:06",
             "@ 1 minute ago", "1 century", "90 minutes", "2.5 years", "-5 days 10:00", "178000000 years", "1 mil", "1 h 2 m 3 s",
             "1 decade 2 quarter"]
TEXTS = ["", "a", "abc", "Hello World", "ä", "éa日本", "  x  ", "a,b,,c", "a%b_c", "\\", "it's", "AbCabc", "123", "-12.50", "1e5",
         "x" * 70, "\t", "a\nb", "{1,2}", "true", "NULL", "(1,2)", "O'Re\"il", "ß", "ﬁ", "$1", "%s"]
INPUTS = {
    "bool": ["t", "tr", "TRUE", "yes", "on", "1", "off", "n", "f", "2", "o", " true ", "", "of"],
    "int4": ["12", " 12 ", "-0", "2147483648", "1.5", "", "abc", "0x10", "1e3", "+5", "--5", "1_000", "1 2"],
    "int8": ["9223372036854775808", "-9223372036854775808", "1 ", "x", "99999999999999999999"],
    "numeric": ["1e1000", "1.", ".5", ".", "NaN", "inf", "-Infinity", "1e", "1e+5", "0x1", "12 34", "1e-500", "  7  ", "1e131071", "-.0"],
    "float8": ["1e400", "1e-400", "inf", "-inf", "nan", "1e", "0x1p3", ".5", "5.", "1d", " 1 ", "infinity", "-infinit"],
    "float4": ["1e39", "1e-46", "16777217", "nan", "1e38"],
    "date": ["2020-02-30", "20200229", "Feb 29 2020", "29-Feb-2020", "2020.060", "J2451187", "today", "1/2/2020", "2020-13-01",
             "99-01-08", "January 8, 1999", "epoch", "08-Jan-99", "y2020m1", "2020-1-1 BC", "12/31/0099", "20-12-31", "99999999-01-01",
             "1999-Jan-08", "Jan-08-1999", "yesterday x", "", "2020-02-29 12:00:00", "32/1/2020", "infinity"],
    "time": ["04:05:06.789", "040506", "04:05 AM", "13:05 PM", "24:00:00", "24:00:01", "25:00", "4:5:6", "04:05:60", "allballs",
             "noon", "04:05:06 PST", "2003-04-12 04:05:06 America/New_York", "", "12:60", "0405", "23:59:59.9999999"],
    "timetz": ["04:05:06-08:00", "040506+07:30:00", "04:05:06 PST", "12:00", "2003-04-12 04:05:06 America/New_York", "04:05+99",
               "24:00:00+15:59:59", "12:00 UTC", "04:05:06 foo"],
    "timestamp": ["1999-01-08 04:05:06", "1999-01-08T04:05:06Z", "Jan 8 04:05:06 1999 PST", "20000101T123456.789", "2020-02-30 10:00",
                  "294276-12-31 23:59:59.999999", "294277-01-01", "4713-11-24 BC", "now x", "1999-01-08 04:05:06.1234567",
                  "Mon Dec 17 07:37:16 1997", "1997-12-17 07:37:16-08", "2020-01-01 24:00:00", "2020-01-01 25:00:00", "epoch",
                  "2001-02-16 20:38:40 BC", "1/8/1999 4:5", "infinity", "2020-06-15 12:00 Europe/Berlin", "97/02/16"],
    "timestamptz": ["1999-01-08 04:05:06 -8:00", "1999-01-08 04:05:06 PST", "2020-06-15 12:00 Europe/Berlin", "2020-01-01 EST5EDT",
                    "2020-06-15 12:00 nowhere/land", "2020-03-29 02:30 Europe/Berlin", "2020-10-25 02:30 Europe/Berlin", "2020-01-01+15:59",
                    "2020-01-01 00:00+16", "-infinity", "4714-11-24 00:00:00+00 BC", "2020-01-01 00:00 z", "2020-01-01 00:00 +05:30:15"],
    "interval": INTERVALS + ["1 foo", "", "1 day day", "P", "P1W", "P0001-02-03T04:05:06", "PT", "1 2 3", "1.5 years 3.3 days", "day",
                             "1:2:3:4", "5", "-5", "1 day 5", "2147483648 days", "1e10 hours", "infinity", "1 12:59:10", "1 -2:03",
                             "1y 2mon", "6 sec ago", "1 millennium", "10 us", "1 day 25:61:00"],
    "uuid": ["a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", "{a0eebc99-9c0b4ef8-bb6d6bb9-bd380a11}", "A0EEBC999C0B4EF8BB6D6BB9BD380A11", "a0ee",
             "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a1g", "a0eebc-999c0b-4ef8bb6d6bb9bd380a11"],
    "bytea": ["\\x", "\\x0", "\\xabCD", "abc", "\\\\", "\\001", "\\8", "\\x0g", "\\x ab cd", "a\\"],
    "int4[]": ["{}", "{1,2}", "{1,NULL}", "{{1},{2}}", "{{1},{2,3}}", "[2:3]={1,2}", "{1,}", "{1", "1,2", "{\"1\"}", "{ 1 , 2 }", "{{},{}}",
               "[1:1]={1,2}", "{1}}", "{a}", "[0:0][0:0]={{5}}", "{{{1}}}", "[-1:0]={7,8}"],
    "text[]": ["{a,b}", "{\"a b\",\"\"}", "{null,NULL,\"NULL\"}", "{a\\,b}", "{a b}", "{\"\\\"\"}", "{,}", "{'a'}", "{\"a}", "{a\"b\"}", "{{a},{b}}"],
    "json": ["{}", "{\"a\":1}", "[1,2", "\"x\"", "nul", "1e5", "{\"a\":1,}", "[1,]", " true ", "{\"a\":{\"b\":[1,null]}}", "01", "\"\\u00e9\"", "\"\\x\""],
    "jsonb": ["{\"b\":1,\"a\":2,\"a\":3}", "[1, 2.50, \"x\"]", "null", "\"\\u00e9\"", "{\"a\":}", "-0", "0.10", "{\"aa\":1,\"b\":2}"],
    "varchar(3)": ["abc", "abcd", "abc  ", "", "äöü"], "char(3)": ["a", "abcd", "abc ", ""], "name": ["x" * 70, "A b"],
    "numeric(5,2)": ["999.995", "1000", "-0.005", "NaN", "Infinity", "1e2", "0.004"], "oid": ["1", "-1", "4294967296", "x"],
    "inet": ["10.0.0.1", "10.0.0.1/8", "::1", "10.0.0.256", "10/8", "1.2.3.4/33", "::ffff:1.2.3.4"], "cidr": ["10.0.0.0/8", "10.0.0.1/8", "10"],
}
UNITS = ["century", "day", "decade", "dow", "doy", "epoch", "hour", "isodow", "isoyear", "microseconds", "millennium",
         "milliseconds", "minute", "month", "quarter", "second", "timezone", "timezone_hour", "week", "year", "fortnight", "mons", "timezone_m"]
ZONES = ["UTC", "Europe/Berlin", "America/New_York", "PST", "Asia/Kolkata", "EST5EDT", "nowhere", "+3", "-03:30", "Etc/GMT+5", "FOO4"]
DATE_PATTERNS = ["YYYY-MM-DD", "YY MM DD", "Day, DD Mon YYYY HH:MI:SS AM", "HH24:MI:SS.MS US", "FMDay FMMonth FMDD", "DDD IDDD WW IW W D ID",
                 "CC Q J", "Y,YYY", "BC A.D.", "HH12 p.m.", "DDth Ddth", "MON Mon mon MONTH month RM rm", "SSSS SSSSS", "\"text\" YYYY", "IYYY IYY IY I",
                 "TZ tz OF TZH:TZM", "FF1 FF3 FF6", "YYYYth", "FMYYYY-FMMM-FMDD", "DY Dy dy", "YYYYMMDDHH24MISS", "FX YYYY", "TMMonth", "\\\"x", "ad"]
PARSE_PATTERNS = ["YYYY-MM-DD", "DD Mon YYYY", "YYYYMMDD", "HH24:MI:SS", "YYYY-DDD", "IYYY-IW-ID", "J", "YY/MM/DD", "Month DD, YYYY", "YYYY-MM-DD HH12:MI:SS AM",
                  "YYYY-MM-DD HH24:MI:SS.US", "FXYYYY-MM-DD", "MM/DD/YYYY", "CCYY", "DD-RM-YYYY", "YYYY BC"]
PARSED = ["2020-02-29", "05 Dec 2000", "20201231", "12:34:56", "2020-366", "2020-53-5", "2451187", "20/12/31", "January 08, 1999", "2020-01-01 12:00:00 PM",
          "2020-13-01", "", "x", "2020-02-30 10:11:12.123456", "1-1-1", "44 BC", "2020 - 1 - 1", "99/1/1", "12:00 +05"]
NUMBER_PATTERNS = ["999", "9990.99", "FM999.99", "S999", "999S", "MI999", "999MI", "PR999", "999PR", "L999", "0999", "9,999", "9G999D99", "RN", "FMRN", "999th",
                   "99.99EEEE", "9.9EEEE", "SG99", "99999", "00.00", "FM0.0", "\"x\"99", "FM9,999,999.00", "B99", "9.", ".9", "FM.99"]
REGEXES = ["^a", "b+$", "[abc]+", "(a)(b)?", "a|z", ".b", "^$", "\\d+", "\\w", "\\s", "a{2}", "(?i)A", "[[:alpha:]]+", "(", "[", "a**", "\\m\\w+\\M", "x*", "[^a-c]", "(.)(.)", "\\y"]
FLAGS = ["", "g", "i", "gi", "n", "x", "q", "z"]
# Small numbers, for functions in which PostgreSQL's own arithmetic overflows, or whose answers depend on how far its
# parser looks.
MODEST = ["0", "1", "2.5", "-3", "10", "0.5", "99", "7.25"]
FINITE = ["2020-02-29 12:30:45.5", "1999-01-08 00:00:00", "1969-12-31 23:59:59.999999", "2000-01-01 04:05:06", "0044-03-15 12:00:00 BC"]
INTERVAL_PATTERNS = ["HH24:MI:SS.MS US", "YYYY-MM-DD", "FMHH24 FMMI", "HH12 p.m.", "SSSS", "\"text\" YYYY", "Q"]
NUMBER_TEXTS = ["12", "-12", "1,234", "7", "0.05", "9999"]
TO_NUMBER = ["999", "S999", "9,999", "9G999D99", "999.99", "FM999", "999S", "9999.99"]
CONTAINERS = ["{\"b\":1,\"a\":[2,null]}", "[1, 2.50, \"x\"]", "{}", "[]", "[[1],{\"a\":\"b\"}]"]
ENCODINGS = ["hex", "base64", "escape", "rot13"]

# {type} a hostile constant of the type; {small} a small number; {word} one of the lists above.
CALLS = """
({int4} + {int4})|({int4} - {int4})|({int4} * {int4})|({int4} / {int4})|({int4} % {int4})|({int8} * {int8})|({int8} + {int8})|({int8} / {int8})
({int2} * {int2})|({int2} / {int2})|(- {int4})|(- {int8})|abs({int4})|abs({int2})|({int4} << {small})|({int8} >> {small})|({int4} & {int8})|(~ {int4})
({numeric} + {numeric})|({numeric} - {numeric})|({numeric} * {numeric})|({numeric} / {numeric})|({numeric} % {numeric})|({numeric} ^ {numeric})
div({numeric}, {numeric})|mod({numeric}, {numeric})|round({numeric}, {int2})|round({numeric})|trunc({numeric}, {small})|ceil({numeric})|floor({numeric})
sqrt({numeric})|exp({numeric})|ln({numeric})|log({numeric})|log({numeric}, {numeric})|power({numeric}, {small})|sign({numeric})|scale({numeric})
trim_scale({numeric})|min_scale({numeric})|{numeric}::int4|{numeric}::int8|{numeric}::int2|{numeric}::float8|{numeric}::float4|{numeric}::numeric(10,2)|{numeric}::text
{float8}::int4|{float8}::int8|{float8}::numeric|{float8}::float4|{float8}::text|{float4}::float8|{float4}::numeric|{float4}::int4|{float4}::text|{int8}::int4|{int4}::int2|{int8}::float4
({float8} + {float8})|({float8} * {float8})|({float8} / {float8})|({float8} ^ {float8})|sqrt({float8})|exp({float8})|ln({float8})|power({float8}, {float8})|cbrt({float8})
round({float8})|trunc({float8})|ceil({float8})|sin({float8})|atan2({float8}, {float8})|degrees({float8})|sinh({float8})|acos({float8})|log({float8})|({float4} * {float4})
({numeric} = {float8})|({numeric} < {numeric})|({float8} = {float8})|({int8} = {numeric})|greatest({numeric}, {numeric})|gcd({int4}, {int4})|lcm({int8}, {int8})|factorial({small})
width_bucket({modest}::numeric, {modest}::numeric, {modest}::numeric, {int4})|width_bucket({modest}::float8, {modest}::float8, {modest}::float8, {small})|to_hex({int4})|to_hex({int8})|{int4}::bool|{bool}::int4|chr({int4})
to_char({numeric}, {number_pattern})|to_char({int4}, {number_pattern})|to_char({float8}, {number_pattern})|to_number({number_text}, {to_number})|to_char({int8}, {number_pattern})
substr({text}, {int4}, {int4})|substr({text}, {small})|left({text}, {int4})|right({text}, {int4})|lpad({text}, {small}, {text})|rpad({text}, {small}, {text})|repeat({text}, {small})
overlay({text} placing {text} from {int4} for {small})|overlay({text} placing {text} from {small})|position({text} in {text})|strpos({text}, {text})|replace({text}, {text}, {text})
split_part({text}, {text}, {int4})|translate({text}, {text}, {text})|initcap({text})|upper({text})|lower({text})|reverse({text})|ascii({text})|btrim({text}, {text})|ltrim({text}, {text})
length({text})|octet_length({text})|md5({text})|quote_literal({text})|quote_ident({text})|quote_nullable({text})|format({text}, {text})|format('%1$s %I %L %3$s', {text}, {text}, {text})
format('%-10s|%5s|%*s', {text}, {text}, {small}, {text})|concat_ws({text}, {text}, null, {text})|starts_with({text}, {text})|string_to_array({text}, {text})|string_to_array({text}, {text}, {text})
array_to_string({text[]}, {text}, {text})|({text} like {text})|({text} ilike {text})|({text} similar to {text})|({text} like {text} escape {text})|substring({text} from {regex})
({text} ~ {regex})|({text} ~* {regex})|regexp_replace({text}, {regex}, {text})|regexp_replace({text}, {regex}, {text}, {flags})|regexp_match({text}, {regex})|regexp_match({text}, {regex}, {flags})
regexp_split_to_array({text}, {regex})|regexp_count({text}, {regex})|regexp_substr({text}, {regex})|regexp_instr({text}, {regex}, 1)|regexp_like({text}, {regex}, {flags})|regexp_replace({text}, {regex}, '[\\1\\&]')
encode({bytea}, {encoding})|decode({text}, {encoding})|convert_from({bytea}, 'UTF8')|get_byte({bytea}, {small})|set_byte({bytea}, {small}, {int4})|substr({bytea}, {int4}, {small})|({bytea} || {bytea})
to_char({timestamp}, {date_pattern})|to_char({timestamptz}, {date_pattern})|to_char({interval}, {interval_pattern})|to_char({date}, {date_pattern})|to_date({parsed}, {parse_pattern})|to_timestamp({parsed}, {parse_pattern})
extract({unit} from {timestamp})|extract({unit} from {date})|extract({unit} from {interval})|extract({unit} from {time})|extract({unit} from {timestamptz})|date_part({unit_text}, {timestamp})|date_part({unit_text}, {interval})
date_trunc({unit_text}, {finite}::timestamp)|date_trunc({unit_text}, {interval})|date_trunc({unit_text}, {finite}::timestamptz)|date_trunc({unit_text}, {finite}::timestamptz, {zone})|date_bin({interval}, {finite}::timestamp, {finite}::timestamp)
({timestamp} + {interval})|({timestamp} - {interval})|({timestamp} - {timestamp})|({date} + {int4})|({date} - {date})|({date} + {interval})|({date} + {time})|({time} + {interval})|({time} - {time})|({timestamptz} + {interval})
({interval} + {interval})|({interval} - {interval})|({interval} * {float8})|({interval} / {float8})|(- {interval})|age({finite}::timestamp, {finite}::timestamp)|age({finite}::timestamptz, {finite}::timestamptz)|justify_days({interval})|justify_hours({interval})
justify_interval({interval})|({interval} = {interval})|({interval} < {interval})|({timestamp} < {date})|({finite}::timestamptz at time zone {zone})|({finite}::timestamp at time zone {zone})|make_date({int4}, {small}, {small})|({date} - {interval})
make_interval(years => {small}, hours => {int4}, secs => {float8})|make_time({small}, {small}, {float8})|make_timestamp({int4}, {small}, {small}, {small}, {small}, {float8})|{timestamp}::date|{timestamp}::time|{timestamptz}::timetz|{date}::timestamp
{timestamp}::timestamp(2)|{interval}::interval(1)|{time}::time(0)|{interval}::time|{time}::interval|isfinite({timestamp})|isfinite({interval})|overlaps({timestamp}, {timestamp}, {timestamp}, {timestamp})|{timestamptz}::date|to_timestamp({float8})
({int4[]} || {int4[]})|array_append({int4[]}, {int4})|array_cat({int4[]}, {int4[]})|({int4[]})[{int4}]|({int4[]})[{small}:{small}]|array_position({int4[]}, {int4})|array_remove({int4[]}, {int4})|array_replace({int4[]}, {int4}, {int4})|array_prepend({int4}, {int4[]})
array_dims({int4[]})|array_ndims({int4[]})|array_length({int4[]}, {small})|array_upper({int4[]}, {small})|array_lower({int4[]}, {small})|cardinality({int4[]})|({int4[]} = {int4[]})|({int4[]} < {int4[]})|({int4[]} @> {int4[]})|({int4[]} && {int4[]})
array_fill({int4}, array[{small}, {small}])|trim_array({int4[]}, {small})|array_to_string({int4[]}, {text})|({int4} = any ({int4[]}))|{int4[]}::text[]|{text[]}::int4[]|array_positions({int4[]}, {int4})|array({text[]})|({text[]})[{small}]
({container}::jsonb -> {text})|({container}::jsonb ->> {small})|({jsonb} #> {text[]})|({jsonb} || {jsonb})|({jsonb} - {text})|({jsonb} @> {jsonb})|jsonb_typeof({jsonb})|jsonb_array_length({jsonb})|({json} -> {text})|({json} ->> {small})|jsonb_pretty({jsonb})|{jsonb}::text|({jsonb} = {jsonb})
parse_ident({text})|pg_size_pretty({int8})|pg_size_pretty({numeric})|pg_size_bytes({text})|num_nulls({int4}, null)|nullif({numeric}, {numeric})|({bool} < {bool})|({uuid} < {uuid})|({inet} << {inet})|host({inet})|masklen({inet})|({inet} + {small})|network({inet})|hashtext({text})
""".replace("\n", "|").strip("|").split("|")


class CallMaker:
    def __init__(self, random):
        self.random = random

    def statement(self):
        random = self.random
        if random.random() < 0.35:
            return self._input()
        return Piece("statement", "select ", self._call(random.choice(CALLS)), " as c")

    def _input(self):
        """A text as some type, as a literal or cast when it runs."""
        random = self.random
        kind = random.choice(list(INPUTS))
        text = random.choice(INPUTS[kind]) if random.random() < 0.8 else random.choice(TEXTS)
        quoted = self._quoted(text)
        if random.random() < 0.5:
            return Piece("statement", f"select {quoted}::{kind} as c")
        return Piece("statement", f"select cast(x as {kind}) as c from (values ({quoted}::text)) v(x)")

    @staticmethod
    def _quoted(text):
        return "'" + text.replace("'", "''") + "'"

    def _call(self, template):
        parts = []
        rest = template
        while "{" in rest:
            before, _, rest = rest.partition("{")
            place, _, rest = rest.partition("}")
            parts += [before, self._argument(place)]
        return Piece("=call", *parts, rest)

    def _argument(self, place):
        random = self.random
        lists = {"number_pattern": NUMBER_PATTERNS, "date_pattern": DATE_PATTERNS, "parse_pattern": PARSE_PATTERNS, "parsed": PARSED,
                 "regex": REGEXES, "flags": FLAGS, "encoding": ENCODINGS, "zone": ZONES, "unit_text": UNITS, "modest": MODEST,
                 "finite": FINITE, "interval_pattern": INTERVAL_PATTERNS, "number_text": NUMBER_TEXTS, "to_number": TO_NUMBER,
                 "container": CONTAINERS}
        if place == "unit":
            return random.choice(UNITS)
        if place == "small":
            text = str(random.randint(-2, 40) if random.random() < 0.3 else random.randint(0, 5))
            return Literal("=int4", text, f"({text})")
        if place in lists:
            return self._literal("text", random.choice(lists[place]))
        if random.random() < 0.03:
            return Piece("=" + place, f"null::{place}")
        if place in NUMBERS:
            return self._literal(place, random.choice(NUMBERS[place]))
        if place == "text":
            return self._literal("text", random.choice(TEXTS))
        if place == "interval":
            return self._literal("interval", random.choice(INTERVALS))
        if place in ("date", "timestamp", "timestamptz"):
            date, clock = random.choice(DATES), random.choice(CLOCKS)
            if place != "date" and "infinity" not in date:
                date = date.replace(" BC", "") + " " + clock + (" BC" if "BC" in date else "")
            return self._literal(place, date)
        if place in ("time", "timetz"):
            return self._literal(place, random.choice(CLOCKS))
        return self._literal(place, random.choice(INPUTS[place]))

    def _literal(self, kind, text):
        return Literal("=" + kind, text, f"{self._quoted(text)}::{kind}")
