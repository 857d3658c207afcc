#include <fmt/format.h>

#include <algorithm>

#include "sql-lite-frontend/catalog/computed.h"
#include "sql-lite-frontend/catalog/facts.h"
#include "sql-lite-frontend/execution/write/transition_tables.h"
#include "sql-lite-frontend/statement/names/domains.h"
#include "sql-lite-frontend/statement/names/procedure_names.h"
#include "sql-lite-frontend/statement/names/relation_names.h"
#include "sql-lite-frontend/statement/statement_context.h"
#include "sql-lite-frontend/types/built_in.h"
#include "sql-lite-frontend/types/builtin.h"
#include "sql-lite-frontend/types/text/identifiers.h"

namespace swizzle::sql {
namespace {

/// Splits a search_path setting into names; unquoted ones are folded to lower case.
std::vector<std::string> path_names(std::string_view path) {
  std::vector<std::string> names;
  std::size_t at = 0;
  while (at < path.size()) {
    while (at < path.size() && (path[at] == ' ' || path[at] == ',')) ++at;
    if (at >= path.size()) break;
    std::string name;
    if (path[at] == '"') {
      for (++at; at < path.size(); ++at) {
        if (path[at] == '"') {
          // A doubled quote is part of the name.
          ++at;
          if (at >= path.size() || path[at] != '"') break;
        }
        name += path[at];
      }
    } else {
      for (; at < path.size() && path[at] != ','; ++at) {
        name += static_cast<char>(std::tolower(static_cast<unsigned char>(path[at])));
      }
      while (!name.empty() && name.back() == ' ') name.pop_back();
    }
    names.push_back(std::move(name));
  }
  return names;
}

/// True for the columns of pg_subscription, which is not readable as a whole: all but the one with
/// passwords.
bool is_readable_column(std::string_view relation, std::string_view column) {
  return relation == "pg_subscription" && column != "subconninfo";
}

/// Returns a computed relation as a table; all are created at the first call.
TablePtr computed_table(Oid schema, std::string_view name) {
  static const std::map<std::pair<Oid, std::string>, TablePtr, std::less<>> kTables = [] {
    std::map<std::pair<Oid, std::string>, TablePtr, std::less<>> tables;
    for (const ComputedRelation& computed : computed_relations()) {
      auto table = std::make_shared<Table>();
      table->relation.oid = computed.oid;
      table->relation.schema = computed.schema;
      table->relation.name = computed.name;
      table->relation.kind =
          computed.view_sql.empty() ? RelationKind::computed : RelationKind::view;
      table->relation.view_sql = computed.view_sql;
      for (const ComputedRelation::ColumnSpec& spec : computed.columns) {
        Column column;
        column.name = spec.name;
        column.type = spec.type;
        column.not_null = spec.not_null;
        if (is_readable_column(computed.name, spec.name))
          column.grants.push_back({kPublic, kBootstrapRole, "r"});
        table->relation.columns.push_back(std::move(column));
        table->column_types.push_back(spec.type);
      }
      table->runtime = std::make_shared<TableRuntime>();
      table->computed = &computed;
      tables[{computed.schema, std::string{computed.name}}] = std::move(table);
    }
    return tables;
  }();
  const auto found = kTables.find(std::pair{schema, std::string{name}});
  return found == kTables.end() ? nullptr : found->second;
}

const FunctionName* internal_function(Oid oid) {
  const auto found = std::ranges::find(internal_function_names(), oid, &FunctionName::oid);
  return found == internal_function_names().end() ? nullptr : &*found;
}

}  // namespace

SessionNames::SessionNames(StatementContext& session) : session_(session) {}
SessionNames::~SessionNames() = default;

bool SessionNames::expands(const Table& table) {
  return table.relation.kind == RelationKind::view || table.relation.oid == expanded_view;
}

SessionContext& SessionNames::context() {
  return session_.session_context;
}

std::string SessionNames::current_database() {
  return session_.options.database;
}

bool SessionNames::planner_allows(std::string_view setting) {
  return session_.settings.boolean(setting);
}

void SessionNames::warn(SqlState state, std::string message) {
  if (session_.sink_for_notices == nullptr) return;
  session_.notice(*session_.sink_for_notices, Severity::warning, state, std::move(message));
}

bool SessionNames::may_read(const IndexAccess& index) {
  if (!index.tree || !session_.transaction) return true;
  return !session_.transaction.is_young(index.index->oid) &&
         session_.transaction->shows_all_before(index.complete_since) &&
         index.tree->is_visible(*session_.transaction);
}

const std::vector<Oid>& SessionNames::search_path() {
  if (search_path_version_ == session_.variables.version() &&
      search_path_stamp_ == session_.catalog.stamp()) {
    return search_path_;
  }
  search_path_.clear();
  bool names_pg_catalog = false;
  for (std::string& name : path_names(session_.settings.text("search_path"))) {
    if (name == "$user") {
      const RolePtr role = session_.catalog.role(session_.user);
      if (!role) continue;
      name = role->name;
    }
    if (name == "pg_temp") {
      if (temp_schema != kNoOid) search_path_.push_back(temp_schema);
      continue;
    }
    if (const SchemaPtr schema = session_.catalog.schema(name);
        schema && session_.rights.may(*schema, privilege::kUsage)) {
      names_pg_catalog |= schema->oid == kPgCatalogSchema;
      if (std::ranges::find(search_path_, schema->oid) == search_path_.end()) {
        search_path_.push_back(schema->oid);
      }
    }
  }
  if (!names_pg_catalog) {
    search_path_.insert(search_path_.begin(), kPgCatalogSchema);
  }
  if (temp_schema != kNoOid && std::ranges::find(search_path_, temp_schema) == search_path_.end()) {
    search_path_.insert(search_path_.begin(), temp_schema);
  }
  search_path_version_ = session_.variables.version();
  search_path_stamp_ = session_.catalog.stamp();
  return search_path_;
}

Oid SessionNames::temporary_schema() {
  session_.rights.require_temporary();
  if (temp_schema == kNoOid) {
    temp_schema = session_.catalog.allocate_oid();
    session_.variables.invalidate();
  }
  return temp_schema;
}

Oid SessionNames::schema_named(std::string_view name) {
  const bool is_own =
      temp_schema != kNoOid && (name == "pg_temp" || name == schema_name(temp_schema));
  if (is_own) return temp_schema;
  const SchemaPtr schema = session_.catalog.schema(name);
  if (!schema) throw_error(sqlstate::invalid_schema_name, "schema \"{}\" does not exist", name);
  session_.rights.require(*schema, privilege::kUsage);
  return schema->oid;
}

TablePtr SessionNames::find_table(std::string_view schema, std::string_view name) {
  const auto in_schema = [&](Oid oid) -> TablePtr {
    if (oid == kPgCatalogSchema || oid == kInformationSchema) {
      if (TablePtr computed = computed_table(oid, name)) return computed;
    }
    return session_.catalog.table(oid, name);
  };
  if (!schema.empty()) {
    if (schema == "pg_temp") return temp_schema == kNoOid ? nullptr : in_schema(temp_schema);
    const SchemaPtr found = session_.catalog.schema(schema);
    if (found && !trusts_names) session_.rights.require(*found, privilege::kUsage);
    if (found) return in_schema(found->oid);
    if (temp_schema != kNoOid && schema == schema_name(temp_schema)) return in_schema(temp_schema);
    return nullptr;
  }
  if (session_.trigger_tables != nullptr) {
    if (TablePtr found = session_.trigger_tables->find(name)) return found;
  }
  for (const Oid oid : search_path()) {
    if (TablePtr found = in_schema(oid)) return found;
  }
  return nullptr;
}

TablePtr SessionNames::table(Oid oid) {
  if (TablePtr found = session_.catalog.table(oid)) return found;
  for (const ComputedRelation& computed : computed_relations()) {
    if (computed.oid == oid) return computed_table(computed.schema, computed.name);
  }
  return nullptr;
}

std::vector<TablePtr> SessionNames::referencing_tables(Oid referenced) {
  return session_.catalog.referencing_tables(referenced);
}

std::string SessionNames::schema_name(Oid schema) {
  if (schema == temp_schema && schema != kNoOid) {
    return "pg_temp_" + std::to_string(session_.options.backend_pid);
  }
  const SchemaPtr found = session_.catalog.schema(schema);
  return found ? found->name : std::string{};
}

bool SessionNames::schema_exists(std::string_view schema) {
  return schema == "pg_temp" || session_.catalog.schema(schema) != nullptr;
}

Oid SessionNames::creation_schema(const ast::RangeVar& range) {
  const bool is_temporary = range.relpersistence == "t";
  if (range.schemaname == "pg_temp") return temporary_schema();
  if (!range.schemaname.empty()) {
    const SchemaPtr schema = session_.catalog.schema(range.schemaname);
    if (!schema) {
      throw_error(sqlstate::invalid_schema_name, "schema \"{}\" does not exist", range.schemaname);
    }
    if (is_temporary) {
      throw SqlError{SqlState{"42P16"}, "cannot create temporary relation in non-temporary schema"};
    }
    if (schema->oid == kPgCatalogSchema) {
      if (!session_.rights.may(*schema, privilege::kCreate)) {
        throw_error(SqlState{"42501"}, "permission denied for schema {}", schema->name);
      }
      throw sql_error(SqlState{"42501"}, "permission denied to create \"{}.{}\"", range.schemaname,
                      range.relname)
          .with_detail("System catalog modifications are currently disallowed.");
    }
    return schema->oid;
  }
  if (is_temporary) return temporary_schema();
  for (const Oid oid : search_path()) {
    if (oid != kPgCatalogSchema && oid != temp_schema) return oid;
  }
  throw SqlError{sqlstate::invalid_schema_name, "no schema has been selected to create in"};
}

StatisticsPtr SessionNames::statistics(const Table& table) {
  if (!keeps_rows(table.relation.kind) || table.computed != nullptr) return nullptr;
  const TablePtr shared_table = session_.catalog.of_database().table(table.relation.oid);
  // Statistics of a table that this transaction changed must not be shared yet.
  if (shared_table.get() == &table) return session_.shared.statistics->of(table);
  return session_.transaction
             ? session_.shared.statistics->read(*session_.transaction, table.relation.oid)
             : nullptr;
}

bool SessionNames::is_visible(const Table& table) {
  return is_relation_visible(session_, table.relation.schema, table.relation.name);
}

std::string SessionNames::qualified_name(const Table& table) {
  return quote_identifier(schema_name(table.relation.schema)) + "." +
         quote_identifier(table.relation.name);
}

const RowIdentityFunctions& SessionNames::row_identity_functions() {
  return session_.row_identity_functions();
}

const Function& SessionNames::identity_numbers() {
  return session_.identity_numbers();
}

namespace {

bool names_text_search(TypeId kind) noexcept {
  return kind == builtin_id::regconfig || kind == builtin_id::regdictionary;
}

}  // namespace

std::optional<std::uint32_t> SessionNames::find(TypeId kind, std::string_view name) {
  switch (kind) {
    case TypeId::regproc:
      return find_function_named(session_, name);
    case TypeId::regprocedure:
      return find_procedure(session_, name);
    case TypeId::regoper:
      return find_operator_named(session_, name);
    case TypeId::regoperator:
      return find_operator_written(session_, name);
    case TypeId::regtype:
      // A type's name may have several words.
      if (const auto type = parse_type_name(name)) return raw(type->type);
      if (const auto type = find_user_type_written(name)) return raw(*type);
      return std::nullopt;
    default:
      break;
  }
  const std::vector<std::string> parts = split_identifier(name);
  const std::string_view schema =
      parts.size() > 1 ? std::string_view{parts[parts.size() - 2]} : std::string_view{};
  const std::string& last = parts.back();
  if (names_text_search(kind)) {
    if (parts.size() > 3) {
      throw_error(sqlstate::syntax_error, "improper qualified name (too many dotted names): {}",
                  name);
    }
    const Oid found = find_text_search(kind, schema, last);
    return found == kNoOid ? std::nullopt : std::optional{found};
  }
  switch (kind) {
    case TypeId::regclass: {
      if (parts.size() > 3) {
        throw_error(sqlstate::syntax_error, "improper relation name (too many dotted names): {}",
                    name);
      }
      return find_relation_named(session_, schema, last);
    }
    case TypeId::regnamespace: {
      const SchemaPtr found = session_.catalog.schema(last);
      return found ? std::optional{found->oid} : std::nullopt;
    }
    case TypeId::regrole: {
      const RolePtr found = session_.catalog.role(last);
      return found ? std::optional{found->oid} : std::nullopt;
    }
    case TypeId::regcollation: {
      const Oid found = find_collation(schema, last);
      return found == kNoOid ? std::nullopt : std::optional{found};
    }
    default:
      return std::nullopt;
  }
}

std::optional<std::string> SessionNames::name_of(TypeId kind, std::uint32_t oid) {
  if (names_text_search(kind)) return shown_text_search(kind, oid);
  switch (kind) {
    case TypeId::regclass:
      return relation_name(session_, oid);
    case TypeId::regnamespace: {
      const std::string name = schema_name(oid);
      return name.empty() ? std::nullopt : std::optional{quote_identifier(name)};
    }
    case TypeId::regrole: {
      const RolePtr found = session_.catalog.role(oid);
      return found ? std::optional{quote_identifier(found->name)} : std::nullopt;
    }
    case TypeId::regtype:
      // Any other type is a shell type, or does not exist.
      return is_built_in(TypeId{oid}) ? format_type(TypeId{oid}) : user_type_name(TypeId{oid});
    case TypeId::regcollation:
      return shown_collation(oid);
    case TypeId::regproc: {
      if (const RoutinePtr made = session_.catalog.routine(oid)) {
        const bool is_alone = find_routines({}, made->name).size() == 1 && is_visible(*made) &&
                              functions_named(made->name).empty();
        const std::string plain = quote_identifier(made->name);
        return is_alone ? plain : quote_identifier(schema_name(made->schema)) + "." + plain;
      }
      const Function* function = find_function(oid);
      if (function != nullptr) return function_name(session_, *function);
      const FunctionName* internal = internal_function(oid);
      return internal != nullptr ? std::optional{quote_identifier(internal->name)} : std::nullopt;
    }
    case TypeId::regprocedure: {
      if (const RoutinePtr made = session_.catalog.routine(oid)) return routine_signature(*made);
      const Function* function = find_function(oid);
      if (function != nullptr) return procedure_signature(session_, *function);
      const FunctionName* internal = internal_function(oid);
      return internal != nullptr ? std::optional{procedure_name(*internal)} : std::nullopt;
    }
    case TypeId::regoperator: {
      if (const OperatorPtr made = made_operator(oid)) return operator_signature(*made);
      const Operator* op = find_operator(oid);
      return op == nullptr ? std::nullopt : std::optional{sql::operator_signature(session_, *op)};
    }
    case TypeId::regoper: {
      if (const OperatorPtr made = made_operator(oid)) return sql::operator_name(session_, *made);
      const Operator* op = find_operator(oid);
      return op == nullptr ? std::nullopt : std::optional{sql::operator_name(session_, *op)};
    }
    default:
      return std::nullopt;
  }
}

}  // namespace swizzle::sql
