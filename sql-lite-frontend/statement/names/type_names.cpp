// Types that users made, by name and by number, as the session sees them.
#include <algorithm>

#include "sql-lite-frontend/statement/statement_context.h"
#include "sql-lite-frontend/types/built_in.h"
#include "sql-lite-frontend/types/text/identifiers.h"
#include "sql-lite-frontend/types/user_types.h"

namespace swizzle::sql {

namespace {

/// Returns the type of the relation's rows; null if it has none.
TypePtr type_of_rows(const TablePtr& table) {
  if (!table || !is_composite(TypeId{table->relation.row_type})) return nullptr;
  UserType type;
  type.oid = table->relation.row_type;
  type.schema = table->relation.schema;
  type.name = table->relation.name;
  type.owner = table->relation.owner;
  type.attributes = table->relation.columns;
  type.relation = table->relation.oid;
  return std::make_shared<const UserType>(std::move(type));
}

}  // namespace

TypePtr SessionNames::find_user_type(std::string_view schema, std::string_view name) {
  if (!schema.empty()) {
    const SchemaPtr found = session_.catalog.schema(schema);
    if (found && !trusts_names) session_.rights.require(*found, privilege::kUsage);
    TypePtr type = found ? session_.catalog.type(found->oid, name) : nullptr;
    return type ? type : type_of_rows(find_table(schema, name));
  }
  for (const Oid oid : search_path()) {
    if (TypePtr found = session_.catalog.type(oid, name)) return found;
    if (TypePtr found = type_of_rows(session_.catalog.table(oid, name))) return found;
  }
  return nullptr;
}

TypePtr SessionNames::user_type(TypeId type) {
  TypePtr found = session_.catalog.type(raw(type));
  if (found || !is_composite(type)) return found;
  return type_of_rows(session_.catalog.table(raw(type) - kFirstComposite));
}

bool SessionNames::is_type(TypeId type) {
  if (is_built_in(type)) return true;
  const TypePtr made = is_user_type(type) ? user_type(without_array(type)) : nullptr;
  return made && !made->is_shell();
}

TypePtr SessionNames::composite_of(Oid relation) {
  for (const TypePtr& type : session_.catalog.naming<UserType>({relation})) {
    if (type->relation == relation && relation != kNoOid) return type;
  }
  return nullptr;
}

bool SessionNames::is_visible(const UserType& type) {
  // The server's own come first.
  if (find_built_in_type(type.name) != nullptr) return false;
  const TypePtr found = find_user_type({}, type.name);
  return found && found->oid == type.oid;
}

std::optional<std::string> SessionNames::user_type_name(TypeId type) {
  const bool is_array = is_user_array(type);
  const TypePtr found = user_type(without_array(type));
  if (!found) return std::nullopt;
  std::string name = quote_identifier(found->name);
  if (!is_visible(*found)) name = quote_identifier(schema_name(found->schema)) + "." + name;
  return is_array ? name + "[]" : name;
}

/// mood, "Mood"[], other.mood, _mood.
std::optional<TypeId> SessionNames::find_user_type_written(std::string_view text) {
  const bool is_array = text.ends_with("[]");
  if (is_array) text.remove_suffix(2);
  const std::vector<std::string> parts = split_identifier(text);
  const std::string_view schema =
      parts.size() > 1 ? std::string_view{parts[parts.size() - 2]} : std::string_view{};
  const std::string& name = parts.back();
  TypePtr found = find_user_type(schema, name);
  const bool named_array = !found && name.starts_with('_');
  if (named_array) found = find_user_type(schema, std::string_view{name}.substr(1));
  if (!found) return std::nullopt;
  if (found->is_shell()) {
    if (is_array || named_array) return std::nullopt;
    throw_error(sqlstate::undefined_object, "type \"{}\" is only a shell", text);
  }
  return is_array || named_array ? array_type(found->id()) : found->id();
}

std::shared_ptr<const RowShape> SessionNames::row_shape(TypeId type) {
  if (shape_stamp_ != session_.catalog.stamp()) {
    known_shapes_.clear();
    shape_stamp_ = session_.catalog.stamp();
  }
  if (const auto known = known_shapes_.find(type); known != known_shapes_.end())
    return known->second;
  const TypePtr found = user_type(type);
  if (!found || !is_composite(type)) return nullptr;
  auto shape = std::make_shared<RowShape>();
  const Oid usual = database_collation();
  for (const Column& attribute : found->attributes) {
    if (attribute.dropped) continue;
    shape->names.push_back(attribute.name);
    shape->types.push_back(attribute.type);
    shape->typmods.push_back(attribute.typmod);
    const TypeId written = attribute.expression_type();
    const bool is_usual =
        usual != collation_id::by_default && default_collation(written) == collation_id::by_default;
    shape->collated.push_back(follows_database(written)         ? in_database(written, usual)
                              : is_usual && !is_domain(written) ? with_collation(written, usual)
                                                                : written);
  }
  known_shapes_.emplace(type, shape);
  return shape;
}

const EnumLabels* SessionNames::enum_labels(TypeId type) {
  if (label_stamp_ != session_.catalog.stamp()) {
    known_labels_.clear();
    label_stamp_ = session_.catalog.stamp();
  }
  for (const auto& [known, labels] : known_labels_) {
    if (known == type) return labels.get();
  }
  const TypePtr found = user_type(type);
  if (!found) return nullptr;
  auto labels = std::make_unique<EnumLabels>();
  labels->type_name = user_type_name(type).value_or(found->name);
  labels->labels = found->labels;
  const TypePtr committed = session_.catalog.of_database().type(found->oid);
  for (const EnumLabel& label : found->labels) {
    // All labels of a type that the transaction has made may be used.
    if (!committed) break;
    // The type's first labels have lower numbers than the type.
    const bool is_original = label.oid < found->oid - kFirstEnum;
    const bool is_committed =
        std::ranges::find(committed->labels, label.oid, &EnumLabel::oid) != committed->labels.end();
    if (!is_original && !is_committed) labels->uncommitted.push_back(label.position);
  }
  return known_labels_.emplace_back(type, std::move(labels)).second.get();
}

}  // namespace swizzle::sql
