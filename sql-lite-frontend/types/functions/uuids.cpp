#include <algorithm>
#include <atomic>

#include "sql-lite-frontend/types/datetime/datetime.h"
#include "sql-lite-frontend/types/datetime/datetime_ops.h"
#include "sql-lite-frontend/types/datetime/datetime_parse.h"
#include "sql-lite-frontend/types/functions/entries.h"
#include "sql-lite-frontend/types/sql_error.h"

/// UUIDs of RFC 9562: random ones (version 4), and those that begin with their time (version 7).
namespace swizzle::sql {
namespace {

using Arguments = std::span<const Value>;

constexpr std::size_t kBytes = 16;
constexpr std::size_t kVersionByte = 6;
constexpr std::size_t kVariantByte = 8;
/// Layout of version 7: 48 bits of milliseconds since 1970, then 12 bits of the fraction of a
/// millisecond.
constexpr std::size_t kTimeBytes = 6;
constexpr std::int64_t k1970To2000Micros = kUnixEpochSeconds * kMicrosPerSecond;

void mark(std::byte* uuid, unsigned version) {
  uuid[kVersionByte] =
      (uuid[kVersionByte] & std::byte{0x0f}) | static_cast<std::byte>(version << 4U);
  uuid[kVariantByte] = (uuid[kVariantByte] & std::byte{0x3f}) | std::byte{0x80};
}

Value random_uuid(FunctionContext& context, Arguments) {
  std::byte* const out = context.arena.allocate(kBytes, 1);
  context.session.random_bytes({out, kBytes});
  mark(out, 4);
  return Value::from_bytes({out, kBytes});
}

/// `micros` counts from 2000-01-01. The fraction of its last millisecond is stored in 4,096ths.
Value uuid_at(FunctionContext& context, std::int64_t micros) {
  std::byte* const out = context.arena.allocate(kBytes, 1);
  context.session.random_bytes({out, kBytes});
  const std::int64_t since_1970 = micros + k1970To2000Micros;
  const std::int64_t part = floor_mod(since_1970, 1000);
  auto millis = static_cast<std::uint64_t>((since_1970 - part) / 1000);
  for (std::size_t i = kTimeBytes; i-- > 0; millis >>= 8U) out[i] = static_cast<std::byte>(millis);
  const auto fraction = static_cast<unsigned>(part * 4096 / 1000);
  out[kVersionByte] = static_cast<std::byte>(fraction >> 8U);
  out[kVersionByte + 1] = static_cast<std::byte>(fraction);
  mark(out, 7);
  return Value::from_bytes({out, kBytes});
}

/// Returns the time for a new UUID: the clock's, but later than that of every earlier UUID of the
/// server, so that a session's UUIDs ascend.
std::int64_t time_for_uuid(const SessionContext& session) {
  static std::atomic<std::int64_t> last{0};
  const std::int64_t now = session.clock();
  std::int64_t before = last.load(std::memory_order_relaxed);
  while (
      !last.compare_exchange_weak(before, std::max(now, before + 1), std::memory_order_relaxed)) {
  }
  return std::max(now, before + 1);
}

Value timed_uuid(FunctionContext& context, Arguments) {
  return uuid_at(context, time_for_uuid(context.session));
}
Value shifted_uuid(FunctionContext& context, Arguments a) {
  const std::int64_t shifted = add_interval_in_zone(time_for_uuid(context.session),
                                                    a[0].as_interval(), session_zone(context));
  if (is_infinite_timestamp(shifted))
    throw SqlError{sqlstate::datetime_field_overflow, "timestamp out of range"};
  constexpr std::int64_t kMostMillis = (std::int64_t{1} << 48) - 1;
  const std::int64_t millis = floor_div(shifted + k1970To2000Micros, 1000);
  if (millis < 0 || millis > kMostMillis) {
    throw SqlError{sqlstate::datetime_field_overflow, "timestamp out of range for UUID version 7"}
        .with_detail(
            "UUID version 7 supports timestamps from 1970-01-01 to approximately year 10889.");
  }
  return uuid_at(context, shifted);
}

bool is_of_rfc(Bytes uuid) {
  return (uuid[kVariantByte] & std::byte{0xc0}) == std::byte{0x80};
}
unsigned version_of(Bytes uuid) {
  return std::to_integer<unsigned>(uuid[kVersionByte]) >> 4U;
}

Value extract_version(FunctionContext&, Arguments a) {
  const Bytes uuid = a[0].as_bytes();
  return is_of_rfc(uuid) ? Value::from_int(version_of(uuid)) : Value::null();
}

std::int64_t bits(Bytes uuid, std::size_t begin, std::size_t end) {
  std::int64_t out = 0;
  for (std::size_t i = begin; i < end; ++i) out = out << 8 | std::to_integer<std::int64_t>(uuid[i]);
  return out;
}

/// Only versions 1 and 7 hold a timestamp.
Value extract_timestamp(FunctionContext&, Arguments a) {
  const Bytes uuid = a[0].as_bytes();
  if (!is_of_rfc(uuid)) return Value::null();
  if (version_of(uuid) == 1) {
    constexpr std::int64_t kGregorianTo2000Micros = 13'165'977'600'000'000;
    const std::int64_t tenths =
        (bits(uuid, 6, 8) & 0x0fff) << 48 | bits(uuid, 4, 6) << 32 | bits(uuid, 0, 4);
    return Value::from_int(tenths / 10 - kGregorianTo2000Micros);
  }
  if (version_of(uuid) == 7)
    return Value::from_int(bits(uuid, 0, kTimeBytes) * 1000 - k1970To2000Micros);
  return Value::null();
}

constexpr ScalarEntry kUuidEntries[] = {
    {"gen_random_uuid()", &random_uuid},
    {"uuidv4()", &random_uuid},
    {"uuidv7()", &timed_uuid},
    {"uuidv7(interval)", &shifted_uuid},
    {"uuid_extract_version(uuid)", &extract_version},
    {"uuid_extract_timestamp(uuid)", &extract_timestamp},
};

}  // namespace

std::span<const ScalarEntry> uuid_functions() {
  return kUuidEntries;
}

}  // namespace swizzle::sql
