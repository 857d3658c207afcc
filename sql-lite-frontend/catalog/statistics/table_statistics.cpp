#include "sql-lite-frontend/catalog/statistics/table_statistics.h"

#include <algorithm>
#include <cstring>

#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

constexpr std::uint8_t kFormat = 1;

[[noreturn]] void corrupt() {
  throw SqlError{sqlstate::data_corrupted, "stored statistics do not have their form"};
}

template <class T>
void put(std::string& out, T value) {
  char bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  out.append(bytes, sizeof value);
}

void put_text(std::string& out, std::string_view text) {
  put(out, static_cast<std::uint32_t>(text.size()));
  out += text;
}

template <class T>
T take(Bytes& from) {
  if (from.size() < sizeof(T)) corrupt();
  const T value = load<T>(from.data());
  from = from.subspan(sizeof(T));
  return value;
}

std::string take_text(Bytes& from) {
  const std::size_t size = take<std::uint32_t>(from);
  if (size > from.size()) corrupt();
  std::string text{as_text(from.first(size))};
  from = from.subspan(size);
  return text;
}

}  // namespace

const ColumnStatistics* TableStatistics::column(std::int16_t number, TypeId type) const noexcept {
  const auto found = std::ranges::find(columns, number, &ColumnStatistics::column);
  return found == columns.end() || found->type != type ? nullptr : &*found;
}

std::string encode(const ColumnStatistics& statistics) {
  std::string out;
  put(out, kFormat);
  put(out, statistics.column);
  put(out, static_cast<std::uint32_t>(statistics.type));
  for (const double number : {statistics.null_fraction, statistics.average_width,
                              statistics.distinct, statistics.correlation}) {
    put(out, number);
  }
  put(out, static_cast<std::uint32_t>(statistics.common.size()));
  for (const ColumnStatistics::Common& common : statistics.common) {
    put(out, common.frequency);
    put_text(out, common.value);
  }
  put(out, static_cast<std::uint32_t>(statistics.histogram.size()));
  for (const std::string& bound : statistics.histogram) put_text(out, bound);
  return out;
}

ColumnStatistics decode_column_statistics(Bytes bytes) {
  if (take<std::uint8_t>(bytes) != kFormat) corrupt();
  ColumnStatistics statistics;
  statistics.column = take<std::int16_t>(bytes);
  statistics.type = TypeId{take<std::uint32_t>(bytes)};
  statistics.null_fraction = take<double>(bytes);
  statistics.average_width = take<double>(bytes);
  statistics.distinct = take<double>(bytes);
  statistics.correlation = take<double>(bytes);
  for (auto left = take<std::uint32_t>(bytes); left > 0; --left) {
    const auto frequency = take<double>(bytes);
    statistics.common.push_back({take_text(bytes), frequency});
  }
  for (auto left = take<std::uint32_t>(bytes); left > 0; --left) {
    statistics.histogram.push_back(take_text(bytes));
  }
  if (!bytes.empty()) corrupt();
  return statistics;
}

}  // namespace swizzle::sql
