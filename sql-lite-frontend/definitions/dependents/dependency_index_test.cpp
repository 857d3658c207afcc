// The catalog's dependency index compared with a search through all definitions.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "base/random.h"
#include "sql-lite-frontend/catalog/catalogs.h"
#include "sql-lite-frontend/catalog/class_id.h"
#include "sql-lite-frontend/session/shared/database_shared.h"
#include "sql-lite-frontend/session/tests/test_database.h"
#include "sql-lite-frontend/types/builtin.h"
#include "sql-lite-frontend/types/user_types.h"

using namespace swizzle;
using namespace swizzle::sql;

namespace {

template <class Object>
Oid number_in(const Object& object) {
  if constexpr (std::is_same_v<Object, Table>) {
    return object.relation.oid;
  } else {
    return object.oid;
  }
}

/// Compares the index with a search through all objects of a kind, for every number that occurs.
template <class Object>
void compare(const CatalogView& view, const std::vector<CheckedShared<const Object>>& all,
             const std::set<Oid>& numbers) {
  std::map<Oid, std::vector<Oid>> wanted;
  for (const auto& object : all) {
    for (const Oid named : dependency_keys(*object)) wanted[named].push_back(number_in(*object));
  }
  for (const Oid number : numbers) {
    std::vector<Oid> found;
    for (const auto& object : view.naming<Object>({number})) found.push_back(number_in(*object));
    CAPTURE(number, kKindOf<Object>);
    REQUIRE(found == wanted[number]);
  }
}

template <class Object>
void add_numbers(const std::vector<CheckedShared<const Object>>& all, std::set<Oid>& numbers) {
  for (const auto& object : all) {
    numbers.insert(number_in(*object));
    for (const Oid named : dependency_keys(*object)) numbers.insert(named);
  }
}

void compare_all(const CatalogView& view) {
  std::set<Oid> numbers;
  const auto for_each_kind = [&](const auto& visit) {
    visit(view.tables());
    visit(view.schemas());
    visit(view.types());
    visit(view.routines());
    visit(view.all_made<UserOperator>());
    visit(view.all_made<UserCast>());
    visit(view.all_made<UserCollation>());
    visit(view.all_made<UserTextDictionary>());
    visit(view.all_made<UserTextConfig>());
    visit(view.all_made<Publication>());
  };
  for_each_kind([&]<class Object>(const std::vector<CheckedShared<const Object>>& all) {
    add_numbers<Object>(all, numbers);
  });
  for_each_kind([&]<class Object>(const std::vector<CheckedShared<const Object>>& all) {
    compare<Object>(view, all, numbers);
  });
}

/// Returns the numbers of the objects of all kinds that refer to `named`.
std::set<Oid> namers_of(const CatalogView& view, Oid named) {
  std::set<Oid> found;
  const auto add = [&](const auto& objects) {
    for (const auto& object : objects) found.insert(number_in(*object));
  };
  add(view.naming<Table>({named}));
  add(view.naming<UserType>({named}));
  add(view.naming<Routine>({named}));
  add(view.naming<UserOperator>({named}));
  add(view.naming<UserCast>({named}));
  add(view.naming<UserTextConfig>({named}));
  add(view.naming<UserTextDictionary>({named}));
  add(view.naming<UserCollation>({named}));
  add(view.naming<Publication>({named}));
  return found;
}

/// Returns the object whose record contains the object of pg_depend: the whole of which it is a
/// part. None for built-in objects.
Oid whole_of(const CatalogView& view, Oid catalog, Oid object) {
  if (catalog == class_id::pg_type) {
    const TypeId plain = without_array(TypeId{object});
    return view.type(raw(plain)) ? raw(plain)
           : is_composite(plain) ? raw(plain) - kFirstComposite
                                 : kNoOid;
  }
  if (catalog == class_id::pg_class || catalog == class_id::pg_rewrite) {
    if (view.table(object)) return object;
    if (const TablePtr table = view.table_with_index(object)) return table->relation.oid;
    const auto composite = view.naming<UserType>({object});
    return composite.empty() ? kNoOid : composite[0]->oid;
  }
  if (catalog == class_id::pg_attrdef) {
    for (Oid number = object - 1; number != kNoOid && number + 40 > object; --number) {
      const TablePtr table = view.table(number);
      const std::size_t position = object - number - 1;
      if (!table || position >= table->relation.columns.size()) continue;
      const Column& column = table->relation.columns[position];
      if (!column.dropped && !column.default_sql.empty() && column.identity == 0) return number;
    }
    return kNoOid;
  }
  const bool is_part = catalog == class_id::pg_constraint || catalog == class_id::pg_trigger ||
                       catalog == class_id::pg_policy;
  const bool is_of_its_own = catalog == class_id::pg_proc || catalog == class_id::pg_operator ||
                             catalog == class_id::pg_cast || catalog == class_id::pg_namespace ||
                             catalog == class_id::pg_collation ||
                             catalog == class_id::pg_ts_config || catalog == class_id::pg_ts_dict;
  if (!is_part) return is_of_its_own ? object : kNoOid;
  if (const auto tables = view.naming<Table>({object}); !tables.empty())
    return tables[0]->relation.oid;
  const auto types = view.naming<UserType>({object});
  return types.empty() ? kNoOid : types[0]->oid;
}

/// Generates random definitions over a few names, half of which fail.
class Definitions {
 public:
  explicit Definitions(Random& random) : random_(random) {}

  std::string next() {
    const std::string a = any("t");
    const std::string b = any("t");
    const std::string f = any("f");
    const std::string y = any("y");
    const std::string d = any("d");
    const std::string v = any("v");
    const std::string s = any("s");
    const std::vector<std::string> texts{
        fmt::format("CREATE TABLE {}(id int PRIMARY KEY, a int DEFAULT {}(1), b text)", a, f),
        fmt::format("CREATE TABLE {}(id serial PRIMARY KEY, a int REFERENCES {})", a, b),
        fmt::format("CREATE TABLE {}(id int UNIQUE, a {}, b {}[])", a, y, d),
        fmt::format("CREATE TABLE {}(id int, a int GENERATED ALWAYS AS ({}(id)) STORED, b text "
                    "COLLATE k)",
                    a, f),
        fmt::format("CREATE TABLE {}(id int, a int, b text) PARTITION BY RANGE (id)", a),
        fmt::format("CREATE TABLE {} PARTITION OF {} FOR VALUES FROM ({}) TO (100)", a, b,
                    random_.below(100)),
        fmt::format("CREATE TEMP TABLE {}(id int PRIMARY KEY, a {})", a, y),
        fmt::format("ALTER TABLE {} ADD COLUMN c{} {}", a, random_.below(3), y),
        fmt::format("ALTER TABLE {} DROP COLUMN a CASCADE", a),
        fmt::format("ALTER TABLE {} ADD CONSTRAINT c{} CHECK ({}(a) > 0)", a, random_.below(3), f),
        fmt::format("ALTER TABLE {} ADD FOREIGN KEY (a) REFERENCES {}", a, b),
        fmt::format("ALTER TABLE {} DROP CONSTRAINT c{}", a, random_.below(3)),
        fmt::format("ALTER TABLE {} ALTER COLUMN a SET DEFAULT nextval('{}')", a, s),
        fmt::format("ALTER TABLE {} RENAME TO {}", a, b),
        fmt::format("ALTER TABLE {} SET SCHEMA n", a),
        fmt::format("ALTER TABLE {} OWNER TO r", a),
        fmt::format("GRANT SELECT ON {} TO r", a),
        fmt::format("REVOKE ALL ON {} FROM r", a),
        fmt::format("COMMENT ON TABLE {} IS 'note'", a),
        fmt::format("CREATE INDEX ON {} (({}(a)))", a, f),
        fmt::format("CREATE INDEX i{} ON {} (b COLLATE k)", random_.below(3), a),
        fmt::format("DROP INDEX i{}", random_.below(3)),
        fmt::format(
            "CREATE TRIGGER g BEFORE INSERT ON {} FOR EACH ROW WHEN ({}(new.a) > 1) EXECUTE "
            "FUNCTION tf()",
            a, f),
        fmt::format("DROP TRIGGER g ON {}", a),
        fmt::format(
            "CREATE POLICY p ON {} TO r USING (EXISTS (SELECT FROM {} x WHERE x.a = {}(1)))", a, b,
            f),
        fmt::format("DROP POLICY p ON {}", a),
        fmt::format("CREATE OR REPLACE VIEW {} AS SELECT {}(a) a, 1 AS id FROM {}", v, f, a),
        fmt::format("CREATE OR REPLACE VIEW {} AS SELECT a, id FROM {}", v, any("v")),
        fmt::format("CREATE MATERIALIZED VIEW m AS SELECT x, '{}'::regclass FROM {} x", a, b),
        fmt::format("CREATE FUNCTION {}(int) RETURNS int IMMUTABLE LANGUAGE sql AS 'SELECT $1'", f),
        fmt::format("CREATE FUNCTION {}(int) RETURNS int IMMUTABLE RETURN (SELECT max(id) FROM {})",
                    f, a),
        fmt::format("CREATE FUNCTION h({}) RETURNS {} LANGUAGE sql AS 'SELECT NULL'", y, a),
        fmt::format("CREATE FUNCTION e(int DEFAULT {}(1)) RETURNS int LANGUAGE sql AS 'SELECT $1'",
                    f),
        fmt::format("CREATE AGGREGATE g(int) (sfunc = {}, stype = {})", f, y),
        fmt::format("CREATE OPERATOR ~~~ (rightarg = int, function = {})", f),
        fmt::format("CREATE CAST ({} AS int) WITH INOUT", y),
        fmt::format("CREATE TYPE {} AS ENUM ('a', 'b')", y),
        fmt::format("CREATE TYPE {} AS (a int, b {})", y, d),
        fmt::format("CREATE TYPE {} AS RANGE (subtype = {})", y, d),
        fmt::format("CREATE DOMAIN {} AS {} CHECK (VALUE IS NOT NULL)", d, y),
        fmt::format("CREATE DOMAIN {} AS int DEFAULT {}(1) CHECK ({}(VALUE) > 0)", d, f, f),
        fmt::format("CREATE DOMAIN {} AS text COLLATE k", d),
        fmt::format("ALTER DOMAIN {} ADD CONSTRAINT dc CHECK ({}(1) > 0)", d, f),
        fmt::format("ALTER TYPE {} ADD ATTRIBUTE c {}", y, d),
        fmt::format("CREATE SEQUENCE {}", s),
        fmt::format("ALTER SEQUENCE {} OWNED BY {}.id", s, a),
        fmt::format("CREATE PUBLICATION o FOR TABLE {} WHERE (a > 1)", a),
        "ALTER PUBLICATION o SET TABLES IN SCHEMA n",
        "CREATE COLLATION k (provider = icu, locale = 'de')",
        "CREATE TEXT SEARCH CONFIGURATION q (copy = simple)",
        "CREATE SCHEMA n",
        fmt::format("DROP TABLE {}", a),
        fmt::format("DROP TABLE {} CASCADE", a),
        fmt::format("DROP VIEW {} CASCADE", v),
        "DROP MATERIALIZED VIEW m",
        fmt::format("DROP FUNCTION {} CASCADE", f),
        fmt::format("DROP TYPE {} CASCADE", y),
        fmt::format("DROP DOMAIN {} CASCADE", d),
        fmt::format("DROP SEQUENCE {} CASCADE", s),
        "DROP COLLATION k CASCADE",
        "DROP SCHEMA n CASCADE",
        "DROP OWNED BY r",
        "DROP PUBLICATION o",
        "BEGIN",
        "SAVEPOINT one",
        "ROLLBACK TO one",
        "ROLLBACK",
        "COMMIT",
    };
    return texts[random_.below(texts.size())];
  }

 private:
  std::string any(std::string_view kind) { return fmt::format("{}{}", kind, random_.below(4)); }

  Random& random_;
};

constexpr Oid kDatabase = kPostgresDatabase;

}  // namespace

TEST_CASE("The index of dependencies finds what a search through all definitions finds",
          "[sql][catalog][dependents]") {
  const auto seed = static_cast<std::uint64_t>(GENERATE(1, 2, 3));
  CAPTURE(seed);
  Random random{seed};
  TestDatabase db;
  db.run("CREATE ROLE r");
  db.run("CREATE FUNCTION tf() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN new; END'");
  Definitions definitions{random};
  std::string recent;
  for (int step = 1; step <= 1200; ++step) {
    const std::string sql = definitions.next();
    recent += fmt::format("{}: {}\n", sql, db.run(sql).substr(0, 60));
    if (step % 60 != 0) continue;
    db.run("COMMIT");
    if (step % 300 == 0) {
      db.close();
      db.open();
    }
    INFO(recent);
    recent.clear();
    const Catalogs::Use use{*db.database().shared().catalogs, kDatabase};
    const CatalogView view{use.catalog()};
    compare_all(view);
    // The index has each dependency that pg_depend derives from the definitions.
    for (const std::string& row :
         db.rows("SELECT classid::oid, objid, refclassid::oid, refobjid FROM pg_depend WHERE "
                 "refobjid >= 16384")) {
      Oid numbers[4] = {};
      std::size_t at = 0;
      for (Oid& number : numbers) {
        number = static_cast<Oid>(std::stoul(row.substr(at)));
        at = row.find('|', at) + 1;
      }
      const Oid by = whole_of(view, numbers[0], numbers[1]);
      const Oid of = whole_of(view, numbers[2], numbers[3]);
      // A part of the object itself, or an object without a record.
      if (by == kNoOid || of == kNoOid || by == of) continue;
      INFO(row);
      const std::set<Oid> namers = namers_of(view, of);
      const bool is_found = namers.contains(by) || namers_of(view, numbers[3]).contains(by);
      const bool is_of_rows = namers_of(view, raw(row_type_of_relation(of))).contains(by);
      CHECK((is_found || is_of_rows));
    }
  }
}

TEST_CASE("A system catalog read by key gives the rows of a whole reading",
          "[sql][catalog][dependents]") {
  constexpr std::pair<std::string_view, std::string_view> kKeys[] = {
      {"pg_class", "oid"},
      {"pg_class", "relname"},
      {"pg_attribute", "attrelid"},
      {"pg_type", "oid"},
      {"pg_type", "typname"},
      {"pg_type", "typrelid"},
      {"pg_enum", "enumtypid"},
      {"pg_index", "indexrelid"},
      {"pg_index", "indrelid"},
      {"pg_constraint", "oid"},
      {"pg_constraint", "conrelid"},
      {"pg_constraint", "contypid"},
      {"pg_constraint", "confrelid"},
      {"pg_trigger", "oid"},
      {"pg_trigger", "tgrelid"},

      {"pg_inherits", "inhrelid"},
      {"pg_inherits", "inhparent"},
      {"pg_policy", "oid"},
      {"pg_policy", "polrelid"},
      {"pg_attrdef", "adrelid"},
      {"pg_description", "objoid"},
      {"pg_sequence", "seqrelid"},
      {"pg_depend", "objid"},
      {"pg_depend", "refobjid"},
      {"pg_rewrite", "oid"},
      {"pg_rewrite", "ev_class"},
      {"pg_partitioned_table", "partrelid"}};
  const auto seed = static_cast<std::uint64_t>(GENERATE(11, 12));
  CAPTURE(seed);
  Random random{seed};
  TestDatabase db;
  db.run("CREATE ROLE r");
  db.run("CREATE FUNCTION tf() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN new; END'");
  Definitions definitions{random};
  for (int step = 1; step <= 600; ++step) {
    db.run(definitions.next());
    if (step % 120 != 0) continue;
    // In an open transaction every other time.
    if (step % 240 == 0) db.run("COMMIT");
    if (db.run("SELECT 1") != "1 SELECT 1") db.run("ROLLBACK");
    for (const auto& [relation, column] : kKeys) {
      std::map<std::string, std::vector<std::string>> by_key;
      const std::string select = fmt::format("SELECT {}, x.* FROM {} x", column, relation);
      for (const std::string& row : db.sorted_rows(select)) {
        by_key[row.substr(0, row.find('|'))].push_back(row);
      }
      by_key.try_emplace("4321");
      std::vector<std::string> keys;
      for (const auto& [key, rows] : by_key) {
        // User-defined objects, and a few others.
        const bool is_number = key.size() >= 5 && key[0] >= '1' && key[0] <= '9';
        const bool is_users = is_number || (!key.empty() && key.size() <= 3);
        if (is_users || random.below(40) == 0) keys.push_back(key);
      }
      for (int i = 0; i < 12 && !keys.empty(); ++i) {
        const std::string& key = keys[random.below(keys.size())];
        INFO(select << ": " << key);
        CHECK(db.sorted_rows(fmt::format("{} WHERE {} = '{}'", select, column, key)) ==
              by_key[key]);
      }
    }
  }
}

TEST_CASE("A transaction's own definitions are in the index of dependencies, until it is undone",
          "[sql][catalog][dependents]") {
  const auto seed = static_cast<std::uint64_t>(GENERATE(1, 2, 3));
  CAPTURE(seed);
  Random random{seed};
  TestDatabase db;
  const Catalogs::Use use{*db.database().shared().catalogs, kDatabase};
  CatalogView view{use.catalog()};
  auto transaction = db.engine().begin();
  std::vector<std::pair<std::size_t, Transaction::Mark>> marks;
  int made = 0;
  const auto any_of = [&](const auto& all) { return all[random.below(all.size())]; };
  const auto random_names = [&](std::vector<ViewName>& names) {
    names.clear();
    const auto tables = view.tables();
    for (std::uint64_t i = random.below(4); i != 0 && !tables.empty(); --i)
      names.emplace_back().relation = any_of(tables)->relation.oid;
  };
  for (int step = 0; step < 400; ++step) {
    transaction->begin_statement();
    const auto tables = view.tables();
    const auto routines = view.routines();
    const std::uint64_t what = random.below(12);
    if (what < 3) {
      Relation relation;
      relation.oid = view.allocate_oid();
      relation.schema = kPublicSchema;
      relation.name = fmt::format("v{}", ++made);
      relation.kind = RelationKind::view;
      if (random.below(4) == 0) relation.persistence = Persistence::temporary;
      random_names(relation.view_names);
      view.create(*transaction, relation);
    } else if (what < 5 && !tables.empty()) {
      const TablePtr table = view.lock_for_change(*transaction, any_of(tables));
      Relation relation = table->relation;
      random_names(relation.view_names);
      std::erase_if(relation.view_names,
                    [&](const ViewName& name) { return name.relation == relation.oid; });
      view.replace(*transaction, *table, relation);
    } else if (what == 5 && !tables.empty()) {
      view.remove(*transaction, *view.lock_for_change(*transaction, any_of(tables)));
    } else if (what == 6) {
      Routine routine;
      routine.oid = view.allocate_oid();
      routine.schema = kPublicSchema;
      routine.name = fmt::format("f{}", random.below(3));
      routine.parameters.resize(static_cast<std::size_t>(++made));
      random_names(routine.body_names);
      view.create(*transaction, routine);
    } else if (what == 7 && !routines.empty()) {
      view.remove(*transaction, *any_of(routines));
    } else if (what == 8) {
      marks.emplace_back(view.mark(), transaction->mark());
    } else if (what == 9 && !marks.empty()) {
      view.rollback_to(marks.back().first);
      REQUIRE(transaction->rollback_to(marks.back().second));
      marks.pop_back();
    } else if (what == 10) {
      const bool commits = random.below(3) != 0;
      if (commits) REQUIRE(transaction->commit());
      commits ? view.commit() : view.rollback();
      if (!commits) transaction->rollback();
      marks.clear();
      transaction = db.engine().begin();
    }
    compare_all(view);
    for (int i = 0; i < 3; ++i) {
      const std::string name = fmt::format("f{}", i);
      std::vector<RoutinePtr> wanted = view.routines();
      std::erase_if(wanted, [&](const RoutinePtr& one) { return one->name != name; });
      std::vector<RoutinePtr> found = view.routines_named(name);
      std::ranges::sort(found, {}, [](const RoutinePtr& one) { return one->oid; });
      REQUIRE(found == wanted);
    }
  }
  transaction->rollback();
}
