#include "sql-lite-frontend/execution/write/row_events.h"

namespace swizzle::sql {

void RowEvents::add(WorkMemory& memory, std::int64_t what, std::span<const Value> values) {
  if (!rows_) rows_ = std::make_unique<RowFile>(memory.files, memory.work_bytes);
  row_.assign(1, Value::from_int(what));
  row_.insert(row_.end(), values.begin(), values.end());
  rows_->append(row_);
  share_.set(&memory, rows_->held_bytes());
}

void RowEvents::clear() noexcept {
  if (!rows_) return;
  if (rows_->held_bytes() > kKeptByStep || rows_->has_file()) {
    rows_.reset();
    share_.lower(0);
  } else {
    rows_->cut(0, 0);
  }
}

void RowEvents::cut(const Mark& mark) noexcept {
  if (rows_) rows_->cut(mark.bytes, mark.size);
}

RowEvents::Reader::Reader(const RowEvents& events) : Reader(events, Mark{}) {}

RowEvents::Reader::Reader(const RowEvents& events, const Mark& from) {
  if (!events.rows_) return;
  rows_.emplace(*events.rows_);
  rows_->seek(from.bytes);
}

bool RowEvents::Reader::next() {
  return rows_ && rows_->next_whole(values_);
}

}  // namespace swizzle::sql
