#include "storage/recovery/records/history_event.h"

#include <utility>

#include "base/bytes.h"
#include "storage/recovery/records/record_effects.h"
#include "storage/recovery/records/restore_point_record.h"

namespace swizzle {

Result<HistoryEvent> event_of(const wal::Record& record) {
  using Kind = HistoryEvent::Kind;
  // A restart logs the end of a loser without a time.
  const auto time = [&record]() -> std::optional<std::int64_t> {
    if (record.payload.size() < sizeof(std::int64_t)) return std::nullopt;
    return load<std::int64_t>(record.payload.data());
  };
  switch (kind_of(record.header)) {
    case RecordKind::transaction_committed:
      return HistoryEvent{Kind::commit, time()};
    case RecordKind::transaction_ended:
      return HistoryEvent{Kind::rollback, time()};
    case RecordKind::transaction_prepared:
      return HistoryEvent{Kind::preparation, time()};
    case RecordKind::restore_point: {
      ASSIGN_OR_RETURN(RestorePointRecord point, payload::decode_restore_point(record.payload));
      return HistoryEvent{Kind::restore_point, point.time_us, std::move(point.name)};
    }
    default:
      return HistoryEvent{};
  }
}

}  // namespace swizzle
