"""Tables and statements for scripts/sql-figures, by sets. Rows are made by arithmetic, so both servers have
the same; a statement is a name, what is run before it unmeasured, and the text."""

ROWS = 2_000_000
FACTS = 500_000
ORDERS = 75_000


def scattered(salt, below, of="i"):
    """A number below `below` that looks random and depends on `of`."""
    return f"((({of})::bigint * 2654435761 + {salt} * 40503 + ({of})::bigint / 7919) % 4294967291 % {below})"


ACCOUNTS_TABLES = """
CREATE TABLE branches(bid int not null primary key, bbalance int, filler char(88));
INSERT INTO branches SELECT i, 0, '' FROM generate_series(1, 20) i;
CREATE TABLE accounts(aid int not null, bid int, abalance int, filler char(84));
\\copy accounts from '{rows}'
ALTER TABLE accounts ADD PRIMARY KEY (aid);
"""

ACCOUNTS = [
    ("count(*)", "", "SELECT count(*) FROM accounts"),
    ("sum(abalance)", "", "SELECT sum(abalance) FROM accounts"),
    ("GROUP BY bid", "", "SELECT bid, count(*), sum(abalance) FROM accounts GROUP BY bid"),
    ("join with branches", "",
     "SELECT count(*), sum(a.abalance + b.bbalance) FROM accounts a JOIN branches b ON a.bid = b.bid"),
    ("top 10 of an unindexed column", "", "SELECT aid FROM accounts ORDER BY abalance, bid LIMIT 10"),
    ("CREATE INDEX on abalance", "DROP INDEX IF EXISTS figures", "CREATE INDEX figures ON accounts(abalance)"),
    ("CREATE INDEX on bid", "DROP INDEX IF EXISTS figures", "CREATE INDEX figures ON accounts(bid)"),
    ("CREATE INDEX, shuffled keys", "DROP INDEX IF EXISTS figures",
     "CREATE INDEX figures ON accounts((aid::bigint * 48271 % 2147483647))"),
    ("COPY with its key",
     "DROP INDEX IF EXISTS figures; DROP TABLE IF EXISTS copied; "
     "CREATE TABLE copied(aid int primary key, bid int, abalance int, filler char(84))",
     "\\copy copied from '{rows}'"),
]

STATEMENTS_TABLES = f"""
CREATE TABLE facts(id int primary key, a int not null, b int, c text, d numeric(12,2), e timestamp, f boolean,
                   g double precision, pad text);
INSERT INTO facts SELECT i, {scattered(1, 1000)}, {scattered(2, 100_000)}, 'name-' || {scattered(3, 50_000)},
  {scattered(4, 10_000_000)} / 100.0, timestamp '2020-01-01' + {scattered(5, 63_072_000)} * interval '1 second',
  i % 3 = 0, {scattered(6, 1_000_000)} / 997.0, repeat('x', (i % 40)::int) FROM generate_series(1, {FACTS}) i;
CREATE INDEX facts_b ON facts(b);
CREATE TABLE kinds(id int primary key, name text, grp int);
INSERT INTO kinds SELECT i, 'kind ' || i, i % 20 FROM generate_series(0, 999) i;
CREATE TABLE groups(id int primary key, name text);
INSERT INTO groups SELECT i, 'group ' || i FROM generate_series(0, 19) i;
CREATE TABLE details(id int primary key, fact int, amount int);
INSERT INTO details SELECT i, {scattered(7, FACTS)} + 1, i % 100 FROM generate_series(1, 200000) i;
CREATE INDEX details_fact ON details(fact);
"""

STATEMENTS = [(name, "", text) for name, text in [
    ("ORDER BY text, int", f"SELECT id, c FROM facts ORDER BY c, id OFFSET {FACTS - 10}"),
    ("ORDER BY int", f"SELECT id FROM facts ORDER BY a, id OFFSET {FACTS - 10}"),
    ("ORDER BY numeric", f"SELECT id FROM facts ORDER BY d, id OFFSET {FACTS - 10}"),
    ("ORDER BY numeric LIMIT 10", "SELECT id, d FROM facts ORDER BY d DESC, id LIMIT 10"),
    ("ORDER BY text LIMIT 1000", "SELECT id FROM facts ORDER BY c, id LIMIT 1000"),
    ("ORDER BY indexed column LIMIT 10", "SELECT id FROM facts WHERE b >= 5000 ORDER BY b, id LIMIT 10"),
    ("all rows to the client, 20,000", "SELECT * FROM facts WHERE id <= 19000"),
    ("DISTINCT, 1,000 values", "SELECT count(*) FROM (SELECT DISTINCT a FROM facts) s"),
    ("DISTINCT, 100,000 values", "SELECT count(*) FROM (SELECT DISTINCT b FROM facts) s"),
    ("DISTINCT of three columns", "SELECT count(*) FROM (SELECT DISTINCT a, f, c FROM facts) s"),
    ("count(DISTINCT text)", "SELECT count(DISTINCT c) FROM facts"),
    ("count(DISTINCT int) by group", "SELECT sum(n) FROM (SELECT a, count(DISTINCT b) n FROM facts GROUP BY a) s"),
    ("GROUP BY int, 1,000 groups", "SELECT a, count(*), sum(b), max(g) FROM facts GROUP BY a"),
    ("GROUP BY int, 100,000 groups", "SELECT count(*), sum(n) FROM (SELECT b, count(*) n FROM facts GROUP BY b) s"),
    ("GROUP BY text, 50,000 groups",
     "SELECT count(*), max(n) FROM (SELECT c, count(*) n FROM facts GROUP BY c) s"),
    ("GROUP BY three columns",
     "SELECT count(*) FROM (SELECT a, f, date_trunc('month', e), sum(d) FROM facts GROUP BY 1, 2, 3) s"),
    ("GROUP BY … HAVING", "SELECT b, count(*) FROM facts GROUP BY b HAVING count(*) > 15"),
    ("date_trunc groups", "SELECT date_trunc('day', e), count(*) FROM facts GROUP BY 1 ORDER BY 1"),
    ("extract groups", "SELECT extract(month FROM e), avg(g) FROM facts GROUP BY 1 ORDER BY 1"),
    ("to_char groups", "SELECT to_char(e, 'YYYY-MM'), count(*) FROM facts GROUP BY 1 ORDER BY 1"),
    ("count with FILTER", "SELECT count(*) FILTER (WHERE f), count(*) FILTER (WHERE a < 10) FROM facts"),
    ("count where, unindexed", "SELECT count(*) FROM facts WHERE a < 100 AND f"),
    ("count where, index range", "SELECT count(*) FROM facts WHERE b BETWEEN 1000 AND 20000"),
    ("range of a secondary index, 5,000 rows", "SELECT sum(a) FROM facts WHERE b BETWEEN 1000 AND 2000"),
    ("range of a secondary index, 50,000 rows", "SELECT sum(a) FROM facts WHERE b BETWEEN 1000 AND 11000"),
    ("IN, 200 keys", f"SELECT sum(a) FROM facts WHERE id IN ({', '.join(str(i * 2003) for i in range(1, 201))})"),
    ("IN, 200 values, unindexed",
     f"SELECT count(*) FROM facts WHERE a IN ({', '.join(str(i * 7 % 1000) for i in range(1, 201))})"),
    ("join of 2", "SELECT sum(f.a), count(k.name) FROM facts f JOIN kinds k ON k.id = f.a WHERE k.grp < 10"),
    ("join of 3", "SELECT g.name, count(*), sum(f.g) FROM facts f JOIN kinds k ON k.id = f.a "
     "JOIN groups g ON g.id = k.grp GROUP BY g.name ORDER BY 1"),
    ("join of 4", "SELECT g.name, sum(x.amount) FROM details x JOIN facts f ON f.id = x.fact "
     "JOIN kinds k ON k.id = f.a JOIN groups g ON g.id = k.grp GROUP BY g.name ORDER BY 1"),
    ("join of two large", "SELECT count(*), sum(x.amount) FROM facts f JOIN details x ON x.fact = f.id"),
    ("LEFT JOIN, two large", "SELECT count(*), count(x.id) FROM facts f LEFT JOIN details x ON x.fact = f.id"),
    ("join, few outer rows",
     "SELECT sum(x.amount) FROM facts f JOIN details x ON x.fact = f.id WHERE f.b BETWEEN 10 AND 40"),
    ("self join", "SELECT count(*) FROM facts p JOIN facts q ON q.b = p.b AND q.id > p.id WHERE p.a < 50"),
    ("IN (SELECT)", "SELECT count(*) FROM facts WHERE id IN (SELECT fact FROM details WHERE amount < 50)"),
    ("EXISTS", "SELECT count(*) FROM facts f WHERE EXISTS (SELECT FROM details x WHERE x.fact = f.id AND x.amount = 7)"),
    ("NOT EXISTS", "SELECT count(*) FROM facts f WHERE NOT EXISTS (SELECT FROM details x WHERE x.fact = f.id)"),
    ("scalar subquery, correlated",
     "SELECT sum((SELECT count(*) FROM details x WHERE x.fact = f.id)) FROM facts f WHERE f.id <= 20000"),
    ("join in a correlated subquery",
     "SELECT sum((SELECT sum(x.amount) FROM facts i, details x WHERE x.fact = i.id AND i.b = f.b)) FROM facts f "
     "WHERE f.id <= 2000"),
    ("scalar subquery, once", "SELECT count(*) FROM facts WHERE g > (SELECT avg(g) FROM facts)"),
    ("row_number()", "SELECT sum(n) FROM (SELECT row_number() OVER (PARTITION BY a ORDER BY d) n FROM facts) s"),
    ("running sum()", "SELECT max(s) FROM (SELECT sum(g) OVER (PARTITION BY a ORDER BY id) s FROM facts) t"),
    ("rank() of all", "SELECT max(n) FROM (SELECT rank() OVER (ORDER BY b) n FROM facts) s"),
    ("lag()", "SELECT sum(b - n) FROM (SELECT b, lag(b) OVER (ORDER BY id) n FROM facts) s"),
    ("moving avg()", "SELECT max(m) FROM (SELECT avg(g) OVER (ORDER BY id ROWS 10 PRECEDING) m FROM facts) s"),
    ("LIKE prefix", "SELECT count(*) FROM facts WHERE c LIKE 'name-12%'"),
    ("LIKE infix", "SELECT count(*) FROM facts WHERE c LIKE '%99%'"),
    ("ILIKE", "SELECT count(*) FROM facts WHERE c ILIKE '%NAME-77%'"),
    ("regular expression", "SELECT count(*) FROM facts WHERE c ~ '-[0-9]9{2}'"),
    ("regexp_replace", "SELECT sum(length(regexp_replace(c, '[0-9]+', 'n'))) FROM facts"),
    ("string functions", "SELECT sum(length(upper(c) || substr(pad, 2, 5))), max(left(c, 6)) FROM facts"),
    ("split_part, replace", "SELECT max(split_part(c, '-', 2)), max(replace(c, 'name', 'n')) FROM facts"),
    ("string_agg", "SELECT sum(length(s)) FROM (SELECT a, string_agg(c, ',') s FROM facts GROUP BY a) t"),
    ("string_agg ORDER BY", "SELECT md5(string_agg(s, '')) FROM (SELECT a, string_agg(c, ',' ORDER BY c) s "
     "FROM facts GROUP BY a ORDER BY a) t"),
    ("array_agg", "SELECT sum(cardinality(s)) FROM (SELECT a, array_agg(id) s FROM facts GROUP BY a) t"),
    ("sum of numeric", "SELECT sum(d), avg(d), min(d), max(d) FROM facts"),
    ("arithmetic with numeric", "SELECT sum(d * 1.19 - d / 7), sum(round(d * d, 3)) FROM facts"),
    ("arithmetic with integers", "SELECT sum(a * 3 + b % 17 - id / 5) FROM facts"),
    ("arithmetic with floats", "SELECT sum(sqrt(g) * 2 + g / 3), stddev(g) FROM facts"),
    ("CASE", "SELECT sum(CASE WHEN a < 100 THEN 1 WHEN a < 500 THEN b ELSE 2 END) FROM facts"),
    ("COALESCE, NULLIF", "SELECT sum(coalesce(nullif(a, 7), b)) FROM facts"),
    ("date arithmetic", "SELECT count(*) FROM facts WHERE e + interval '1 month' > timestamp '2021-06-01'"),
    ("BETWEEN of timestamps",
     "SELECT count(*) FROM facts WHERE e >= '2020-03-01' AND e < '2020-04-01'"),
    ("casts to text", "SELECT sum(length(id::text) + length(d::text)) FROM facts"),
    ("UNION", "SELECT count(*) FROM (SELECT a FROM facts UNION SELECT b FROM facts) s"),
    ("UNION ALL", "SELECT sum(a) FROM (SELECT a FROM facts UNION ALL SELECT b FROM facts) s"),
    ("EXCEPT", "SELECT count(*) FROM (SELECT b FROM facts EXCEPT SELECT fact FROM details) s"),
    ("INTERSECT", "SELECT count(*) FROM (SELECT b FROM facts INTERSECT SELECT fact FROM details) s"),
    ("recursive WITH", "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 200000) "
     "SELECT sum(n) FROM r"),
    ("generate_series", "SELECT sum(i) FROM generate_series(1, 1000000) i"),
    ("WITH twice", "WITH w AS (SELECT a, sum(g) s FROM facts GROUP BY a) "
     "SELECT count(*) FROM w x JOIN w y ON x.s > y.s AND x.a = y.a + 1"),
    ("LATERAL top 3", "SELECT sum(t.id) FROM kinds k, LATERAL (SELECT id FROM facts f WHERE f.b = k.id "
     "ORDER BY f.d DESC LIMIT 3) t"),
    ("DISTINCT ON", "SELECT count(*) FROM (SELECT DISTINCT ON (a) a, id FROM facts ORDER BY a, d DESC) s"),
    ("min and max, indexed", "SELECT min(b), max(b) FROM facts"),
    ("OFFSET", "SELECT id, c FROM facts ORDER BY id OFFSET 300000 LIMIT 10"),
]]

# Each leaves the tables as they were, or changes nothing that another depends on.
MORE = "INSERT INTO grown SELECT i, {0}, {1}, 'some text ' || i FROM generate_series({2}, {3}) i"
GROWN = ("DROP TABLE IF EXISTS grown; CREATE TABLE grown(id int primary key, a int, b int, c text); "
         + "{0}" + MORE.format(scattered(1, 1000), scattered(2, 1_000_000), 1, 1000))
INDEXED = GROWN.format("CREATE INDEX ON grown(b); ")
TWICE_INDEXED = GROWN.format("CREATE INDEX ON grown(b); CREATE INDEX ON grown(a); ")
MILLION = MORE.format(scattered(1, 1000), scattered(2, 1_000_000), 1001, 1_001_000)
FILLED = GROWN.format("") + "; " + MILLION
TWICE_FILLED = GROWN.format("") + "; " + MORE.format(scattered(1, 1000), scattered(2, 1_000_000), 1001, 2_001_000)

WRITES = [
    ("INSERT … SELECT, 1 M rows, key", GROWN.format(""), MILLION),
    ("INSERT … SELECT, 1 M rows, key and index", INDEXED, MILLION),
    ("INSERT … SELECT, 1 M rows, key and 2 indexes", TWICE_INDEXED, MILLION),
    ("UPDATE, 1 M rows", FILLED, "UPDATE grown SET a = a + 1"),
    ("UPDATE of an indexed column, 1 M rows", FILLED + "; CREATE INDEX ON grown(a)", "UPDATE grown SET a = a + 1"),
    ("UPDATE of an indexed column, 2 M rows", TWICE_FILLED + "; CREATE INDEX ON grown(a)",
     "UPDATE grown SET a = a + 1"),
    ("DELETE, 1 M rows", FILLED, "DELETE FROM grown"),
    ("DELETE, 1 M rows, key and index", FILLED + "; CREATE INDEX ON grown(a)", "DELETE FROM grown"),
    ("UPDATE by range of the key, 100,000 rows", FILLED,
     "UPDATE grown SET a = a + 1 WHERE id BETWEEN 5000 AND 104999"),
    ("DELETE by range of the key, 100,000 rows", FILLED, "DELETE FROM grown WHERE id BETWEEN 5000 AND 104999"),
    ("COPY into a table with rows, key", GROWN.format(""), "\\copy grown from '{grown}'"),
    ("COPY into a table with rows, key and index", INDEXED, "\\copy grown from '{grown}'"),
]

ROUTINES_TABLES = """
CREATE TABLE looked_up (id int PRIMARY KEY, v int);
INSERT INTO looked_up SELECT g, g % 1000 FROM generate_series(1, 100000) g;
CREATE FUNCTION additions(n int) RETURNS bigint LANGUAGE plpgsql AS $$ DECLARE x bigint := 0; BEGIN FOR i IN 1 .. n LOOP x := x + i; END LOOP; RETURN x; END $$;
CREATE FUNCTION look_ups(n int) RETURNS bigint LANGUAGE plpgsql AS $$ DECLARE x bigint := 0; y int; BEGIN FOR i IN 1 .. n LOOP SELECT v INTO y FROM looked_up WHERE id = i % 100000 + 1; x := x + y; END LOOP; RETURN x; END $$;
CREATE FUNCTION stamps() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.updated_at := now(); RETURN NEW; END $$;
CREATE FUNCTION counts() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM sum(n.v - o.v) FROM new_rows n JOIN old_rows o USING (id); RETURN NULL; END $$;
"""
STAMPED = ("DROP TABLE IF EXISTS stamped; CREATE TABLE stamped (id int PRIMARY KEY, v int, updated_at timestamptz); "
           "INSERT INTO stamped SELECT g, g, now() FROM generate_series(1, 100000) g")
ROUTINES = [
    ("10 M additions in a loop", "", "SELECT additions(10000000)"),
    ("500,000 look-ups by key in a loop", "", "SELECT look_ups(500000)"),
    ("UPDATE, 100,000 rows", STAMPED, "UPDATE stamped SET v = v + 1"),
    ("the same, a trigger sets updated_at", STAMPED + "; CREATE TRIGGER s BEFORE UPDATE ON stamped FOR EACH ROW "
     "EXECUTE FUNCTION stamps()", "UPDATE stamped SET v = v + 1"),
    ("the same, a trigger reads transition tables", STAMPED + "; CREATE TRIGGER c AFTER UPDATE ON stamped REFERENCING "
     "OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION counts()",
     "UPDATE stamped SET v = v + 1"),
]

# 20,000 documents of some 2 KB, by the text of their members, which repeats little, so that neither server compresses it away.
MEMBERS_TABLES = """
CREATE TABLE members (id int PRIMARY KEY, doc jsonb NOT NULL);
INSERT INTO members SELECT g, (SELECT jsonb_object_agg('member ' || k, md5(g || '/' || k)) FROM generate_series(1, 36) k) || jsonb_build_object('customer', g % 1000, 'name', 'name ' || g, 'lines', jsonb_build_array(jsonb_build_object('article', g % 5000, 'count', g % 7), jsonb_build_object('article', g * 7 % 5000, 'count', 1))) FROM generate_series(1, 20000) g;
CREATE INDEX members_doc ON members USING gin (doc jsonb_path_ops);
"""

MEMBERS = [
    ("doc->>'name', 20,000 documents", "", "SELECT count(doc->>'name') FROM members"),
    ("doc->>'member 30', 20,000 documents", "", "SELECT max(doc->>'member 30') FROM members"),
    ("doc->'lines'->1->>'article', 20,000 documents", "", "SELECT sum((doc->'lines'->1->>'article')::int) FROM members"),
    ("doc ? 'member 29', 20,000 documents", "", "SELECT count(*) FROM members WHERE doc ? 'member 29'"),
    ("doc::text, 20,000 documents", "", "SELECT sum(length(doc::text)) FROM members"),
    ("doc->>'name' by key, 20,000 times", "",
     "SELECT count(m.doc->>'name') FROM generate_series(1, 20000) n, LATERAL (SELECT doc FROM members WHERE id = n) m"),
    ("doc @> by index, 20 rows, 1,000 times", "", "SELECT count(*) FROM generate_series(1, 1000) n, "
     "LATERAL (SELECT id FROM members WHERE doc @> jsonb_build_object('customer', n - 1)) m"),
    ("doc @> by index, nested, 8 rows, 1,000 times", "", "SELECT count(*) FROM generate_series(1, 1000) n, "
     "LATERAL (SELECT id FROM members WHERE doc @> jsonb_build_object('lines', jsonb_build_array("
     "jsonb_build_object('article', n)))) m"),
    ("SET doc['customer'] = …, 2,000 documents", "", "UPDATE members SET doc['customer'] = '7' WHERE id > 18000"),
    ("SET doc['lines'][0]['count'] = …, 2,000 documents", "",
     "UPDATE members SET doc['lines'][0]['count'] = '7' WHERE id > 18000"),
    ("INSERT, 2,000 documents read from text", "DELETE FROM members WHERE id > 1000000",
     "INSERT INTO members SELECT id + 1000000, doc::text::jsonb FROM members WHERE id <= 2000"),
]

# 100,000 documents of some 500 bytes: ten customers' each has a thousandth of them, tags are common and rare.
DOCUMENTS_TABLES = """
CREATE TABLE documents (id int PRIMARY KEY, doc jsonb NOT NULL, tags int[] NOT NULL);
INSERT INTO documents SELECT g, jsonb_build_object('customer', g % 1000, 'status', CASE WHEN g % 3 = 0 THEN 'open' ELSE 'closed' END, 'name', 'name ' || g, 'address', jsonb_build_object('city', 'city ' || g % 100, 'street', repeat('street ', 20)), 'lines', jsonb_build_array(jsonb_build_object('article', g % 5000, 'count', g % 7), jsonb_build_object('article', g * 7 % 5000, 'count', 1)), 'note', repeat('words of a note ', 10)), ARRAY[g % 10, 10 + g % 200, 1000 + g % 20000] FROM generate_series(1, 100000) g;
CREATE INDEX documents_doc ON documents USING gin (doc);
CREATE INDEX documents_paths ON documents USING gin (doc jsonb_path_ops);
CREATE INDEX documents_tags ON documents USING gin (tags);
"""


def looked_up(condition, times):
    """The condition, with n in it, for several n."""
    return f"SELECT count(*) FROM generate_series(1, {times}) n, LATERAL (SELECT id FROM documents WHERE {condition}) d"


DOCUMENTS = [
    ("@> one key and value, 100 rows, 100 times", "", looked_up("doc @> jsonb_build_object('customer', n)", 100)),
    ("@> nested, 40 rows, 100 times", "",
     looked_up("doc @> jsonb_build_object('lines', jsonb_build_array(jsonb_build_object('article', n)))", 100)),
    ("@> a rare and a common value, 100 times", "",
     looked_up("doc @> jsonb_build_object('customer', n, 'status', 'open')", 100)),
    ("@> a common value, 33,333 rows", "", "SELECT count(*) FROM documents WHERE doc @> '{\"status\": \"open\"}'"),
    ("array @> one element, 5 rows, 10,000 times", "", looked_up("tags @> ARRAY[1000 + n]", 10_000)),
    ("array @> two elements, 500 and 10,000 rows", "", looked_up("tags @> ARRAY[n % 10, 10 + n % 200]", 100)),
    ("array && three elements, 1,500 rows", "", looked_up("tags && ARRAY[10 + n, 50 + n, 90 + n]", 20)),
    ("CREATE INDEX, jsonb_ops", "DROP INDEX IF EXISTS documents_again",
     "CREATE INDEX documents_again ON documents USING gin (doc)"),
    ("INSERT, 10,000 documents, three indexes", "DELETE FROM documents WHERE id > 1000000",
     "INSERT INTO documents SELECT id + 1000000, doc, tags FROM documents WHERE id <= 10000"),
]

ORDER_DATE = f"date '1992-01-01' + ({scattered(13, 2405)})::int"

TPCH_TABLES = f"""
CREATE TABLE region(r_regionkey int primary key, r_name text);
INSERT INTO region VALUES (0, 'AFRICA'), (1, 'AMERICA'), (2, 'ASIA'), (3, 'EUROPE'), (4, 'MIDDLE EAST');
CREATE TABLE nation(n_nationkey int primary key, n_name text, n_regionkey int);
INSERT INTO nation SELECT i, 'NATION ' || i, i % 5 FROM generate_series(0, 24) i;
CREATE TABLE supplier(s_suppkey int primary key, s_name text, s_nationkey int, s_acctbal numeric(15,2), s_comment text);
INSERT INTO supplier SELECT i, 'Supplier ' || i, {scattered(1, 25)}, {scattered(2, 1_000_000)} / 100.0 - 1000,
  CASE WHEN i % 50 = 0 THEN 'Customer and Complaints' ELSE 'no comment' END FROM generate_series(1, 500) i;
CREATE TABLE customer(c_custkey int primary key, c_name text, c_nationkey int, c_mktsegment text, c_acctbal numeric(15,2),
  c_phone text);
INSERT INTO customer SELECT i, 'Customer ' || i, {scattered(3, 25)},
  (ARRAY['BUILDING','AUTOMOBILE','MACHINERY','HOUSEHOLD','FURNITURE'])[1 + {scattered(4, 5)}],
  {scattered(5, 1_000_000)} / 100.0 - 1000, (10 + {scattered(3, 25)}) || '-555' FROM generate_series(1, 7500) i;
CREATE TABLE part(p_partkey int primary key, p_name text, p_brand text, p_type text, p_size int, p_container text,
  p_retailprice numeric(15,2));
INSERT INTO part SELECT i, (ARRAY['green','red','blue','forest','ivory'])[1 + {scattered(6, 5)}] || ' part ' || i,
  'Brand#' || (11 + {scattered(7, 45)}), (ARRAY['PROMO','STANDARD','ECONOMY'])[1 + {scattered(8, 3)}] || ' ' ||
  (ARRAY['BRASS','TIN','STEEL','COPPER'])[1 + {scattered(9, 4)}], 1 + {scattered(10, 50)},
  (ARRAY['SM BOX','MED BAG','LG CASE','JUMBO PKG'])[1 + {scattered(11, 4)}], 900 + i % 1000 FROM generate_series(1, 10000) i;
CREATE TABLE partsupp(ps_partkey int, ps_suppkey int, ps_availqty int, ps_supplycost numeric(15,2),
  PRIMARY KEY (ps_partkey, ps_suppkey));
INSERT INTO partsupp SELECT 1 + i / 4, 1 + ((i / 4) * 7 + (i % 4) * 125) % 500, 1 + {scattered(12, 9999)},
  {scattered(14, 100_000)} / 100.0 FROM generate_series(0, 39999) i;
CREATE TABLE orders(o_orderkey int primary key, o_custkey int, o_orderstatus text, o_totalprice numeric(15,2),
  o_orderdate date, o_orderpriority text, o_comment text);
INSERT INTO orders SELECT i, 1 + {scattered(15, 5000)}, (ARRAY['F','O','P'])[1 + {scattered(16, 3)}],
  {scattered(17, 50_000_000)} / 100.0, {ORDER_DATE}, (1 + {scattered(18, 5)}) || '-PRIORITY',
  CASE WHEN i % 97 = 0 THEN 'special handling requests' ELSE 'nothing' END FROM generate_series(1, {ORDERS}) i;
CREATE TABLE lineitem(l_orderkey int, l_partkey int, l_suppkey int, l_linenumber int, l_quantity numeric(15,2),
  l_extendedprice numeric(15,2), l_discount numeric(15,2), l_tax numeric(15,2), l_returnflag text, l_linestatus text,
  l_shipdate date, l_commitdate date, l_receiptdate date, l_shipinstruct text, l_shipmode text,
  PRIMARY KEY (l_orderkey, l_linenumber));
INSERT INTO lineitem SELECT o_orderkey, p, 1 + ((p - 1) * 7 + (n % 4) * 125) % 500, n, q, q * (900 + p % 1000),
  {scattered(19, 11, "o_orderkey * 8 + n")} / 100.0, {scattered(20, 9, "o_orderkey * 8 + n")} / 100.0,
  (ARRAY['A','N','R'])[1 + {scattered(21, 3, "o_orderkey * 8 + n")}],
  (ARRAY['F','O'])[1 + {scattered(22, 2, "o_orderkey * 8 + n")}], ship,
  o_orderdate + (30 + {scattered(23, 61, "o_orderkey * 8 + n")})::int,
  ship + (1 + {scattered(24, 30, "o_orderkey * 8 + n")})::int,
  (ARRAY['DELIVER IN PERSON','COLLECT COD','NONE'])[1 + {scattered(25, 3, "o_orderkey * 8 + n")}],
  (ARRAY['AIR','MAIL','SHIP','TRUCK','RAIL','FOB','AIR REG'])[1 + {scattered(26, 7, "o_orderkey * 8 + n")}]
  FROM (SELECT o_orderkey, o_orderdate, n, (1 + {scattered(27, 10_000, "o_orderkey * 8 + n")})::int p,
          (1 + {scattered(28, 50, "o_orderkey * 8 + n")})::int q,
          o_orderdate + (1 + {scattered(29, 121, "o_orderkey * 8 + n")})::int ship
        FROM orders, generate_series(1, 4) n) s;
CREATE INDEX ON lineitem(l_partkey, l_suppkey);
CREATE INDEX ON orders(o_custkey);
"""

REVENUE = "sum(l_extendedprice * (1 - l_discount))"

TPCH = [(name, "", text) for name, text in [
    ("Q1 pricing summary", "SELECT l_returnflag, l_linestatus, sum(l_quantity), sum(l_extendedprice), "
     f"{REVENUE}, sum(l_extendedprice * (1 - l_discount) * (1 + l_tax)), avg(l_quantity), avg(l_discount), count(*) "
     "FROM lineitem WHERE l_shipdate <= date '1998-12-01' - interval '90 days' GROUP BY 1, 2 ORDER BY 1, 2"),
    ("Q2 minimum cost supplier", "SELECT s_acctbal, s_name, n_name, p_partkey FROM part, supplier, partsupp, nation, region "
     "WHERE p_partkey = ps_partkey AND s_suppkey = ps_suppkey AND p_size = 15 AND p_type LIKE '%BRASS' "
     "AND s_nationkey = n_nationkey AND n_regionkey = r_regionkey AND r_name = 'EUROPE' AND ps_supplycost = "
     "(SELECT min(ps_supplycost) FROM partsupp, supplier, nation, region WHERE p_partkey = ps_partkey "
     "AND s_suppkey = ps_suppkey AND s_nationkey = n_nationkey AND n_regionkey = r_regionkey AND r_name = 'EUROPE') "
     "ORDER BY 1 DESC, 3, 2, 4 LIMIT 100"),
    ("Q3 shipping priority", f"SELECT l_orderkey, {REVENUE} revenue, o_orderdate FROM customer, orders, lineitem "
     "WHERE c_mktsegment = 'BUILDING' AND c_custkey = o_custkey AND l_orderkey = o_orderkey "
     "AND o_orderdate < date '1995-03-15' AND l_shipdate > date '1995-03-15' GROUP BY 1, 3 ORDER BY 2 DESC, 3, 1 LIMIT 10"),
    ("Q4 order priority", "SELECT o_orderpriority, count(*) FROM orders WHERE o_orderdate >= date '1993-07-01' "
     "AND o_orderdate < date '1993-07-01' + interval '3 months' AND EXISTS (SELECT * FROM lineitem "
     "WHERE l_orderkey = o_orderkey AND l_commitdate < l_receiptdate) GROUP BY 1 ORDER BY 1"),
    ("Q5 local supplier volume", f"SELECT n_name, {REVENUE} FROM customer, orders, lineitem, supplier, nation, region "
     "WHERE c_custkey = o_custkey AND l_orderkey = o_orderkey AND l_suppkey = s_suppkey AND c_nationkey = s_nationkey "
     "AND s_nationkey = n_nationkey AND n_regionkey = r_regionkey AND r_name = 'ASIA' AND o_orderdate >= date '1994-01-01' "
     "AND o_orderdate < date '1994-01-01' + interval '1 year' GROUP BY 1 ORDER BY 2 DESC"),
    ("Q6 forecast", "SELECT sum(l_extendedprice * l_discount) FROM lineitem WHERE l_shipdate >= date '1994-01-01' "
     "AND l_shipdate < date '1995-01-01' AND l_discount BETWEEN 0.05 AND 0.07 AND l_quantity < 24"),
    ("Q7 volume shipping", "SELECT supp_nation, cust_nation, l_year, sum(volume) FROM (SELECT n1.n_name supp_nation, "
     "n2.n_name cust_nation, extract(year FROM l_shipdate) l_year, l_extendedprice * (1 - l_discount) volume "
     "FROM supplier, lineitem, orders, customer, nation n1, nation n2 WHERE s_suppkey = l_suppkey AND o_orderkey = l_orderkey "
     "AND c_custkey = o_custkey AND s_nationkey = n1.n_nationkey AND c_nationkey = n2.n_nationkey "
     "AND ((n1.n_name = 'NATION 3' AND n2.n_name = 'NATION 7') OR (n1.n_name = 'NATION 7' AND n2.n_name = 'NATION 3')) "
     "AND l_shipdate BETWEEN date '1995-01-01' AND date '1996-12-31') s GROUP BY 1, 2, 3 ORDER BY 1, 2, 3"),
    ("Q8 market share", "SELECT o_year, sum(CASE WHEN nation = 'NATION 6' THEN volume ELSE 0 END) / sum(volume) FROM ("
     "SELECT extract(year FROM o_orderdate) o_year, l_extendedprice * (1 - l_discount) volume, n2.n_name nation "
     "FROM part, supplier, lineitem, orders, customer, nation n1, nation n2, region WHERE p_partkey = l_partkey "
     "AND s_suppkey = l_suppkey AND l_orderkey = o_orderkey AND o_custkey = c_custkey AND c_nationkey = n1.n_nationkey "
     "AND n1.n_regionkey = r_regionkey AND r_name = 'AMERICA' AND s_nationkey = n2.n_nationkey "
     "AND o_orderdate BETWEEN date '1995-01-01' AND date '1996-12-31' AND p_type = 'ECONOMY STEEL') s GROUP BY 1 ORDER BY 1"),
    ("Q9 product type profit", "SELECT nation, o_year, sum(amount) FROM (SELECT n_name nation, "
     "extract(year FROM o_orderdate) o_year, l_extendedprice * (1 - l_discount) - ps_supplycost * l_quantity amount "
     "FROM part, supplier, lineitem, partsupp, orders, nation WHERE s_suppkey = l_suppkey AND ps_suppkey = l_suppkey "
     "AND ps_partkey = l_partkey AND p_partkey = l_partkey AND o_orderkey = l_orderkey AND s_nationkey = n_nationkey "
     "AND p_name LIKE '%green%') s GROUP BY 1, 2 ORDER BY 1, 2 DESC"),
    ("Q10 returned items", f"SELECT c_custkey, c_name, {REVENUE} revenue, c_acctbal, n_name FROM customer, orders, lineitem, "
     "nation WHERE c_custkey = o_custkey AND l_orderkey = o_orderkey AND o_orderdate >= date '1993-10-01' "
     "AND o_orderdate < date '1994-01-01' AND l_returnflag = 'R' AND c_nationkey = n_nationkey "
     "GROUP BY c_custkey, c_name, c_acctbal, n_name ORDER BY 3 DESC, 1 LIMIT 20"),
    ("Q11 important stock", "SELECT ps_partkey, sum(ps_supplycost * ps_availqty) FROM partsupp, supplier, nation "
     "WHERE ps_suppkey = s_suppkey AND s_nationkey = n_nationkey AND n_name = 'NATION 7' GROUP BY 1 "
     "HAVING sum(ps_supplycost * ps_availqty) > (SELECT sum(ps_supplycost * ps_availqty) * 0.001 FROM partsupp, supplier, "
     "nation WHERE ps_suppkey = s_suppkey AND s_nationkey = n_nationkey AND n_name = 'NATION 7') ORDER BY 2 DESC, 1"),
    ("Q12 shipping modes", "SELECT l_shipmode, sum(CASE WHEN o_orderpriority = '1-PRIORITY' OR o_orderpriority = '2-PRIORITY' "
     "THEN 1 ELSE 0 END), sum(CASE WHEN o_orderpriority <> '1-PRIORITY' AND o_orderpriority <> '2-PRIORITY' THEN 1 ELSE 0 END) "
     "FROM orders, lineitem WHERE o_orderkey = l_orderkey AND l_shipmode IN ('MAIL', 'SHIP') AND l_commitdate < l_receiptdate "
     "AND l_shipdate < l_commitdate AND l_receiptdate >= date '1994-01-01' AND l_receiptdate < date '1995-01-01' "
     "GROUP BY 1 ORDER BY 1"),
    ("Q13 customer distribution", "SELECT c_count, count(*) FROM (SELECT c_custkey, count(o_orderkey) c_count FROM customer "
     "LEFT JOIN orders ON c_custkey = o_custkey AND o_comment NOT LIKE '%special%requests%' GROUP BY c_custkey) s "
     "GROUP BY 1 ORDER BY 2 DESC, 1 DESC"),
    ("Q14 promotion effect", "SELECT 100.00 * sum(CASE WHEN p_type LIKE 'PROMO%' THEN l_extendedprice * (1 - l_discount) "
     f"ELSE 0 END) / {REVENUE} FROM lineitem, part WHERE l_partkey = p_partkey AND l_shipdate >= date '1995-09-01' "
     "AND l_shipdate < date '1995-10-01'"),
    ("Q15 top supplier", f"WITH revenue AS (SELECT l_suppkey supplier_no, {REVENUE} total FROM lineitem "
     "WHERE l_shipdate >= date '1996-01-01' AND l_shipdate < date '1996-04-01' GROUP BY 1) SELECT s_suppkey, s_name, total "
     "FROM supplier, revenue WHERE s_suppkey = supplier_no AND total = (SELECT max(total) FROM revenue) ORDER BY 1"),
    ("Q16 parts and suppliers", "SELECT p_brand, p_type, p_size, count(DISTINCT ps_suppkey) n FROM partsupp, part "
     "WHERE p_partkey = ps_partkey AND p_brand <> 'Brand#45' AND p_type NOT LIKE 'STANDARD%' "
     "AND p_size IN (49, 14, 23, 45, 19, 3, 36, 9) AND ps_suppkey NOT IN (SELECT s_suppkey FROM supplier "
     "WHERE s_comment LIKE '%Customer%Complaints%') GROUP BY 1, 2, 3 ORDER BY 4 DESC, 1, 2, 3"),
    ("Q17 small quantities", "SELECT sum(l_extendedprice) / 7.0 FROM lineitem, part WHERE p_partkey = l_partkey "
     "AND p_brand = 'Brand#23' AND p_container = 'MED BAG' AND l_quantity < (SELECT 0.2 * avg(l_quantity) FROM lineitem "
     "WHERE l_partkey = p_partkey)"),
    ("Q18 large orders", "SELECT c_name, c_custkey, o_orderkey, o_orderdate, o_totalprice, sum(l_quantity) FROM customer, "
     "orders, lineitem WHERE o_orderkey IN (SELECT l_orderkey FROM lineitem GROUP BY 1 HAVING sum(l_quantity) > 170) "
     "AND c_custkey = o_custkey AND o_orderkey = l_orderkey GROUP BY 1, 2, 3, 4, 5 ORDER BY 5 DESC, 4, 3 LIMIT 100"),
    ("Q19 discounted revenue", f"SELECT {REVENUE} FROM lineitem, part WHERE (p_partkey = l_partkey AND p_brand = 'Brand#12' "
     "AND p_container = 'SM BOX' AND l_quantity BETWEEN 1 AND 11 AND p_size BETWEEN 1 AND 5 AND l_shipmode IN ('AIR', 'AIR REG') "
     "AND l_shipinstruct = 'DELIVER IN PERSON') OR (p_partkey = l_partkey AND p_brand = 'Brand#23' AND p_container = 'MED BAG' "
     "AND l_quantity BETWEEN 10 AND 20 AND p_size BETWEEN 1 AND 10 AND l_shipmode IN ('AIR', 'AIR REG') "
     "AND l_shipinstruct = 'DELIVER IN PERSON')"),
    ("Q20 potential promotion", "SELECT s_name FROM supplier, nation WHERE s_suppkey IN (SELECT ps_suppkey FROM partsupp "
     "WHERE ps_partkey IN (SELECT p_partkey FROM part WHERE p_name LIKE 'forest%') AND ps_availqty > "
     "(SELECT 0.5 * sum(l_quantity) FROM lineitem WHERE l_partkey = ps_partkey AND l_suppkey = ps_suppkey "
     "AND l_shipdate >= date '1994-01-01' AND l_shipdate < date '1995-01-01')) AND s_nationkey = n_nationkey "
     "AND n_name = 'NATION 3' ORDER BY 1"),
    ("Q21 suppliers who kept orders waiting", "SELECT s_name, count(*) FROM supplier, lineitem l1, orders, nation "
     "WHERE s_suppkey = l1.l_suppkey AND o_orderkey = l1.l_orderkey AND o_orderstatus = 'F' "
     "AND l1.l_receiptdate > l1.l_commitdate AND EXISTS (SELECT * FROM lineitem l2 WHERE l2.l_orderkey = l1.l_orderkey "
     "AND l2.l_suppkey <> l1.l_suppkey) AND NOT EXISTS (SELECT * FROM lineitem l3 WHERE l3.l_orderkey = l1.l_orderkey "
     "AND l3.l_suppkey <> l1.l_suppkey AND l3.l_receiptdate > l3.l_commitdate) AND s_nationkey = n_nationkey "
     "AND n_name = 'NATION 20' GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 100"),
    ("Q22 sales opportunity", "SELECT cntrycode, count(*), sum(c_acctbal) FROM (SELECT substring(c_phone from 1 for 2) "
     "cntrycode, c_acctbal FROM customer WHERE substring(c_phone from 1 for 2) IN ('13', '31', '23', '29', '30', '18', '17') "
     "AND c_acctbal > (SELECT avg(c_acctbal) FROM customer WHERE c_acctbal > 0.00 AND substring(c_phone from 1 for 2) IN "
     "('13', '31', '23', '29', '30', '18', '17')) AND NOT EXISTS (SELECT * FROM orders WHERE o_custkey = c_custkey)) s "
     "GROUP BY 1 ORDER BY 1"),
]]

# Statements that had been slower than PostgreSQL in one run.
LONG_TABLES = f"""
CREATE TABLE ranked(id int primary key, g int not null, k int not null);
INSERT INTO ranked SELECT i, {scattered(1, 1000)}, {scattered(2, 1_000_000)} FROM generate_series(1, 500000) i;
CREATE TABLE parents(id int primary key);
INSERT INTO parents SELECT i FROM generate_series(1, 1000) i;
"""
CHILDREN = ("DROP TABLE IF EXISTS children; CREATE TABLE children(id int primary key, "
            "one int REFERENCES parents, other int REFERENCES parents)")
HALF_MILLION = MORE.format(scattered(1, 1000), scattered(2, 1_000_000), 1001, 501_000)
LONG = [
    ("recursive WITH, 300,000 steps", "", "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 300000) "
     "SELECT count(*) FROM r"),
    ("row_number(), ten a group", "", "SELECT count(*), sum(id) FROM (SELECT id, row_number() OVER (PARTITION BY g ORDER BY "
     "k, id) n FROM ranked) s WHERE n <= 10"),
    ("CREATE INDEX, 500,000 rows", "DROP INDEX IF EXISTS ranked_k", "CREATE INDEX ranked_k ON ranked(k)"),
    ("DELETE, 500,000 rows", GROWN.format("") + "; " + HALF_MILLION, "DELETE FROM grown"),
    ("UPDATE of 500,000 rows with two indexes", TWICE_INDEXED + "; " + HALF_MILLION, "UPDATE grown SET c = c || '.'"),
    ("INSERT … SELECT, 1 M rows, identity",
     "DROP TABLE IF EXISTS numbered; CREATE TABLE numbered(id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, v int)",
     "INSERT INTO numbered(v) SELECT i FROM generate_series(1, 1000000) i"),
    ("INSERT … SELECT, 1 M rows, given keys",
     "DROP TABLE IF EXISTS numbered; CREATE TABLE numbered(id bigint PRIMARY KEY, v int)",
     "INSERT INTO numbered SELECT i, i FROM generate_series(1, 1000000) i"),
    ("INSERT of 1,000 rows, two foreign keys", CHILDREN, "INSERT INTO children VALUES "
     + ", ".join(f"({i}, {i * 7 % 1000 + 1}, {i * 13 % 1000 + 1})" for i in range(1000))),
    ("INSERT … SELECT, 100,000 rows, two foreign keys", CHILDREN,
     "INSERT INTO children SELECT i, i * 7 % 1000 + 1, i * 13 % 1000 + 1 FROM generate_series(1, 100000) i"),
]
# Row sets of 300,000, in memory and beyond it.
SOME, OTHERS = "SELECT i * 3 n FROM generate_series(1, 300000) i", "SELECT i * 2 n FROM generate_series(1, 300000) i"
SET_OPERATIONS = [
    (f"{name}, {'in memory' if memory == '64MB' else 'work_mem ' + memory}", f"SET work_mem = '{memory}'", text)
    for name, text in [
        ("EXCEPT", f"SELECT count(*), sum(n) FROM ({SOME} EXCEPT {OTHERS}) s"),
        ("INTERSECT", f"SELECT count(*), sum(n) FROM ({SOME} INTERSECT {OTHERS}) s"),
        ("UNION", f"SELECT count(*), sum(n) FROM ({SOME} UNION {OTHERS}) s"),
        ("NOT IN", f"SELECT count(*), sum(n) FROM ({SOME}) s WHERE n NOT IN ({OTHERS} WHERE i % 100 = 0)"),
        ("DISTINCT", f"SELECT count(*), sum(n) FROM (SELECT DISTINCT n FROM ({SOME} UNION ALL {OTHERS}) s) t"),
        ("count(DISTINCT)", f"SELECT count(DISTINCT n) FROM ({SOME} UNION ALL {OTHERS}) s"),
    ] for memory in ("64MB", "1MB")
]

SETS = {
    "accounts": (ACCOUNTS_TABLES, ACCOUNTS),
    "statements": (STATEMENTS_TABLES, STATEMENTS),
    "tpch": (TPCH_TABLES, TPCH),
    "writes": ("", WRITES),
    "routines": (ROUTINES_TABLES, ROUTINES),
    "long": (LONG_TABLES, LONG),
    "sets": ("", SET_OPERATIONS),
    "documents": (DOCUMENTS_TABLES, DOCUMENTS),
    "members": (MEMBERS_TABLES, MEMBERS),
}
