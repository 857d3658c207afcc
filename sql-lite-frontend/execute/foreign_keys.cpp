#include "sql-lite-frontend/execute/foreign_keys.h"

#include <algorithm>
#include <utility>

namespace swizzle::sql {

template <class Do>
void ForeignKeys::for_each_note(const Do& perform) const {
  for (const Note& note : notes_) {
    if (note.asks_for_action()) perform(note);
  }
  for (const Note& note : notes_) {
    if (!note.asks_for_action()) perform(note);
  }
}

void ForeignKeys::finish(Execution& execution) {
  if (notes_.empty()) return;
  for_each_note([&](const Note& note) { references_->perform(execution, note); });
  notes_.clear();
}

void ForeignKeys::finish_later(ReferenceQueue& queue) {
  for_each_note([&](const Note& note) { queue.add(references_, note); });
  begin();
}

void ReferenceQueue::add(const std::shared_ptr<TableReferences>& references,
                         const TableReferences::Note& note) {
  TableReferences::Note kept{note.kind, note.key, {}, {}};
  for (const Value& value : note.old_values) kept.old_values.push_back(value.copy_to(next_.arena));
  for (const Value& value : note.new_values) kept.new_values.push_back(value.copy_to(next_.arena));
  next_.items.push_back({references, std::move(kept)});
}

ReferenceQueue::Run::~Run() {
  queue_.is_running_ = false;
  queue_.next_.clear();
}

void ReferenceQueue::Run::finish(Execution& execution) {
  for (Level level; !queue_.next_.items.empty(); level.clear()) {
    std::swap(level, queue_.next_);
    for (const Item& item : level.items) {
      execution.tick();
      item.references->perform(execution, item.note);
    }
  }
}

}  // namespace swizzle::sql
