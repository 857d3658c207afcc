#include "storage/recovery/records/prepared_record.h"

#include <utility>

#include "base/field_codec.h"

namespace swizzle::payload {
namespace {

constexpr std::size_t kMostPortionBytes = std::size_t{64} << 10U;

/// Kind of an item; its fields follow.
enum class Item : std::uint8_t {
  key = 0,            ///< tree u32, hash u64, access to the key u8, to the gap u8
  table = 1,          ///< tree u32, mode u8
  database = 2,       ///< the same fields; the tree's number is 0
  relation = 3,       ///< relation u32, mode u8
  relation_rows = 4,  ///< the same fields
  undo_traits = 16,   ///< younger changes u64, bits u8: 1 a move, 2 takes the key
};
constexpr std::uint8_t kIsMove = 1;
constexpr std::uint8_t kTakesKey = 2;

std::unexpected<Error> malformed() {
  return fail(sqlstate::data_corrupted, "malformed log record: prepared transaction");
}

Item item_of(lock::LockRow::Kind kind) noexcept {
  switch (kind) {
    case lock::LockRow::Kind::table:
      return Item::table;
    case lock::LockRow::Kind::database:
      return Item::database;
    case lock::LockRow::Kind::relation:
      return Item::relation;
    case lock::LockRow::Kind::relation_rows:
      return Item::relation_rows;
    case lock::LockRow::Kind::key:
    case lock::LockRow::Kind::transaction:
    case lock::LockRow::Kind::relation_holders:
      break;
  }
  return Item::key;
}

void put_lock(FieldWriter& out, const lock::HeldLock& lock) {
  out.put(item_of(lock.kind));
  out.put(lock.place);
  if (lock.kind != lock::LockRow::Kind::key) {
    out.put(lock.table_mode);
    return;
  }
  out.put(lock.hash);
  out.put(lock.key_mode.key);
  out.put(lock.key_mode.gap);
}

Result<lock::HeldLock> take_key(FieldReader& in) {
  lock::HeldLock lock;
  lock.place = in.take<std::uint32_t>();
  lock.hash = in.take<std::uint64_t>();
  const auto key = in.take<std::uint8_t>();
  const auto gap = in.take<std::uint8_t>();
  if (key >= lock::kAccesses || gap >= lock::kAccesses) return malformed();
  lock.key_mode = {lock::Access{key}, lock::Access{gap}};
  return lock;
}

Result<lock::HeldLock> take_whole(FieldReader& in, lock::LockRow::Kind kind) {
  lock::HeldLock lock;
  lock.kind = kind;
  lock.place = in.take<std::uint32_t>();
  const auto mode = in.take<std::uint8_t>();
  if (mode == 0 || mode >= lock::kTableModes) return malformed();
  lock.table_mode = lock::TableMode{mode};
  return lock;
}

Result<> take_item(FieldReader& in, PreparedKept& into) {
  using Kind = lock::LockRow::Kind;
  const auto take = [&](auto&& taken) -> Result<> {
    if (!taken) return fail(std::move(taken).error());
    into.locks.push_back(*taken);
    return {};
  };
  switch (Item{in.take<std::uint8_t>()}) {
    case Item::key:
      return take(take_key(in));
    case Item::table:
      return take(take_whole(in, Kind::table));
    case Item::database:
      return take(take_whole(in, Kind::database));
    case Item::relation:
      return take(take_whole(in, Kind::relation));
    case Item::relation_rows:
      return take(take_whole(in, Kind::relation_rows));
    case Item::undo_traits: {
      const auto younger = in.take<std::uint64_t>();
      const auto bits = in.take<std::uint8_t>();
      into.traits.push_back({younger, (bits & kIsMove) != 0, (bits & kTakesKey) != 0});
      return {};
    }
  }
  return malformed();
}

}  // namespace

std::vector<std::byte> encode_prepared(const PreparedRecord& record) {
  std::vector<std::byte> bytes;
  FieldWriter out(bytes);
  out.put(record.prepared_at_us);
  out.put(record.kept_items);
  out.put(record.began_at);
  out.put(static_cast<std::uint16_t>(record.gid.size()));
  out.put(static_cast<std::uint32_t>(record.note.size()));
  out.put_bytes(as_bytes(record.gid));
  out.put_bytes(record.note);
  return bytes;
}

Result<PreparedRecord> decode_prepared(Bytes payload) {
  FieldReader in(payload);
  PreparedRecord record;
  record.prepared_at_us = in.take<std::int64_t>();
  record.kept_items = in.take<std::uint64_t>();
  record.began_at = in.take<Lsn>();
  const auto gid_size = in.take<std::uint16_t>();
  const auto note_size = in.take<std::uint32_t>();
  record.gid = as_text(in.take_bytes(gid_size));
  const Bytes note = in.take_bytes(note_size);
  record.note.assign(note.begin(), note.end());
  if (!in.is_whole() || !in.at_end() || gid_size > kMostGidBytes) return malformed();
  return record;
}

std::vector<std::vector<std::byte>> encode_kept(const PreparedKept& kept) {
  std::vector<std::vector<std::byte>> portions;
  const auto next = [&]() -> std::vector<std::byte>& {
    constexpr std::size_t kRoomForAnItem = 32;
    if (portions.empty() || portions.back().size() + kRoomForAnItem > kMostPortionBytes)
      portions.emplace_back();
    return portions.back();
  };
  for (const lock::HeldLock& lock : kept.locks) {
    FieldWriter out(next());
    put_lock(out, lock);
  }
  for (const UndoTraits& traits : kept.traits) {
    FieldWriter out(next());
    out.put(Item::undo_traits);
    out.put(traits.younger);
    const int bits = (traits.is_move ? kIsMove : 0) | (traits.takes_key ? kTakesKey : 0);
    out.put(static_cast<std::uint8_t>(bits));
  }
  return portions;
}

Result<> decode_kept(Bytes payload, PreparedKept& into) {
  FieldReader in(payload);
  while (!in.at_end()) RETURN_IF_ERROR(take_item(in, into));
  if (!in.is_whole()) return malformed();
  return {};
}

}  // namespace swizzle::payload
