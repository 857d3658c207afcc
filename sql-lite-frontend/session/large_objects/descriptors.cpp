#include "sql-lite-frontend/session/large_objects/descriptors.h"

#include <algorithm>

#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {

std::int32_t LargeObjectDescriptors::add(LargeObjectDescriptor descriptor) {
  descriptor.number = next_number_++;
  auto place = std::ranges::find_if(open_, [](const auto& one) { return !one; });
  if (place == open_.end()) place = open_.insert(open_.end(), std::nullopt);
  *place = std::move(descriptor);
  return static_cast<std::int32_t>(place - open_.begin());
}

LargeObjectDescriptor& LargeObjectDescriptors::at(std::int32_t descriptor) {
  const auto place = static_cast<std::size_t>(descriptor);
  if (descriptor < 0 || place >= open_.size() || !open_[place]) {
    throw_error(sqlstate::undefined_object, "invalid large-object descriptor: {}", descriptor);
  }
  return *open_[place];
}

void LargeObjectDescriptors::close(std::int32_t descriptor) {
  static_cast<void>(at(descriptor));
  open_[static_cast<std::size_t>(descriptor)].reset();
}

void LargeObjectDescriptors::close_all_of(Oid object) noexcept {
  for (auto& one : open_) {
    if (one && one->object == object) one.reset();
  }
}

void LargeObjectDescriptors::roll_back_to(std::uint64_t mark) noexcept {
  for (auto& one : open_) {
    if (one && one->number >= mark) one.reset();
  }
}

}  // namespace swizzle::sql
