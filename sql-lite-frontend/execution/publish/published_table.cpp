#include "sql-lite-frontend/execution/publish/published_table.h"

#include <algorithm>

#include "sql-lite-frontend/diagnostic.h"
#include "sql-lite-frontend/query/bind/binder.h"
#include "sql-lite-frontend/query/bound/statement_services.h"
#include "sql-lite-frontend/types/check_stack.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/user_types.h"

namespace swizzle::sql {
namespace {

constexpr SqlState kInvalidColumnReference{"42P10"};

std::uint8_t events_of(const Publication& publication) noexcept {
  return static_cast<std::uint8_t>((publication.inserts ? published::kInsert : 0) |
                                   (publication.updates ? published::kUpdate : 0) |
                                   (publication.deletes ? published::kDelete : 0) |
                                   (publication.truncates ? published::kTruncate : 0));
}

bool is_in(const std::vector<std::int16_t>& numbers, std::int16_t number) {
  return std::ranges::find(numbers, number) != numbers.end();
}

std::vector<std::int16_t> identity_columns(const Relation& relation) {
  std::vector<std::int16_t> numbers;
  if (relation.replica_identity == 'f') {
    for (std::size_t i = 0; i < relation.columns.size(); ++i) {
      if (!relation.columns[i].dropped) numbers.push_back(static_cast<std::int16_t>(i + 1));
    }
  } else if (const Index* const index = identity_index(relation)) {
    for (const IndexColumn& column : index->columns) numbers.push_back(column.column);
  }
  return numbers;
}

/// True if the filter reads columns of the replica identity only.
bool filter_is_told(StatementServices& services, const TablePtr& table, const TableShape& shape,
                    const std::string& filter_sql) {
  if (filter_sql.empty() || shape.identity == 'f') return true;
  Arena arena;
  Binder binder{services.name_source(), arena};
  const std::size_t count = table->relation.columns.size();
  const Slot first = binder.new_slots(count);
  binder.bind_table_expression(filter_sql, *table, first, Clause::where);
  const std::vector<std::int16_t> told = identity_columns(table->relation);
  for (std::size_t i = 0; i < count; ++i) {
    if (binder.is_used(first + static_cast<Slot>(i)) &&
        !is_in(told, static_cast<std::int16_t>(i + 1)))
      return false;
  }
  return true;
}

/// Returns the numbers of the table's columns that are logged and not generated.
std::vector<std::int16_t> plain_columns(const Relation& relation, const TableShape& shape) {
  std::vector<std::int16_t> numbers;
  for (const TableShape::Column& column : shape.columns) {
    if (!relation.columns[static_cast<std::size_t>(column.number - 1)].generated)
      numbers.push_back(column.number);
  }
  return numbers;
}

/// True if the membership publishes all generated columns of the replica identity.
bool generated_are_told(const Relation& relation, const TableShape& shape,
                        const std::vector<std::int16_t>& columns) {
  return std::ranges::all_of(identity_columns(relation), [&](std::int16_t number) {
    if (!relation.columns[static_cast<std::size_t>(number - 1)].generated) return true;
    const auto& logged = shape.columns;
    return std::ranges::find(logged, number, &TableShape::Column::number) != logged.end() &&
           (columns.empty() || is_in(columns, number));
  });
}

/// True if the list has all columns of the replica identity.
bool list_is_told(const Relation& relation, const TableShape& shape,
                  const std::vector<std::int16_t>& columns) {
  if (columns.empty()) return true;
  if (shape.identity == 'f') {
    // No list of a user, but what is left without another publication's generated columns.
    const std::vector<std::int16_t> plain = plain_columns(relation, shape);
    return plain.size() < shape.columns.size() && columns == plain;
  }
  return std::ranges::all_of(shape.columns, [&](const TableShape::Column& column) {
    return !column.in_identity || is_in(columns, column.number);
  });
}

/// Adds the type, and before it the types that it is made of, if it is user-defined.
void add_type(StatementServices& services, TypeId type, TableShape& shape) {
  check_stack();
  type = without_array(without_collation(type));
  if (!is_user_type(type) || is_of_extension(type) || shape.made_type(type) != nullptr) return;
  const TypePtr found = services.name_source().user_type(type);
  if (!found) return;
  TableShape::MadeType made{services.schema_name(found->schema), {}};
  UserType& kept = made.type;
  kept.oid = found->oid;
  kept.name = found->name;
  kept.labels = found->labels;
  kept.base = found->base;
  kept.base_typmod = found->base_typmod;
  kept.relation = found->relation;
  kept.collation = found->collation;
  if (kept.base != TypeId::none) add_type(services, kept.base, shape);
  for (const Column& attribute : found->attributes) {
    if (attribute.dropped) continue;
    Column& column = kept.attributes.emplace_back();
    column.name = attribute.name;
    column.type = attribute.type;
    column.typmod = attribute.typmod;
    add_type(services, attribute.type, shape);
  }
  shape.types.push_back(std::move(made));
}

}  // namespace

bool is_publishable(const Relation& relation) {
  return relation.kind == RelationKind::table && relation.persistence == Persistence::permanent &&
         relation.oid >= kFirstUserOid;
}

bool publishes(const Publication& publication, const Relation& relation) {
  return publication.all_tables || publication.member(relation.oid) != nullptr ||
         publication.has_schema(relation.schema);
}

bool publishes_column(const Publication& publication, const Publication::Member* member,
                      const Column& column, std::int16_t number) {
  if (column.dropped || column.is_virtual) return false;
  if (member != nullptr && !member->columns.empty()) return is_in(member->columns, number);
  return !column.generated || publication.stored_generated;
}

const Index* identity_index(const Relation& relation) {
  for (const Index& index : relation.indexes) {
    const bool is_it = relation.replica_identity == 'd' ? index.primary && !index.deferrable
                                                        : relation.replica_identity == 'i' &&
                                                              index.oid == relation.replica_index;
    if (is_it) return &index;
  }
  return nullptr;
}

std::unique_ptr<TableShape> shape_of_published(StatementServices& services, const Table& table) {
  const Relation& relation = table.relation;
  if (!is_publishable(relation)) return nullptr;
  std::unique_ptr<TableShape> shape;
  std::vector<std::int16_t> generated;         // that some publication publishes
  std::vector<std::size_t> without_generated;  // memberships
  for (const PublicationPtr& publication : services.catalog_view().all_made<Publication>()) {
    if (!publishes(*publication, relation)) continue;
    if (!shape) shape = std::make_unique<TableShape>();
    TableShape::Membership& membership = shape->memberships.emplace_back();
    membership.publication = publication->oid;
    membership.name = publication->name;
    membership.events = events_of(*publication);
    // A publication of a whole schema publishes all rows.
    const Publication::Member* const member =
        publication->all_tables ? nullptr : publication->member(relation.oid);
    for (std::size_t i = 0; i < relation.columns.size(); ++i) {
      const auto number = static_cast<std::int16_t>(i + 1);
      if (relation.columns[i].generated && !is_in(generated, number) &&
          publishes_column(*publication, member, relation.columns[i], number)) {
        generated.push_back(number);
      }
    }
    const bool has_list = member != nullptr && !member->columns.empty();
    if (!has_list && !publication->stored_generated)
      without_generated.push_back(shape->memberships.size() - 1);
    if (member == nullptr) continue;
    membership.columns = member->columns;
    if (!publication->has_schema(relation.schema)) membership.filter_sql = member->filter_sql;
  }
  if (!shape) return nullptr;
  shape->relation = relation.oid;
  shape->schema = services.schema_name(relation.schema);
  shape->name = relation.name;
  shape->identity = relation.replica_identity;
  const std::vector<std::int16_t> told = identity_columns(relation);
  for (std::size_t i = 0; i < relation.columns.size(); ++i) {
    const Column& column = relation.columns[i];
    const auto number = static_cast<std::int16_t>(i + 1);
    if (column.dropped || (column.generated && !is_in(generated, number))) continue;
    shape->columns.push_back(
        {column.name, column.type, column.typmod, number, is_in(told, number)});
    add_type(services, column.type, *shape);
  }
  if (generated.empty()) return shape;
  const std::vector<std::int16_t> plain = plain_columns(relation, *shape);
  for (const std::size_t without : without_generated) shape->memberships[without].columns = plain;
  return shape;
}

void require_replica_identity(StatementServices& services, const TablePtr& table,
                              const TableShape& shape, std::uint8_t event) {
  const std::string& name = table->relation.name;
  const bool updates = event == published::kUpdate;
  const auto refuse = [&](std::string_view detail) {
    throw sql_error(kInvalidColumnReference, "cannot {} table \"{}\"",
                    updates ? "update" : "delete from", name)
        .with_detail(std::string{detail});
  };
  for (const TableShape::Membership& membership : shape.memberships) {
    if ((membership.events & event) == 0) continue;
    if (!filter_is_told(services, table, shape, membership.filter_sql)) {
      refuse(
          "Column used in the publication WHERE expression is not part of the replica identity.");
    }
    if (!list_is_told(table->relation, shape, membership.columns))
      refuse("Column list used by the publication does not cover the replica identity.");
    if (!generated_are_told(table->relation, shape, membership.columns))
      refuse("Replica identity must not contain unpublished generated columns.");
  }
  if (shape.identity == 'f' || identity_index(table->relation) != nullptr) return;
  if ((shape.events() & event) == 0) return;
  throw sql_error(sqlstate::object_not_in_prerequisite_state,
                  "cannot {} table \"{}\" because it does not have a replica identity and "
                  "publishes {}",
                  updates ? "update" : "delete from", name, updates ? "updates" : "deletes")
      .with_hint(updates ? "To enable updating the table, set REPLICA IDENTITY using ALTER TABLE."
                         : "To enable deleting from the table, set REPLICA IDENTITY using ALTER "
                           "TABLE.");
}

}  // namespace swizzle::sql
