#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "sql-lite-frontend/execution/publish/table_shape.h"
#include "sql-lite-frontend/types/function_context.h"
#include "sql-lite-frontend/types/user_types.h"

namespace swizzle::sql {

/// Names for the output of a published table's values. User-defined types have the names and labels
/// of the time of the change, even if they have been altered or dropped since; all other names are
/// the session's present ones.
class LoggedNames final : public ObjectNames {
 public:
  /// `now`: the session's current names.
  LoggedNames(const TableShape& shape, ObjectNames& now);

  std::optional<std::uint32_t> find(TypeId kind, std::string_view name) override {
    return now_.find(kind, name);
  }
  std::optional<std::string> name_of(TypeId kind, std::uint32_t oid) override {
    return now_.name_of(kind, oid);
  }
  std::optional<std::string> routine_name(std::uint32_t oid) override {
    return now_.routine_name(oid);
  }
  std::optional<std::string> operator_name(std::uint32_t oid) override {
    return now_.operator_name(oid);
  }
  const EnumLabels* enum_labels(TypeId type) override;
  std::shared_ptr<const RowShape> row_shape(TypeId type) override;

 private:
  ObjectNames& now_;
  std::map<TypeId, EnumLabels> enums_;
  std::map<TypeId, std::shared_ptr<const RowShape>> rows_;
};

/// While it lives, a session's values are written with `names`.
class NamesScope {
 public:
  NamesScope(SessionContext& context, ObjectNames& names)
      : context_(context), previous_(context.names) {
    context_.names = &names;
  }
  NamesScope(const NamesScope&) = delete;
  NamesScope& operator=(const NamesScope&) = delete;
  ~NamesScope() { context_.names = previous_; }

 private:
  SessionContext& context_;
  ObjectNames* previous_;
};

}  // namespace swizzle::sql
