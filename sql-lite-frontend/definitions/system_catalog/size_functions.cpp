#include <algorithm>
#include <array>
#include <charconv>

#include "sql-lite-frontend/definitions/system_catalog/functions.h"
#include "sql-lite-frontend/statement/statement_context.h"
#include "storage/statistics.h"

/// Sizes of relations and databases in the data file, summed from the engine's page counts. A table
/// is its primary key's index; that index is shown with size 0.
namespace swizzle::sql {
namespace {

using Arguments = std::span<const Value>;
constexpr std::uint64_t kPageBytes = 8192;

/// Bytes, summed in pages.
struct Size {
  std::uint64_t own = 0;    ///< rows
  std::uint64_t large = 0;  ///< values that are too large for the row's tree: PostgreSQL's TOAST
  std::uint64_t indexes = 0;

  [[nodiscard]] std::uint64_t total() const noexcept { return own + large + indexes; }
};

std::uint64_t pages_of(Engine& engine, const Tree& tree) {
  return value_of(engine.size_of(tree.id())).pages;
}

Size size_of(Engine& engine, const Table& table) {
  Size size;
  if (!table.tree || !keeps_rows(table.relation.kind)) return size;
  const Engine::TreeSize rows = value_of(engine.size_of(table.tree->id()));
  size.own = rows.pages * kPageBytes;
  size.large = rows.overflow_pages * kPageBytes;
  for (const IndexAccess& access : table.indexes) {
    if (access.tree) size.indexes += pages_of(engine, *access.tree) * kPageBytes;
  }
  return size;
}

/// Returns the size of a relation or index by its oid; nothing if there is none.
std::optional<Size> size_of(Execution& execution, Oid oid) {
  StatementContext& session = context_of(execution);
  Engine& engine = session.shared.engine;
  if (const TablePtr table = session.names.table(oid)) return size_of(engine, *table);
  if (const TablePtr table = session.catalog.table_with_index(oid)) {
    const auto found = std::ranges::find(
        table->indexes, oid, [](const IndexAccess& access) { return access.index->oid; });
    if (found == table->indexes.end()) return std::nullopt;
    return Size{.own = found->tree ? pages_of(engine, *found->tree) * kPageBytes : 0};
  }
  return std::nullopt;
}

Value bytes(std::uint64_t count) {
  return Value::from_int(static_cast<std::int64_t>(count));
}

Value relation_size(Execution& execution, Arguments arguments) {
  if (arguments.size() > 1) {
    constexpr std::array<std::string_view, 4> kForks{"main", "fsm", "vm", "init"};
    const std::string_view fork = arguments[1].as_text();
    if (std::ranges::find(kForks, fork) == kForks.end()) {
      throw SqlError{sqlstate::invalid_parameter_value, "invalid fork name"}.with_hint(
          "Valid fork names are \"main\", \"fsm\", \"vm\", and \"init\".");
    }
    if (fork != "main") return bytes(0);
  }
  const auto size = size_of(execution, arguments[0].as_oid());
  return size ? bytes(size->own) : Value::null();
}
Value table_size(Execution& execution, Arguments arguments) {
  const auto size = size_of(execution, arguments[0].as_oid());
  return size ? bytes(size->own + size->large) : Value::null();
}
Value indexes_size(Execution& execution, Arguments arguments) {
  const auto size = size_of(execution, arguments[0].as_oid());
  return size ? bytes(size->indexes) : Value::null();
}
Value total_relation_size(Execution& execution, Arguments arguments) {
  const auto size = size_of(execution, arguments[0].as_oid());
  return size ? bytes(size->total()) : Value::null();
}

/// Finds a database by name or oid, both given as text.
DatabasePtr database_in(StatementContext& session, std::string_view text) {
  if (DatabasePtr named = session.catalog.database(text)) return named;
  std::uint32_t number = 0;
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, number);
  if (parsed.ec != std::errc{} || parsed.ptr != end) {
    throw_error(SqlState{"3D000"}, "database \"{}\" does not exist", text);
  }
  return session.catalog.database(Oid{number});
}

/// Returns the size of a database's relations; shared objects are not included.
Value database_size(Execution& execution, Arguments arguments) {
  StatementContext& session = context_of(execution);
  const DatabasePtr database = database_in(session, arguments[0].as_text());
  if (!database) {
    throw_error(sqlstate::undefined_object, "database with OID {} does not exist",
                arguments[0].as_text());
  }
  const Catalogs::Use use{*session.shared.catalogs, database->oid};
  std::uint64_t sum = 0;
  for (const TablePtr& table : use.catalog().tables()) {
    execution.tick();
    sum += size_of(session.shared.engine, *table).total();
  }
  return bytes(sum);
}

/// Returns the size of the only tablespace, the data file.
Value tablespace_size(Execution& execution, Arguments) {
  return bytes(context_of(execution).shared.engine.statistics().pages_allocated * kPageBytes);
}

}  // namespace

std::span<const SessionEntry> size_functions() {
  static constexpr SessionEntry kFunctions[] = {
      {"pg_relation_size", relation_size},       {"pg_table_size", table_size},
      {"pg_indexes_size", indexes_size},         {"pg_total_relation_size", total_relation_size},
      {"pg_database_size", database_size, true}, {"pg_tablespace_size", tablespace_size},
  };
  return kFunctions;
}

}  // namespace swizzle::sql
