#include <array>
#include <vector>

#include "sql-lite-frontend/definitions/system_catalog/functions.h"
#include "sql-lite-frontend/query/bound/statement_services.h"
#include "sql-lite-frontend/statement/statement_context.h"
#include "sql-lite-frontend/types/function_registry.h"
#include "sql-lite-frontend/types/record/record.h"

/// Functions behind system views. In PostgreSQL the view calls the function; here the function
/// reads the view.
namespace swizzle::sql {
namespace {

class ViewRows final : public SetCursor {
 public:
  ViewRows(std::span<const TypeId> types, MemoryAccount* account) : types_(types) {
    arena_.count_in(account);
  }
  void keep(std::span<const Value> row) { rows_.push_back(make_record(arena_, types_, row)); }
  std::optional<Value> next(FunctionContext&) override {
    if (at_ == rows_.size()) return std::nullopt;
    return rows_[at_++];
  }

 private:
  std::span<const TypeId> types_;
  Arena arena_;
  std::vector<Value> rows_;
  std::size_t at_ = 0;
};

/// A function and its query.
struct ViewFunction {
  std::string_view name;
  const char* query;
};

constexpr ViewFunction kSettings{"pg_show_all_settings", "SELECT * FROM pg_catalog.pg_settings"};
constexpr ViewFunction kExtensions{
    "pg_available_extensions",
    "SELECT name, default_version, comment FROM pg_catalog.pg_available_extensions"};

template <const ViewFunction& view>
std::unique_ptr<SetCursor> view_rows(FunctionContext& context, std::span<const Value>) {
  const Function& function = *functions_named(view.name).front();
  auto rows = std::make_unique<ViewRows>(function.column_types, context.arena.account());
  if (const auto* const session = SessionNames::context_of(context.session); session != nullptr) {
    // Reading a view changes nothing of the session that others see.
    const_cast<StatementContext*>(session)->run_internal(
        view.query, {}, {}, ReadView::Sees::latest,
        [&](std::span<const Value> row) { rows->keep(row); });
  }
  return rows;
}

}  // namespace

void add_view_functions() {
  static constexpr SetEntry kSets[] = {{"pg_show_all_settings()", view_rows<kSettings>},
                                       {"pg_available_extensions()", view_rows<kExtensions>}};
  static const bool is_added = (add_builtin_functions({.sets = kSets}), true);
  static_cast<void>(is_added);
}

}  // namespace swizzle::sql
