#include "sql-lite-frontend/catalog/bootstrap.h"

#include "sql-lite-frontend/catalog/catalog.h"
#include "sql-lite-frontend/catalog/catalog_keys.h"
#include "sql-lite-frontend/catalog/object_codec.h"
#include "sql-lite-frontend/catalog/predefined_roles.h"
#include "sql-lite-frontend/diagnostic.h"
#include "sql-lite-frontend/types/statement_invariant.h"

namespace swizzle::sql {
namespace {

constexpr Oid kTemplateDatabase = 1;

class FirstCatalog {
 public:
  FirstCatalog(Tree& tree, Transaction& transaction) : tree_(tree), transaction_(transaction) {}

  void record(const std::string& key, std::string_view value) {
    value_of(tree_.insert(transaction_, as_bytes(key), as_bytes(value)));
  }
  void name(Oid part, Oid owner, std::string_view text, Oid oid) {
    std::string value;
    append_oid(value, oid);
    record(name_key(part, owner, text), value);
  }
  void schema(Oid database, const Schema& schema) {
    record(object_key(database, RecordKind::schema, schema.oid), encode(schema));
    name(database, static_cast<Oid>(RecordKind::schema), schema.name, schema.oid);
  }
  void database(const DatabaseEntry& entry) {
    record(object_key(kSharedCatalog, RecordKind::database, entry.oid), encode(entry));
    name(kSharedCatalog, static_cast<Oid>(RecordKind::database), entry.name, entry.oid);
  }
  void role(const Role& role) {
    record(object_key(kSharedCatalog, RecordKind::role, role.oid), encode(role));
    name(kSharedCatalog, static_cast<Oid>(RecordKind::role), role.name, role.oid);
  }

 private:
  Tree& tree_;
  Transaction& transaction_;
};

DatabaseEntry new_database(Oid oid, std::string_view name, std::string_view comment) {
  DatabaseEntry entry;
  entry.oid = oid;
  entry.name = name;
  entry.is_template = name.starts_with("template");
  entry.allow_connections = name != "template0";
  entry.comment = comment;
  return entry;
}

}  // namespace

Role first_superuser() {
  Role role;
  role.oid = kBootstrapRole;
  role.name = "postgres";
  role.superuser = role.create_role = role.create_database = role.can_login = true;
  role.replication = role.bypass_rls = true;
  return role;
}

DatabaseEntry first_database() {
  return new_database(kPostgresDatabase, "postgres", "default administrative connection database");
}

std::vector<Schema> first_schemas() {
  return {{kPgCatalogSchema, "pg_catalog", kBootstrapRole, "system catalog schema", {}},
          {kPublicSchema,
           "public",
           kDatabaseOwnerRole,
           "standard public schema",
           {{kDatabaseOwnerRole, kDatabaseOwnerRole, "UC"}, {kNoOid, kDatabaseOwnerRole, "U"}}},
          {kInformationSchema, "information_schema", kBootstrapRole, "", {}}};
}

void write_first_catalog(Engine& engine, Oid database) {
  auto transaction = engine.begin();
  transaction->begin_statement();
  const TreeId id = value_of(engine.create_tree(*transaction));
  STATEMENT_INVARIANT(id == Catalog::kTree);
  Tree tree = value_of(engine.tree(id));
  FirstCatalog first{tree, *transaction};
  std::string counter;
  append_oid(counter, kFirstUserOid);
  first.record(object_key(kSharedCatalog, RecordKind::counter, 0), counter);
  first.role(first_superuser());
  first.database(
      new_database(kTemplateDatabase, "template1", "default template for new databases"));
  first.database(new_database(4, "template0", "unmodifiable empty database"));
  first.database(first_database());
  write_first_schemas(tree, *transaction, database);
  value_of(transaction->commit());
}

void complete_template(Engine& engine, Tree& tree) {
  auto transaction = engine.begin();
  transaction->begin_statement();
  const std::string key = object_key(kTemplateDatabase, RecordKind::schema, kPgCatalogSchema);
  ValueBuffer ignored;
  if (value_of(tree.get(*transaction, as_bytes(key), ignored))) return;
  write_first_schemas(tree, *transaction, kTemplateDatabase);
  value_of(transaction->commit());
}

void write_first_schemas(Tree& tree, Transaction& transaction, Oid database) {
  FirstCatalog first{tree, transaction};
  for (const Schema& schema : first_schemas()) first.schema(database, schema);
  first.record(object_key(database, RecordKind::reference, kNoOid), {});
}

}  // namespace swizzle::sql
