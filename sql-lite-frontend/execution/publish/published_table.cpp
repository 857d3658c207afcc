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

/// The table as that a publication publishes a partition's changes, and the partition.
struct PublishedAs {
  const Table& as;
  const Table& partition;

  /// Returns the numbers that the partition's column has in `as`; 0 if it has none.
  [[nodiscard]] std::int16_t number_of(std::int16_t of_partition) const {
    if (&as == &partition) return of_partition;
    const std::string& name =
        partition.relation.columns[static_cast<std::size_t>(of_partition - 1)].name;
    const std::vector<Column>& columns = as.relation.columns;
    const auto found = std::ranges::find_if(
        columns, [&](const Column& one) { return !one.dropped && one.name == name; });
    if (found == columns.end()) return 0;
    return static_cast<std::int16_t>(found - columns.begin() + 1);
  }
  /// Returns the columns of the replica identity that changes have, which is the partition's.
  [[nodiscard]] std::vector<std::int16_t> identity() const {
    std::vector<std::int16_t> numbers;
    for (const std::int16_t number : identity_columns(partition.relation))
      numbers.push_back(number_of(number));
    return numbers;
  }
};

/// True if the filter reads columns of the replica identity only.
bool filter_is_told(StatementServices& services, const PublishedAs& published,
                    const TableShape& shape, const std::string& filter_sql) {
  if (filter_sql.empty() || shape.identity == 'f') return true;
  Arena arena;
  Binder binder{services.name_source(), arena};
  const std::size_t count = published.as.relation.columns.size();
  const Slot first = binder.new_slots(count);
  binder.bind_table_expression(filter_sql, published.as, first, Clause::where);
  const std::vector<std::int16_t> told = published.identity();
  for (std::size_t i = 0; i < count; ++i) {
    if (binder.is_used(first + static_cast<Slot>(i)) &&
        !is_in(told, static_cast<std::int16_t>(i + 1)))
      return false;
  }
  return true;
}

/// Returns the numbers that the logged columns, but for generated ones, have in `published.as`.
std::vector<std::int16_t> plain_columns(const PublishedAs& published, const TableShape& shape) {
  std::vector<std::int16_t> numbers;
  for (const TableShape::Column& column : shape.columns) {
    const auto place = static_cast<std::size_t>(column.number - 1);
    if (!published.partition.relation.columns[place].generated)
      numbers.push_back(published.number_of(column.number));
  }
  std::ranges::sort(numbers);
  return numbers;
}

/// True if the membership publishes all generated columns of the replica identity.
bool generated_are_told(const PublishedAs& published, const TableShape& shape,
                        const std::vector<std::int16_t>& columns) {
  const Relation& relation = published.partition.relation;
  return std::ranges::all_of(identity_columns(relation), [&](std::int16_t number) {
    if (!relation.columns[static_cast<std::size_t>(number - 1)].generated) return true;
    const auto& logged = shape.columns;
    return std::ranges::find(logged, number, &TableShape::Column::number) != logged.end() &&
           (columns.empty() || is_in(columns, published.number_of(number)));
  });
}

/// True if the list has all columns of the replica identity.
bool list_is_told(const PublishedAs& published, const TableShape& shape,
                  const std::vector<std::int16_t>& columns) {
  if (columns.empty()) return true;
  if (shape.identity == 'f') {
    // No list of a user, but what is left without another publication's generated columns.
    const std::vector<std::int16_t> plain = plain_columns(published, shape);
    return plain.size() < shape.columns.size() && columns == plain;
  }
  return std::ranges::all_of(shape.columns, [&](const TableShape::Column& column) {
    return !column.in_identity || is_in(columns, published.number_of(column.number));
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

std::size_t published_level(const Publication& publication, std::span<const TablePtr> lineage) {
  std::size_t level = kNotPublished;
  for (std::size_t i = 0; i < lineage.size(); ++i) {
    if (!publishes(publication, lineage[i]->relation)) continue;
    level = publication.via_root ? i : 0;
  }
  // Without publish_via_partition_root only tables that have rows are published.
  const bool has_rows = !lineage.front()->relation.is_partitioned();
  return publication.via_root || has_rows ? level : kNotPublished;
}

std::vector<TablePtr> lineage_of(CatalogView& catalog, const Table& table) {
  std::vector<TablePtr> lineage{catalog.table(table.relation.oid)};
  while (lineage.back() && lineage.back()->relation.is_partition())
    lineage.push_back(catalog.table(lineage.back()->relation.partition_of));
  // It is dropped, or being detached.
  if (!lineage.back()) lineage.pop_back();
  return lineage;
}

namespace {

/// Makes the shape of a table.
class ShapeMaker {
 public:
  ShapeMaker(StatementServices& services, const Table& table)
      : services_(services), table_(table), lineage_(lineage_of(services.catalog_view(), table)) {}

  std::unique_ptr<TableShape> make() {
    if (lineage_.empty()) return nullptr;
    for (const PublicationPtr& publication : services_.catalog_view().all_made<Publication>()) {
      const std::size_t level = published_level(*publication, lineage_);
      if (level != kNotPublished) add_membership(*publication, level);
    }
    if (shape_.memberships.empty()) return nullptr;
    add_columns();
    add_ancestors();
    for (const auto& [membership, level] : without_generated_) {
      if (!generated_.empty())
        shape_.memberships[membership].columns = plain_columns(published_as(level), shape_);
    }
    return std::make_unique<TableShape>(std::move(shape_));
  }

 private:
  [[nodiscard]] PublishedAs published_as(std::size_t level) const {
    return {level == 0 ? table_ : *lineage_[level], table_};
  }

  void add_membership(const Publication& publication, std::size_t level) {
    const Relation& as = published_as(level).as.relation;
    TableShape::Membership& membership = shape_.memberships.emplace_back();
    membership.publication = publication.oid;
    membership.name = publication.name;
    membership.events = events_of(publication);
    if (level != 0) membership.ancestor = static_cast<std::uint32_t>(level);
    // A publication of a whole schema publishes all rows.
    const Publication::Member* const member =
        publication.all_tables ? nullptr : publication.member(as.oid);
    note_generated(publication, member, level);
    const bool has_list = member != nullptr && !member->columns.empty();
    if (!has_list && !publication.stored_generated)
      without_generated_.emplace_back(shape_.memberships.size() - 1, level);
    if (member == nullptr) return;
    membership.columns = member->columns;
    if (!publication.has_schema(as.schema)) membership.filter_sql = member->filter_sql;
  }

  void note_generated(const Publication& publication, const Publication::Member* member,
                      std::size_t level) {
    const PublishedAs published = published_as(level);
    const std::vector<Column>& columns = table_.relation.columns;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const auto number = static_cast<std::int16_t>(i + 1);
      if (columns[i].generated && !is_in(generated_, number) &&
          publishes_column(publication, member, columns[i], published.number_of(number))) {
        generated_.push_back(number);
      }
    }
  }

  void add_columns() {
    const Relation& relation = table_.relation;
    shape_.relation = relation.oid;
    shape_.schema = services_.schema_name(relation.schema);
    shape_.name = relation.name;
    shape_.identity = relation.replica_identity;
    const std::vector<std::int16_t> told = identity_columns(relation);
    for (std::size_t i = 0; i < relation.columns.size(); ++i) {
      const Column& column = relation.columns[i];
      const auto number = static_cast<std::int16_t>(i + 1);
      if (column.dropped || (column.generated && !is_in(generated_, number))) continue;
      shape_.columns.push_back(
          {column.name, column.type, column.typmod, number, is_in(told, number)});
      add_type(services_, column.type, shape_);
    }
  }

  /// Memberships have levels until now.
  void add_ancestors() {
    for (std::size_t level = 1; level < lineage_.size(); ++level) {
      bool is_any = false;
      for (TableShape::Membership& membership : shape_.memberships) {
        if (membership.ancestor != level) continue;
        is_any = true;
        membership.ancestor = static_cast<std::uint32_t>(shape_.ancestors.size());
      }
      if (is_any) shape_.ancestors.push_back(ancestor(level));
    }
  }

  [[nodiscard]] TableShape::Ancestor ancestor(std::size_t level) const {
    const Relation& relation = lineage_[level]->relation;
    TableShape::Ancestor made;
    made.relation = relation.oid;
    made.schema = services_.schema_name(relation.schema);
    made.name = relation.name;
    made.identity = relation.replica_identity;
    const std::vector<std::int16_t> told = identity_columns(relation);
    for (std::size_t i = 0; i < relation.columns.size(); ++i) {
      const Column& column = relation.columns[i];
      const auto place = std::ranges::find(shape_.columns, column.name, &TableShape::Column::name);
      if (column.dropped || place == shape_.columns.end()) continue;
      const auto number = static_cast<std::int16_t>(i + 1);
      made.columns.push_back(
          {column.name, column.type, column.typmod, number, is_in(told, number)});
      made.places.push_back(static_cast<std::uint32_t>(place - shape_.columns.begin()));
    }
    return made;
  }

  StatementServices& services_;
  const Table& table_;
  std::vector<TablePtr> lineage_;
  TableShape shape_;
  std::vector<std::int16_t> generated_;  ///< that some publication publishes
  /// Memberships, and the levels of the tables as which they publish.
  std::vector<std::pair<std::size_t, std::size_t>> without_generated_;
};

}  // namespace

std::unique_ptr<TableShape> shape_of_published(StatementServices& services, const Table& table) {
  const Relation& relation = table.relation;
  const bool may_be = is_publishable(relation) ||
                      (relation.is_partitioned() && relation.persistence == Persistence::permanent);
  return may_be ? ShapeMaker{services, table}.make() : nullptr;
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
    TablePtr ancestor;
    if (membership.ancestor != TableShape::kNoAncestor)
      ancestor = services.catalog_view().table(shape.ancestors[membership.ancestor].relation);
    const PublishedAs published{ancestor ? *ancestor : *table, *table};
    if (!filter_is_told(services, published, shape, membership.filter_sql)) {
      refuse(
          "Column used in the publication WHERE expression is not part of the replica identity.");
    }
    if (!list_is_told(published, shape, membership.columns))
      refuse("Column list used by the publication does not cover the replica identity.");
    if (!generated_are_told(published, shape, membership.columns))
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
