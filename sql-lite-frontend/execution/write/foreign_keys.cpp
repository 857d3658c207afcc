#include "sql-lite-frontend/execution/write/foreign_keys.h"

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

/// An event in the queue packs the note's position and its table's index into one number, half
/// each.
constexpr unsigned kHalf = 32;
constexpr std::int64_t kLowHalf = (std::int64_t{1} << kHalf) - 1;

}  // namespace

void ReferenceQueue::add(WorkMemory& memory, const std::shared_ptr<EventActor>& actor,
                         std::int64_t event, std::span<const Value> values) {
  if (next_.actors.empty() || next_.actors.back() != actor) next_.actors.push_back(actor);
  const auto place = static_cast<std::int64_t>(next_.actors.size() - 1);
  next_.events.add(memory, place << kHalf | event, values);
}

void ReferenceQueue::add_last(const std::shared_ptr<EventActor>& actor, StatementKey key) {
  std::erase_if(next_.last, [key](const Level::Last& one) { return one.key == key; });
  next_.last.push_back({key, actor});
}

ReferenceQueue::Run::~Run() {
  queue_.is_running_ = false;
  queue_.next_.clear();
  queue_.begun_.clear();
  queue_.rows_.clear();
}

void ReferenceQueue::Run::finish(Execution& execution) {
  for (Level level; !queue_.next_.empty(); level.clear()) {
    std::swap(level, queue_.next_);
    RowEvents::Reader reader{level.events};
    while (reader.next()) {
      execution.tick();
      EventActor& actor = *level.actors[static_cast<std::size_t>(reader.what() >> kHalf)];
      actor.act_on(execution, reader.what() & kLowHalf, reader.values());
    }
    for (const Level::Last& last : level.last) {
      if (!queue_.has_later(last.key)) last.actor->act_last(execution);
    }
  }
}

ReferenceQueue::Aside::Aside(ReferenceQueue& queue) : queue_(queue) {
  if (queue.is_running_) around_ = std::make_unique<ReferenceQueue>(std::exchange(queue, {}));
}

ReferenceQueue::Aside::~Aside() {
  if (around_) queue_ = std::move(*around_);
}

}  // namespace swizzle::sql
