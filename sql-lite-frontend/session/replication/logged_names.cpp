#include "sql-lite-frontend/session/replication/logged_names.h"

namespace swizzle::sql {

LoggedNames::LoggedNames(const TableShape& shape, ObjectNames& now) : now_(now) {
  for (const auto& [schema, type] : shape.types) {
    if (is_enum(type.id())) enums_.emplace(type.id(), EnumLabels{type.name, type.labels, {}});
    if (!is_composite(type.id())) continue;
    auto row = std::make_shared<RowShape>();
    for (const Column& attribute : type.attributes) {
      if (attribute.dropped) continue;
      row->names.push_back(attribute.name);
      row->types.push_back(attribute.type);
      row->typmods.push_back(attribute.typmod);
    }
    rows_.emplace(type.id(), std::move(row));
  }
}

const EnumLabels* LoggedNames::enum_labels(TypeId type) {
  const auto found = enums_.find(type);
  return found != enums_.end() ? &found->second : now_.enum_labels(type);
}

std::shared_ptr<const RowShape> LoggedNames::row_shape(TypeId type) {
  const auto found = rows_.find(type);
  return found != rows_.end() ? found->second : now_.row_shape(type);
}

}  // namespace swizzle::sql
