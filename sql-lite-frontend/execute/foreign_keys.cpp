#include "sql-lite-frontend/execute/foreign_keys.h"

#include <algorithm>
#include <utility>

namespace swizzle::sql {

template <class Do>
void ForeignKeys::for_each_note(const Do& perform) {
  for (const bool asks_for_action : {true, false}) {
    RowEvents::Reader reader{notes_};
    while (reader.next()) {
      const Note note = Note::of_event(reader.what(), reader.values());
      if (note.asks_for_action() == asks_for_action) perform(note, reader);
    }
  }
}

void ForeignKeys::finish(Execution& execution) {
  if (notes_.empty()) return;
  for_each_note(
      [&](const Note& note, const RowEvents::Reader&) { references_->perform(execution, note); });
  notes_.clear();
}

void ForeignKeys::finish_later(Execution& execution, ReferenceQueue& queue) {
  for_each_note([&](const Note&, const RowEvents::Reader& reader) {
    queue.add(*execution.memory, references_, reader.what(), reader.values());
  });
  begin();
}

namespace {

/// An event of the queue is a note's and the place of its table, each in half of the number.
constexpr unsigned kHalf = 32;
constexpr std::int64_t kLowHalf = (std::int64_t{1} << kHalf) - 1;

}  // namespace

void ReferenceQueue::add(WorkMemory& memory, const std::shared_ptr<TableReferences>& references,
                         std::int64_t event, std::span<const Value> values) {
  if (next_.references.empty() || next_.references.back() != references) {
    next_.references.push_back(references);
  }
  const auto place = static_cast<std::int64_t>(next_.references.size() - 1);
  next_.events.add(memory, place << kHalf | event, values);
}

ReferenceQueue::Run::~Run() {
  queue_.is_running_ = false;
  queue_.next_.clear();
}

void ReferenceQueue::Run::finish(Execution& execution) {
  for (Level level; !queue_.next_.events.empty(); level.clear()) {
    std::swap(level, queue_.next_);
    RowEvents::Reader reader{level.events};
    while (reader.next()) {
      execution.tick();
      TableReferences& references =
          *level.references[static_cast<std::size_t>(reader.what() >> kHalf)];
      references.perform(
          execution, TableReferences::Note::of_event(reader.what() & kLowHalf, reader.values()));
    }
  }
}

}  // namespace swizzle::sql
