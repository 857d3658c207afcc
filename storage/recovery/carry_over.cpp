#include "storage/recovery/carry_over.h"

#include <algorithm>
#include <ranges>
#include <vector>

#include "storage/recovery/records/prepared_record.h"
#include "storage/recovery/records/record_effects.h"

namespace swizzle {
namespace {

/// Returns the records that must be carried over, the newest first, without those undone by a
/// savepoint.
Result<std::vector<Lsn>> standing_records(wal::Reader& reader, Lsn last) {
  std::vector<Lsn> records;
  while (last != Lsn::none) {
    ASSIGN_OR_RETURN(const wal::Record record, reader.read(last));
    if ((record.header.flags & record_flags::kCompensation) != 0) {
      last = record.header.undo_next;
      continue;
    }
    // Undo of the tree's row also frees the root of a new tree.
    if (kind_of(record.header) != RecordKind::page_image) records.push_back(last);
    last = record.header.txn_prev;
  }
  return records;
}

/// Returns the payload with `began_at` set, since the pages keep the LSNs that the changes had in
/// the old log.
Result<std::vector<std::byte>> moved(Bytes payload, Lsn first) {
  ASSIGN_OR_RETURN(PreparedRecord record, payload::decode_prepared(payload));
  if (record.began_at == Lsn::none) record.began_at = first;
  return payload::encode_prepared(record);
}

Result<> carry_over(wal::Reader& reader, const ActiveTransaction& transaction, wal::Log& to) {
  ASSIGN_OR_RETURN(const std::vector<Lsn> records, standing_records(reader, transaction.last));
  Lsn previous = Lsn::none;
  for (const Lsn lsn : std::views::reverse(records)) {
    ASSIGN_OR_RETURN(const wal::Record record, reader.read(lsn));
    wal::RecordHeader header;
    header.kind = record.header.kind;
    header.txn = transaction.id;
    header.txn_prev = previous;
    header.tree = record.header.tree;
    header.flags = record.header.flags;
    std::vector<std::byte> payload{record.payload.begin(), record.payload.end()};
    if (kind_of(header) == RecordKind::transaction_prepared) {
      ASSIGN_OR_RETURN(payload, moved(payload, transaction.first));
    }
    ASSIGN_OR_RETURN(wal::Reservation space, to.reserve(payload.size()));
    previous = to.append(space, header, payload).lsn;
  }
  return {};
}

}  // namespace

Result<> carry_over_prepared(const wal::Log& from, std::span<const ActiveTransaction> prepared,
                             wal::Log& to) {
  wal::Reader reader = from.reader(wal::ReadPattern::random);
  for (const ActiveTransaction& transaction : prepared)
    RETURN_IF_ERROR(carry_over(reader, transaction, to));
  to.flush_to(to.tail());
  return {};
}

}  // namespace swizzle
