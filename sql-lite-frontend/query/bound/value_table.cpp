#include "sql-lite-frontend/query/bound/value_table.h"

#include "base/runtime/long_work.h"
#include "sql-lite-frontend/types/type.h"

namespace swizzle::sql {
namespace {

bool is_whole_number(TypeId type) {
  return value_type(type).order.is_integer;
}

}  // namespace

ValueTable::ValueTable(std::span<const TypeId> types)
    : is_number_(types.size() == 1 && is_whole_number(types[0])), writer_(types) {}

std::uint32_t& ValueTable::place() {
  if (!is_number_) return table_[writer_.key()];
  if (number_.is_null()) return null_;
  if (size_ * 2 >= numbers_.size()) grow();
  Entry& entry = numbers_[place_of(number_.as_int8())];
  if (entry.number == kAbsent) {
    entry.key = number_.as_int8();
    ++size_;
  }
  return entry.number;
}

const std::string& ValueTable::key() {
  if (is_number_) {
    writer_.clear();
    writer_.add(0, number_);
  }
  return writer_.key();
}

void ValueTable::grow() {
  constexpr std::size_t kWorkOfEntry = 20;
  CountedVector<Entry> old(numbers_.empty() ? 16 : numbers_.size() * 2, Entry{},
                           numbers_.get_allocator());
  std::swap(old, numbers_);
  for (const Entry& entry : old) {
    unending_yield_point(kWorkOfEntry);
    if (entry.number != kAbsent) numbers_[place_of(entry.key)] = entry;
  }
}

void ValueTable::release() noexcept {
  table_.release();
  sql::release(numbers_);
  size_ = 0;
  null_ = kAbsent;
}

void ValueTable::clear() {
  if (held_bytes() > kKeptByStep) return release();
  table_.clear();
  numbers_.assign(numbers_.size(), Entry{});
  size_ = 0;
  null_ = kAbsent;
}

}  // namespace swizzle::sql
