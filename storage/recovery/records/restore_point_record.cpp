#include "storage/recovery/records/restore_point_record.h"

#include "base/invariant.h"

namespace swizzle::payload {

std::vector<std::byte> encode_restore_point(std::int64_t time_us, std::string_view name) {
  INVARIANT(name.size() <= kMostRestorePointBytes);
  std::vector<std::byte> bytes(sizeof time_us);
  store(bytes.data(), time_us);
  const Bytes text = as_bytes(name);
  bytes.insert(bytes.end(), text.begin(), text.end());
  return bytes;
}

Result<RestorePointRecord> decode_restore_point(Bytes payload) {
  constexpr std::size_t kTimeBytes = sizeof(std::int64_t);
  if (payload.size() < kTimeBytes || payload.size() > kTimeBytes + kMostRestorePointBytes)
    return fail(sqlstate::data_corrupted, "malformed log record: restore point");
  return RestorePointRecord{load<std::int64_t>(payload.data()),
                            std::string{as_text(payload.subspan(kTimeBytes))}};
}

}  // namespace swizzle::payload
