#include "sql-lite-frontend/definitions/databases/databases.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/encodings/encoding.h"
#include "sql-lite-frontend/catalog/bootstrap.h"
#include "sql-lite-frontend/catalog/catalog_keys.h"
#include "sql-lite-frontend/catalog/large_objects.h"
#include "sql-lite-frontend/catalog/object_codec.h"
#include "sql-lite-frontend/catalog/subscriptions.h"
#include "sql-lite-frontend/definitions/databases/database_locale.h"
#include "sql-lite-frontend/definitions/statements.h"
#include "sql-lite-frontend/definitions/tables/notice_missing.h"
#include "sql-lite-frontend/statement/statement_context.h"
#include "sql-lite-frontend/statement/transactions/two_phase_note.h"
#include "storage/held_view.h"

/// CREATE, ALTER and DROP DATABASE.
namespace swizzle::sql {
namespace {

constexpr SqlState kUndefinedDatabase{"3D000"};

std::string text_of(const ast::DefElem& option) {
  if (const auto* string = ast::try_as<ast::String>(option.arg)) return std::string{string->sval};
  if (const auto* integer = ast::try_as<ast::Integer>(option.arg)) {
    return std::to_string(integer->ival);
  }
  // The grammar gives TEMPLATE name and some other options as a type name.
  if (const auto* name = ast::try_as<ast::TypeName>(option.arg)) {
    return std::string{ast::string_of(name->names.back())};
  }
  throw_error(sqlstate::syntax_error, "{} requires a parameter", option.defname);
}

bool flag_of(const ast::DefElem& option) {
  if (const auto* boolean = ast::try_as<ast::Boolean>(option.arg)) return boolean->boolval;
  if (const auto* integer = ast::try_as<ast::Integer>(option.arg)) return integer->ival != 0;
  const std::string text = text_of(option);
  if (text == "true" || text == "on") return true;
  if (text == "false" || text == "off") return false;
  throw_error(sqlstate::syntax_error, "{} requires a Boolean value", option.defname);
}

/// Refuses an encoding other than UTF8.
void check_encoding(const ast::DefElem& option) {
  const auto* number = ast::try_as<ast::Integer>(option.arg);
  const std::string value = text_of(option);
  const auto encoding =
      number != nullptr ? find_encoding(std::int64_t{number->ival}) : find_encoding(value);
  // PostgreSQL has the last ones for clients only.
  if (!encoding || *encoding >= Encoding::sjis) {
    throw sql_error(sqlstate::undefined_object, "{} is not a valid encoding {}", value,
                    number != nullptr ? "code" : "name")
        .at_position(option.location + 1);
  }
  if (*encoding == Encoding::utf8) return;
  throw sql_error(sqlstate::feature_not_supported, "the database encoding {} is not supported",
                  encoding_name(*encoding))
      .with_hint("Databases have the encoding UTF8; clients may have others (client_encoding).");
}

/// Refuses options about characters other than UTF-8 with bytewise order.
void check_characters(const ast::DefElem& option) {
  const std::string value = text_of(option);
  if (option.defname == "encoding") return check_encoding(option);
  if (value == "C" || value == "POSIX" || value == "C.UTF-8" || value == "C.utf8") return;
  throw sql_error(sqlstate::feature_not_supported, "the locale \"{}\" is not supported", value)
      .with_hint("Strings are ordered by their bytes: use the locale \"C\".");
}

/// Applies an option that CREATE and ALTER DATABASE share; returns false for others.
bool apply_common_option(DatabaseEntry& entry, const ast::DefElem& option) {
  if (option.defname == "connection_limit") {
    entry.connection_limit = ast::as<ast::Integer>(option.arg).ival;
  } else if (option.defname == "is_template") {
    entry.is_template = flag_of(option);
  } else if (option.defname == "allow_connections") {
    entry.allow_connections = flag_of(option);
  } else if (option.defname == "tablespace") {
    if (option.arg != nullptr && text_of(option) != "pg_default") {
      throw_error(sqlstate::undefined_object, "tablespace \"{}\" does not exist", text_of(option));
    }
  } else {
    return false;
  }
  return true;
}

/// Refuses a template with objects: these would have to be copied.
void require_empty(StatementContext& session, const DatabaseEntry& source) {
  const Catalogs::Use use{*session.shared.catalogs, source.oid};
  constexpr std::size_t kSystemSchemas = 3;
  // Reads all relations: there must be none.
  const LargeObjects large{session.shared.engine, use.catalog(),
                           [&session] { session.check_cancelled(); }};
  const bool has_objects = !use.catalog().tables().empty() || !use.catalog().types().empty() ||
                           !large.all(*session.transaction).empty();
  if (!has_objects && use.catalog().schemas().size() <= kSystemSchemas) return;
  throw_error(sqlstate::feature_not_supported,
              "copying the objects of template database \"{}\" is not supported", source.name);
}

/// Allocates the database's number. The number of its collation is derived from it.
Oid allocate_database(StatementContext& session, const DatabaseEntry& entry) {
  const Oid number = session.catalog.allocate_oid();
  if (entry.icu_locale && number >= kCollations - collation_id::first_of_database)
    throw SqlError{sqlstate::program_limit_exceeded, "there are no numbers left for collations"};
  return number;
}

void refuse_repeated(ast::NodeList options) {
  for (std::size_t i = 0; i < options.size(); ++i) {
    const auto& option = ast::as<ast::DefElem>(options[i]);
    for (std::size_t before = 0; before < i; ++before) {
      if (ast::as<ast::DefElem>(options[before]).defname != option.defname) continue;
      throw SqlError{sqlstate::syntax_error, "conflicting or redundant options"}.at_position(
          option.location + 1);
    }
  }
}

[[noreturn]] void refuse_in_use(std::string_view name, std::size_t users, std::size_t prepared) {
  const auto counted = [](std::size_t count, std::string_view noun) {
    return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
  };
  std::string detail =
      fmt::format("There {} ", (users != 0 ? users : prepared) == 1 ? "is" : "are");
  if (users != 0 && prepared != 0) {
    // PostgreSQL's message, which has no plural forms here.
    detail = fmt::format("There are {} other session(s) and {} prepared transaction(s)", users,
                         prepared);
  } else {
    detail +=
        users != 0 ? counted(users, "other session") : counted(prepared, "prepared transaction");
  }
  throw sql_error(sqlstate::object_in_use, "database \"{}\" is being accessed by other users", name)
      .with_detail(detail + " using the database.");
}

/// DROP DATABASE … WITH (FORCE): makes the other sessions end, but no prepared transaction.
void end_users(StatementContext& session, const DatabaseEntry& database) {
  const std::size_t prepared = count_prepared_in(session.shared.engine, database.oid);
  if (prepared != 0) {
    throw sql_error(sqlstate::object_in_use,
                    "database \"{}\" is being used by prepared transactions", database.name)
        .with_detail(fmt::format("There {} {} prepared transaction{} using the database.",
                                 prepared == 1 ? "is" : "are", prepared, prepared == 1 ? "" : "s"));
  }
  session.shared.end_sessions_of(session, database.oid);
}

enum class Users : std::uint8_t { are_waited_for, are_ended };

/// Throws 55006 if the database has subscriptions: their publishers keep slots for them.
void refuse_subscribed(StatementContext& session, const DatabaseEntry& database) {
  const Catalogs::Use use{*session.shared.catalogs, database.oid};
  const std::size_t count = read_subscriptions(use.catalog(), *session.transaction).size();
  if (count == 0) return;
  throw sql_error(sqlstate::object_in_use,
                  "database \"{}\" is being used by logical replication subscription",
                  database.name)
      .with_detail(count == 1 ? "There is 1 subscription."
                              : fmt::format("There are {} subscriptions.", count));
}

/// Closes the database to new sessions. While it is in use, tries again as long as PostgreSQL does,
/// then throws 55006. Between two attempts, other sessions may connect.
std::unique_ptr<Catalogs::Closing> close_database(StatementContext& session,
                                                  const DatabaseEntry& database,
                                                  Users users_of_it = Users::are_waited_for) {
  constexpr int kMostLooks = 50;
  constexpr Duration kLooksEvery = std::chrono::milliseconds{100};
  Runtime& runtime = Runtime::current();
  for (int look = 1;; ++look) {
    if (users_of_it == Users::are_ended) end_users(session, database);
    auto closing = std::make_unique<Catalogs::Closing>(*session.shared.catalogs, database.oid);
    const std::size_t users = closing->users();
    // Prepared transactions of the database are still open.
    const std::size_t prepared = count_prepared_in(session.shared.engine, database.oid);
    if (users == 0 && prepared == 0) return closing;
    closing.reset();
    if (look == kMostLooks) refuse_in_use(database.name, users, prepared);
    runtime.sleep_until(runtime.now() + kLooksEvery);
    session.check_cancelled();
  }
}

/// Removes a database's records, and the trees and statistics of its relations.
void remove_contents(ServerContext& shared, Tree tree, Transaction& transaction, Oid database) {
  std::string low;
  append_oid(low, database);
  const std::string high = key_successor(low);
  std::vector<std::string> keys;
  std::vector<TreeId> trees;
  {
    ScanRange range;
    range.low = as_bytes(low);
    range.high = as_bytes(high);
    Cursor cursor = value_of(tree.scan(transaction, range));
    while (value_of(cursor.next())) {
      keys.emplace_back(as_text(cursor.key()));
      const auto kind = static_cast<RecordKind>(cursor.key()[sizeof(Oid)]);
      if (kind == RecordKind::large_object_tree && cursor.value().size() == sizeof(Oid))
        trees.push_back(TreeId{load_big_endian<Oid>(cursor.value().data())});
      if (kind != RecordKind::relation && kind != RecordKind::temporary) continue;
      const auto relation = decode<Relation>(cursor.value());
      if (relation.sequence) shared.sequences.forget(position_of(relation));
      if (!keeps_rows(relation.kind)) continue;
      shared.statistics->remove(transaction, relation.oid);
      trees.push_back(relation.tree);
      for (const Index& index : relation.indexes) {
        if (!index.orders_rows()) trees.push_back(index.tree);
      }
    }
  }
  for (const std::string& key : keys) value_of(tree.remove(transaction, as_bytes(key)));
  for (const TreeId id : trees) value_of(shared.engine.drop_tree(transaction, id));
}

}  // namespace

DatabasePtr database_named(StatementContext& session, std::string_view name) {
  DatabasePtr database = session.catalog.database(name);
  if (!database) throw_error(kUndefinedDatabase, "database \"{}\" does not exist", name);
  return database;
}

void create_database(StatementContext& session, const ast::CreatedbStmt& statement) {
  session.rights.require_role_right(&Role::create_database, "create database");
  DatabaseEntry entry;
  entry.name = statement.dbname;
  entry.owner = session.user;
  std::string source = "template1";
  LocaleOptions locale;
  refuse_repeated(statement.options);
  for (const ast::Node* node : statement.options) {
    const auto& option = ast::as<ast::DefElem>(node);
    const std::string_view name = option.defname;
    // DEFAULT is an option without a value.
    if (apply_common_option(entry, option) || option.arg == nullptr) continue;
    if (name == "owner") {
      const std::string role_name = text_of(option);
      const RolePtr role = session.catalog.role(role_name);
      if (!role) throw_error(sqlstate::undefined_object, "role \"{}\" does not exist", role_name);
      session.rights.require_set_role(*role);
      entry.owner = role->oid;
    } else if (name == "template") {
      source = text_of(option);
    } else if (name == "encoding" || name == "locale" || name == "lc_collate" ||
               name == "lc_ctype") {
      check_characters(option);
    } else if (locale.take(option, text_of(option))) {
      continue;
    } else if (name != "strategy") {
      throw_error(sqlstate::feature_not_supported, "the database option {} is not supported", name);
    }
  }
  const DatabasePtr like = session.catalog.database(source);
  if (!like) throw_error(kUndefinedDatabase, "template database \"{}\" does not exist", source);
  if (!like->is_template && !session.rights.owns(like->owner)) {
    throw_error(sqlstate::insufficient_privilege, "permission denied to copy database \"{}\"",
                like->name);
  }
  locale.apply(entry, *like);
  if (session.catalog.database(entry.name)) {
    throw_error(sqlstate::duplicate_database, "database \"{}\" already exists", entry.name);
  }
  require_empty(session, *like);
  entry.oid = allocate_database(session, entry);
  Tree tree = session.catalog.of_database().tree();
  write_first_schemas(tree, *session.transaction, entry.oid);
  session.catalog.create(*session.transaction, std::move(entry));
}

/// Commits: the statement is refused in a transaction block, so nothing else is in the transaction.
void drop_database(StatementContext& session, const ast::DropdbStmt& statement, ResultSink& sink) {
  Users users = Users::are_waited_for;
  for (const ast::Node* node : statement.options) {
    const auto& option = ast::as<ast::DefElem>(node);
    if (option.defname != "force") {
      throw sql_error(sqlstate::syntax_error, "unrecognized DROP DATABASE option \"{}\"",
                      option.defname)
          .at_position(option.location + 1);
    }
    users = Users::are_ended;
  }
  const std::string name{statement.dbname};
  if (statement.missing_ok && !session.catalog.database(name)) {
    notice_missing(session, sink, fmt::format("database \"{}\"", name));
    return;
  }
  const DatabasePtr database = database_named(session, name);
  session.rights.require_owner(*database);
  if (database->is_template) {
    throw SqlError{sqlstate::wrong_object_type, "cannot drop a template database"};
  }
  if (database->oid == session.catalog.of_database().database()) {
    throw SqlError{sqlstate::object_in_use, "cannot drop the currently open database"};
  }
  refuse_subscribed(session, *database);
  // Locks the record, which may wait for others that change it; sessions can still connect
  // meanwhile.
  session.catalog.remove(*session.transaction, *database);
  const auto closing = close_database(session, *database, users);
  {
    // Includes objects that were created while sessions were waited for.
    const InnerStatement now{*session.transaction, ReadView::Sees::latest};
    remove_contents(session.shared, session.catalog.of_database().tree(), *session.transaction,
                    database->oid);
  }
  // No session enters before the commit.
  session.transaction.commit();
  closing->forget();
  session.shared.database_dropped(database->oid);
  session.transaction.begin(StatementTransaction::Block::implicit);
}

void alter_database(StatementContext& session, const ast::AlterDatabaseStmt& statement) {
  const DatabasePtr database = database_named(session, statement.dbname);
  session.rights.require_owner(*database);
  DatabaseEntry changed = *database;
  for (const ast::Node* node : statement.options) {
    const auto& option = ast::as<ast::DefElem>(node);
    if (apply_common_option(changed, option)) continue;
    throw_error(sqlstate::feature_not_supported, "the database option {} is not supported",
                option.defname);
  }
  session.catalog.replace(*session.transaction, *database, std::move(changed));
}

void rename_database(StatementContext& session, std::string_view name,
                     const std::string& new_name) {
  const DatabasePtr database = database_named(session, name);
  session.rights.require_owner(*database);
  session.rights.require_role_right(&Role::create_database, "rename database");
  if (session.catalog.database(new_name)) {
    throw_error(sqlstate::duplicate_database, "database \"{}\" already exists", new_name);
  }
  if (database->oid == session.catalog.of_database().database()) {
    throw SqlError{sqlstate::feature_not_supported, "current database cannot be renamed"};
  }
  DatabaseEntry changed = *database;
  changed.name = new_name;
  session.catalog.replace(*session.transaction, *database, std::move(changed));
  const auto closing = close_database(session, *database);
}

void own_database(StatementContext& session, std::string_view name, const Role& new_owner) {
  const DatabasePtr database = database_named(session, name);
  if (database->owner == new_owner.oid) return;
  session.rights.require_owner(*database);
  session.rights.require_set_role(new_owner);
  session.rights.require_role_right(&Role::create_database, "change owner of database");
  DatabaseEntry changed = *database;
  changed.owner = new_owner.oid;
  if (!changed.grants.empty()) {
    AccessList list{changed.grants, database->owner, GrantedOn::database};
    list.change_owner(new_owner.oid);
    changed.grants = list.grants();
  }
  session.catalog.replace(*session.transaction, *database, std::move(changed));
}

}  // namespace swizzle::sql
