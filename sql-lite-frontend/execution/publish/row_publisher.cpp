#include "sql-lite-frontend/execution/publish/row_publisher.h"

#include <array>

#include "sql-lite-frontend/diagnostic.h"
#include "sql-lite-frontend/execution/publish/published_table.h"
#include "sql-lite-frontend/execution/publish/table_shapes.h"
#include "sql-lite-frontend/query/bound/statement_services.h"
#include "storage/logical/logical_log.h"

namespace swizzle::sql {
namespace {

std::uint32_t number_of_shape(StatementServices& services, const TableShape& shape) {
  return services.table_shapes().number_of(services.catalog_view().of_database(), encode(shape));
}

}  // namespace

void RowPublisher::look(Execution& execution) {
  StatementServices& services = execution.services;
  looked_at_ = services.catalog_view().stamp();
  has_looked_ = true;
  published_.reset();
  auto shape = shape_of_published(services, *table_);
  if (!shape) return;
  published_ = std::make_unique<Published>();
  published_->events = shape->events();
  published_->shape = std::move(*shape);
  if (!logs_) return;
  published_->layout = RowLayout{published_->shape.column_types()};
  published_->row.resize(published_->shape.columns.size());
  published_->number = number_of_shape(services, published_->shape);
}

void RowPublisher::begin(Execution& execution, std::uint8_t events) {
  StatementServices& services = execution.services;
  watches_ = false;
  if (!is_publishable(table_->relation)) return;
  if (!has_looked_) logs_ = services.logs_changes();
  // Publications of the table may change while the statement runs, without waiting for it. So all
  // tables are watched once changes are logged, even unpublished ones.
  watches_ = logs_;
  if (!has_looked_ || looked_at_ != services.catalog_view().stamp()) look(execution);
  if (!published_) return;
  for (const std::uint8_t event : {published::kUpdate, published::kDelete}) {
    if ((events & event) != 0) require_replica_identity(services, table_, published_->shape, event);
  }
}

RowPublisher::Published* RowPublisher::published(Execution& execution, std::uint8_t event) {
  // Check after the change. So a new slot, made once a publication exists, need wait only for the
  // transactions that have begun to write by then.
  if (looked_at_ != execution.services.catalog_view().stamp()) [[unlikely]]
    look(execution);
  if (!published_ || (published_->events & event) == 0) return nullptr;
  return published_.get();
}

void RowPublisher::encode(Published& as, std::span<const Value> row, Columns which,
                          std::string& into) const {
  into.clear();
  for (std::size_t i = 0; i < as.row.size(); ++i) {
    const TableShape::Column& column = as.shape.columns[i];
    const bool is_told = which == Columns::all || column.in_identity;
    as.row[i] = is_told ? row[static_cast<std::size_t>(column.number - 1)] : Value::null();
  }
  append_row(into, as.layout, as.row);
}

OldRow RowPublisher::encode_old(Published& as, std::span<const Value> row) {
  if (as.shape.identity == 'f') {
    encode(as, row, Columns::all, before_);
    return OldRow::whole;
  }
  if (identity_index(table_->relation) == nullptr) return OldRow::none;
  encode(as, row, Columns::identity, before_);
  return OldRow::key;
}

void RowPublisher::note(Execution& execution, PublishedChange& change) {
  change.database = execution.services.catalog_view().of_database().database();
  std::array<std::byte, kChangeHeadBytes> head;
  encode_change_head(change, head.data());
  const std::array<Bytes, 3> parts{Bytes{head}, change.before, change.after};
  value_of(LogicalLog::note(*execution.transaction, parts));
}

void RowPublisher::note_inserted(Execution& execution, std::span<const Value> row) {
  Published* const as = published(execution, published::kInsert);
  if (as == nullptr) return;
  encode(*as, row, Columns::all, after_);
  PublishedChange change{
      .kind = ChangeKind::insert, .shape = as->number, .after = as_bytes(after_)};
  note(execution, change);
}

void RowPublisher::note_updated(Execution& execution, std::span<const Value> old_row,
                                std::span<const Value> new_row) {
  Published* const as = published(execution, published::kUpdate);
  if (as == nullptr) return;
  encode(*as, new_row, Columns::all, after_);
  PublishedChange change{
      .kind = ChangeKind::update, .shape = as->number, .after = as_bytes(after_)};
  change.old_row = encode_old(*as, old_row);
  if (change.old_row == OldRow::key) {
    // The old key is not logged if the new row contains the same one.
    encode(*as, new_row, Columns::identity, key_after_);
    if (key_after_ == before_) change.old_row = OldRow::none;
  }
  if (change.old_row != OldRow::none) change.before = as_bytes(before_);
  note(execution, change);
}

void RowPublisher::note_removed(Execution& execution, std::span<const Value> old_row) {
  Published* const as = published(execution, published::kDelete);
  if (as == nullptr) return;
  PublishedChange change{.kind = ChangeKind::remove, .shape = as->number};
  change.old_row = encode_old(*as, old_row);
  // The row could not be identified. The statement would have been refused if the publication had
  // existed when it began.
  if (change.old_row == OldRow::none) return;
  change.before = as_bytes(before_);
  note(execution, change);
}

void publish_truncate(StatementServices& services, std::span<const TablePtr> tables, bool cascades,
                      bool restarts_sequences) {
  if (!services.logs_changes()) return;
  PublishedChange change{.kind = ChangeKind::truncate};
  change.database = services.catalog_view().of_database().database();
  change.cascades = cascades;
  change.restarts_sequences = restarts_sequences;
  for (const TablePtr& table : tables) {
    const auto shape = shape_of_published(services, *table);
    if (!shape || (shape->events() & published::kTruncate) == 0) continue;
    change.truncated.push_back(number_of_shape(services, *shape));
  }
  if (change.truncated.empty()) return;
  const std::string body = encode_truncate(change);
  const Bytes part = as_bytes(body);
  value_of(LogicalLog::note(services.engine_transaction(), std::span{&part, 1}));
}

}  // namespace swizzle::sql
