#include "sql-lite-frontend/session/replication/published_changes.h"

#include <algorithm>

#include "sql-lite-frontend/execution/publish/table_shapes.h"
#include "sql-lite-frontend/session/replication/pgoutput.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/user_types.h"

namespace swizzle::sql {
namespace {

std::uint8_t event_of(ChangeKind kind) noexcept {
  switch (kind) {
    case ChangeKind::insert:
      return published::kInsert;
    case ChangeKind::update:
      return published::kUpdate;
    case ChangeKind::remove:
      return published::kDelete;
    case ChangeKind::truncate:
    case ChangeKind::message:
    case ChangeKind::origin:
      break;
  }
  return published::kTruncate;
}

/// Returns a table with the shape's columns in their positions, with what filters need.
Table columns_of_shape(const TableShape& shape) {
  Table table;
  table.relation.oid = shape.relation;
  table.relation.name = shape.name;
  std::int16_t last = 0;
  for (const TableShape::Column& column : shape.columns) last = std::max(last, column.number);
  table.relation.columns.resize(static_cast<std::size_t>(last));
  for (Column& column : table.relation.columns) column.dropped = true;
  for (const TableShape::Column& from : shape.columns) {
    Column& column = table.relation.columns[static_cast<std::size_t>(from.number - 1)];
    column.dropped = false;
    column.name = from.name;
    column.type = from.type;
    column.typmod = from.typmod;
  }
  for (const Column& column : table.relation.columns) table.column_types.push_back(column.type);
  return table;
}

}  // namespace

PublishedChanges::PublishedChanges(Session::State& session, OutputOptions options)
    : session_(session),
      publications_(std::move(options.publications)),
      tells_messages_(options.messages),
      only_own_(options.only_own),
      is_binary_(options.binary),
      database_(session.catalog.of_database().database()),
      writer_(session.new_scratch()) {}

PublishedChanges::~PublishedChanges() = default;

/// Checks that the publications exist. One that existed when the change was made may be missing.
void PublishedChanges::require_publications(const TableShape& shape) {
  if (are_known_) return;
  for (const std::string& name : publications_) {
    const bool had_it = std::ranges::find(shape.memberships, name, &TableShape::Membership::name) !=
                        shape.memberships.end();
    if (!had_it && !session_.catalog.publication(name))
      throw_error(sqlstate::undefined_object, "publication \"{}\" does not exist", name);
  }
  are_known_ = true;
}

/// Registers types that were dropped, perhaps before this start, so that values of them can be
/// read.
void PublishedChanges::note_types(const TableShape& shape) const {
  for (const TableShape::MadeType& made : shape.types) {
    if (!session_.names.user_type(made.type.id()))
      note_user_type(made.type, session_.catalog.of_database().default_collation()).keep();
  }
}

/// Makes it the topmost ancestor that any of the publications has, with the memberships of that
/// one alone.
void PublishedChanges::choose_ancestor(Subscribed& table) {
  TableShape& shape = table.shape;
  std::uint32_t topmost = TableShape::kNoAncestor;
  for (const TableShape::Membership& membership : shape.memberships) {
    const std::uint32_t one = membership.ancestor;
    if (one == TableShape::kNoAncestor) continue;
    topmost = topmost == TableShape::kNoAncestor ? one : std::max(topmost, one);
  }
  if (topmost == TableShape::kNoAncestor) return;
  table.is_of_ancestor = true;
  table.logged.resize(shape.columns.size());
  std::erase_if(shape.memberships, [&](const TableShape::Membership& membership) {
    return membership.ancestor != topmost;
  });
  TableShape::Ancestor& ancestor = shape.ancestors[topmost];
  shape.relation = ancestor.relation;
  shape.schema = std::move(ancestor.schema);
  shape.name = std::move(ancestor.name);
  shape.identity = ancestor.identity;
  shape.columns = std::move(ancestor.columns);
  table.from = std::move(ancestor.places);
}

void PublishedChanges::read_row(Subscribed& table, Bytes bytes, std::vector<Value>& into) {
  RowReader reader{table.layout, bytes};
  if (!table.is_of_ancestor) return reader.columns(into);
  reader.columns(table.logged);
  for (std::size_t i = 0; i < into.size(); ++i) into[i] = table.logged[table.from[i]];
}

void PublishedChanges::choose_columns(Subscribed& table) const {
  const TableShape& shape = table.shape;
  const std::vector<std::int16_t>* chosen = nullptr;
  for (const TableShape::Membership& membership : shape.memberships) {
    if (chosen != nullptr && *chosen != membership.columns) {
      throw_error(sqlstate::feature_not_supported,
                  "cannot use different column lists for table \"{}.{}\" in different publications",
                  shape.schema, shape.name);
    }
    chosen = &membership.columns;
  }
  for (std::uint32_t i = 0; i < shape.columns.size(); ++i) {
    const bool is_told = chosen == nullptr || chosen->empty() ||
                         std::ranges::find(*chosen, shape.columns[i].number) != chosen->end();
    if (is_told) table.places.push_back(i);
  }
}

void PublishedChanges::bind_filters(Subscribed& table) {
  for (const std::uint8_t event : {published::kInsert, published::kUpdate, published::kDelete}) {
    std::vector<Filter> filters;
    bool tells_all = false;
    for (const TableShape::Membership& membership : table.shape.memberships) {
      if ((membership.events & event) == 0) continue;
      tells_all |= membership.filter_sql.empty();
      if (tells_all) break;
      if (!table.scratch) table.scratch = session_.new_scratch();
      Binder binder{session_.names, table.scratch->arena};
      const Table columns = columns_of_shape(table.shape);
      const Slot first = binder.new_slots(columns.relation.columns.size());
      Filter filter;
      filter.condition =
          binder.bind_table_expression(membership.filter_sql, columns, first, Clause::where);
      filter.first = first;
      table.slots = std::max<std::size_t>(table.slots, binder.slot_count());
      filters.push_back(std::move(filter));
    }
    if (!tells_all) table.filters.emplace(event, std::move(filters));
  }
  if (table.scratch) table.scratch->execution.slots.resize(table.slots);
}

PublishedChanges::Subscribed& PublishedChanges::subscribed(std::uint32_t number) {
  const auto found = tables_.find(number);
  if (found != tables_.end()) return *found->second;
  auto table = std::make_unique<Subscribed>();
  table->shape = TableShapes::read(session_.catalog.of_database(), number);
  require_publications(table->shape);
  std::erase_if(table->shape.memberships, [&](const TableShape::Membership& membership) {
    return std::ranges::find(publications_, membership.name) == publications_.end();
  });
  table->events = table->shape.events();
  if (table->events != 0) {
    note_types(table->shape);
    table->layout = RowLayout{table->shape.column_types()};
    choose_ancestor(*table);
    table->names = std::make_unique<LoggedNames>(table->shape, session_.names);
    table->before.resize(table->shape.columns.size());
    table->after.resize(table->shape.columns.size());
    choose_columns(*table);
    bind_filters(*table);
  }
  return *tables_.emplace(number, std::move(table)).first->second;
}

bool PublishedChanges::passes(Subscribed& table, std::uint8_t event, std::span<const Value> row) {
  const auto filters = table.filters.find(event);
  if (filters == table.filters.end()) return true;
  Execution& execution = table.scratch->execution;
  const RowScope scope{execution};
  for (const Filter& filter : filters->second) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      const auto position = static_cast<Slot>(table.shape.columns[i].number - 1);
      execution.slots[filter.first + position] = row[i];
    }
    const Value passed = filter.condition->eval(execution);
    if (!passed.is_null() && passed.as_bool()) return true;
  }
  return false;
}

void PublishedChanges::tell_table(Subscribed& table, std::uint32_t number,
                                  std::vector<std::string>& messages) {
  Told& told = (*told_now_)[table.shape.relation];
  if (told.shape == number) return;
  told.shape = number;
  std::vector<std::string> parts;
  for (const std::uint32_t place : table.places) {
    const TypeId id = table.shape.columns[place].type;
    if (raw(id) < kFirstUserOid) continue;
    // A domain over a built-in type is sent as that type.
    if (const TableShape::MadeType* const made = table.shape.made_type(base_type(id)))
      parts.push_back(pgoutput::type({id, made->schema, made->type.name}));
  }
  parts.push_back(pgoutput::relation(table.shape, table.places));
  std::string description;
  for (const std::string& part : parts) description += part;
  // Partitions that are sent as one table have it in common.
  if (told.description == description) return;
  told.description = std::move(description);
  for (std::string& part : parts) messages.push_back(std::move(part));
}

void PublishedChanges::add_told(const ToldTables& told) {
  for (const auto& [relation, one] : told) {
    const auto [known, is_new] = told_.try_emplace(relation, one);
    if (!is_new && known->second.description != one.description) told_.erase(known);
  }
}

PublishedChanges::Place PublishedChanges::tell(Lsn lsn, Bytes body,
                                               std::vector<std::string>& messages) {
  const PublishedChange change = decode_change(body);
  if (change.database != kNoOid && change.database != database_) return Place::in_transaction;
  switch (change.kind) {
    case ChangeKind::message:
      if (tells_messages_) messages.push_back(pgoutput::message(lsn, change));
      return change.is_transactional ? Place::in_transaction : Place::alone;
    case ChangeKind::truncate:
      tell_truncate(change, messages);
      break;
    case ChangeKind::origin:
      if (only_own_) return Place::nowhere;
      messages.push_back(pgoutput::origin(change));
      return Place::behind_begin;
    default:
      tell_row(change, messages);
      break;
  }
  return Place::in_transaction;
}

void PublishedChanges::tell_truncate(const PublishedChange& change,
                                     std::vector<std::string>& messages) {
  std::vector<Oid> relations;
  for (const std::uint32_t number : change.truncated) {
    Subscribed& table = subscribed(number);
    // An ancestor's rows are more than those of the partition.
    if ((table.events & published::kTruncate) == 0 || table.is_of_ancestor) continue;
    tell_table(table, number, messages);
    relations.push_back(table.shape.relation);
  }
  if (!relations.empty()) messages.push_back(pgoutput::truncate(relations, change));
}

void PublishedChanges::tell_row(const PublishedChange& change, std::vector<std::string>& messages) {
  Subscribed& table = subscribed(change.shape);
  const std::uint8_t event = event_of(change.kind);
  if ((table.events & event) == 0) return;
  if (!change.before.empty()) read_row(table, change.before, table.before);
  if (!change.after.empty()) read_row(table, change.after, table.after);
  if (change.kind == ChangeKind::update) {
    tell_update(table, change, messages);
    return;
  }
  const bool inserts = change.kind == ChangeKind::insert;
  if (!passes(table, event, inserts ? table.after : table.before)) return;
  tell_table(table, change.shape, messages);
  const RowScope scope{writer_->execution};
  const NamesScope names{writer_->execution.functions.session, *table.names};
  const pgoutput::RowMessages rows{writer_->execution.functions, table.shape, table.places,
                                   is_binary_};
  messages.push_back(inserts ? rows.insert(table.after)
                             : rows.remove(change.old_row, table.before));
}

/// Sends an update. For the subscriber a row that begins to pass the filter is inserted, and one
/// that ceases to pass it is deleted.
void PublishedChanges::tell_update(Subscribed& table, const PublishedChange& change,
                                   std::vector<std::string>& messages) {
  const bool passes_now = passes(table, published::kUpdate, table.after);
  // Without an old row, the update has not changed the columns that filters read.
  const bool passed =
      change.old_row == OldRow::none ? passes_now : passes(table, published::kUpdate, table.before);
  if (!passes_now && !passed) return;
  tell_table(table, change.shape, messages);
  const RowScope scope{writer_->execution};
  const NamesScope names{writer_->execution.functions.session, *table.names};
  const pgoutput::RowMessages rows{writer_->execution.functions, table.shape, table.places,
                                   is_binary_};
  if (!passed) {
    messages.push_back(rows.insert(table.after));
  } else if (!passes_now) {
    messages.push_back(rows.remove(change.old_row, table.before));
  } else {
    messages.push_back(rows.update(change.old_row, table.before, table.after));
  }
}

}  // namespace swizzle::sql
