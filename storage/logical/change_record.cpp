#include "storage/logical/change_record.h"

namespace swizzle::payload {

void encode_noted(const NotedChange& change, std::byte* head) noexcept {
  store(head, change.undo_position);
  store(head + sizeof change.undo_position, change.part);
}

std::optional<NotedChange> decode_noted(Bytes payload) noexcept {
  if (payload.size() < kNotedHeadBytes) return std::nullopt;
  NotedChange change;
  change.undo_position = load<std::uint64_t>(payload.data());
  const auto part = load<std::uint8_t>(payload.data() + sizeof change.undo_position);
  if (part > 1) return std::nullopt;
  change.part = NotedChange::Part{part};
  change.body = payload.subspan(kNotedHeadBytes);
  return change;
}

std::optional<std::uint64_t> decode_taken_back(Bytes payload) noexcept {
  if (payload.size() != sizeof(std::uint64_t)) return std::nullopt;
  return load<std::uint64_t>(payload.data());
}

}  // namespace swizzle::payload
