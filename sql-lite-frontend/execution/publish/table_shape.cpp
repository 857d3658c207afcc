#include "sql-lite-frontend/execution/publish/table_shape.h"

#include <algorithm>

#include "base/field_codec.h"
#include "sql-lite-frontend/catalog/object_codec.h"
#include "sql-lite-frontend/diagnostic.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

/// Version 1 had no types. Version 3 has ancestors; without them, version 2 is written.
constexpr std::uint8_t kShapeVersion = 3;
constexpr std::uint8_t kWithoutAncestors = 2;

[[noreturn]] void fail_malformed_shape() {
  throw SqlError{sqlstate::data_corrupted, "a published table's shape is malformed"};
}

void put_columns(FieldWriter& out, const std::vector<TableShape::Column>& columns) {
  out.put(static_cast<std::uint32_t>(columns.size()));
  for (const TableShape::Column& column : columns) {
    out.put_text(column.name);
    out.put(column.type);
    out.put(column.typmod);
    out.put(column.number);
    out.put(static_cast<std::uint8_t>(column.in_identity ? 1 : 0));
  }
}

std::vector<TableShape::Column> take_columns(FieldReader& in) {
  std::vector<TableShape::Column> taken;
  const auto count = in.take<std::uint32_t>();
  for (std::uint32_t i = 0; i < count && in.is_whole(); ++i) {
    TableShape::Column& column = taken.emplace_back();
    column.name = in.take_text();
    column.type = in.take<TypeId>();
    column.typmod = in.take<std::int32_t>();
    column.number = in.take<std::int16_t>();
    column.in_identity = in.take<std::uint8_t>() != 0;
  }
  return taken;
}

void put_ancestors(FieldWriter& out, const TableShape& shape) {
  out.put(static_cast<std::uint32_t>(shape.ancestors.size()));
  for (const TableShape::Ancestor& ancestor : shape.ancestors) {
    out.put(ancestor.relation);
    out.put_text(ancestor.schema);
    out.put_text(ancestor.name);
    out.put(ancestor.identity);
    put_columns(out, ancestor.columns);
    for (const std::uint32_t place : ancestor.places) out.put(place);
  }
  for (const TableShape::Membership& membership : shape.memberships) out.put(membership.ancestor);
}

void take_ancestors(FieldReader& in, TableShape& shape) {
  const auto count = in.take<std::uint32_t>();
  for (std::uint32_t i = 0; i < count && in.is_whole(); ++i) {
    TableShape::Ancestor& ancestor = shape.ancestors.emplace_back();
    ancestor.relation = in.take<Oid>();
    ancestor.schema = in.take_text();
    ancestor.name = in.take_text();
    ancestor.identity = in.take<char>();
    ancestor.columns = take_columns(in);
    for (std::size_t k = 0; k < ancestor.columns.size() && in.is_whole(); ++k) {
      ancestor.places.push_back(in.take<std::uint32_t>());
      if (ancestor.places.back() >= shape.columns.size()) fail_malformed_shape();
    }
  }
  for (TableShape::Membership& membership : shape.memberships) {
    membership.ancestor = in.take<std::uint32_t>();
    const bool is_known = membership.ancestor == TableShape::kNoAncestor ||
                          membership.ancestor < shape.ancestors.size();
    if (!is_known) fail_malformed_shape();
  }
}

}  // namespace

std::vector<TypeId> TableShape::column_types() const {
  std::vector<TypeId> of_columns;
  of_columns.reserve(columns.size());
  for (const Column& column : columns) of_columns.push_back(column.type);
  return of_columns;
}

std::uint8_t TableShape::events() const noexcept {
  std::uint8_t all = 0;
  for (const Membership& membership : memberships)
    all = static_cast<std::uint8_t>(all | membership.events);
  return all;
}

const TableShape::MadeType* TableShape::made_type(TypeId type) const noexcept {
  const auto found =
      std::ranges::find_if(types, [&](const MadeType& made) { return made.type.id() == type; });
  return found == types.end() ? nullptr : &*found;
}

std::string encode(const TableShape& shape) {
  std::vector<std::byte> bytes;
  FieldWriter out(bytes);
  out.put(shape.ancestors.empty() ? kWithoutAncestors : kShapeVersion);
  out.put(shape.relation);
  out.put_text(shape.schema);
  out.put_text(shape.name);
  out.put(shape.identity);
  put_columns(out, shape.columns);
  out.put(static_cast<std::uint32_t>(shape.memberships.size()));
  for (const TableShape::Membership& membership : shape.memberships) {
    out.put(membership.publication);
    out.put_text(membership.name);
    out.put(membership.events);
    out.put(static_cast<std::uint32_t>(membership.columns.size()));
    for (const std::int16_t number : membership.columns) out.put(number);
    out.put_text(membership.filter_sql);
  }
  out.put(static_cast<std::uint32_t>(shape.types.size()));
  for (const TableShape::MadeType& made : shape.types) {
    out.put_text(made.schema);
    out.put(made.type.oid);
    out.put_text(encode(made.type));
  }
  if (!shape.ancestors.empty()) put_ancestors(out, shape);
  return std::string{as_text(bytes)};
}

TableShape decode_table_shape(Bytes bytes) {
  FieldReader in(bytes);
  const auto version = in.take<std::uint8_t>();
  if (version == 0 || version > kShapeVersion) fail_malformed_shape();
  TableShape shape;
  shape.relation = in.take<Oid>();
  shape.schema = in.take_text();
  shape.name = in.take_text();
  shape.identity = in.take<char>();
  shape.columns = take_columns(in);
  const auto memberships = in.take<std::uint32_t>();
  for (std::uint32_t i = 0; i < memberships && in.is_whole(); ++i) {
    TableShape::Membership& membership = shape.memberships.emplace_back();
    membership.publication = in.take<Oid>();
    membership.name = in.take_text();
    membership.events = in.take<std::uint8_t>();
    const auto numbers = in.take<std::uint32_t>();
    for (std::uint32_t k = 0; k < numbers && in.is_whole(); ++k)
      membership.columns.push_back(in.take<std::int16_t>());
    membership.filter_sql = in.take_text();
  }
  const auto types = version == 1 ? 0 : in.take<std::uint32_t>();
  for (std::uint32_t i = 0; i < types && in.is_whole(); ++i) {
    TableShape::MadeType& made = shape.types.emplace_back();
    made.schema = in.take_text();
    const auto oid = in.take<Oid>();
    const Bytes form = in.take_bytes(in.take<std::uint32_t>());
    if (!in.is_whole()) break;
    made.type = decode<UserType>(form);
    made.type.oid = oid;
  }
  if (version > kWithoutAncestors) take_ancestors(in, shape);
  if (!in.is_whole() || !in.at_end()) fail_malformed_shape();
  return shape;
}

}  // namespace swizzle::sql
