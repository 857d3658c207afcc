#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/bytes.h"
#include "base/ids.h"
#include "base/result.h"
#include "storage/btree/node.h"
#include "wal/record.h"

namespace swizzle {

/// Kinds of log records of storage. The numbers are part of the on-disk format.
enum class RecordKind : std::uint8_t {
  // A user's changes to one leaf. Undone by key.
  leaf_insert = 16,  ///< a new key, or a ghost that comes to life
  leaf_update = 17,  ///< a new value; carries the old and new bytes that differ
  leaf_remove =
      18,  ///< the record becomes a ghost; carries its value, which a later insert may replace

  leaf_removals = 19,  ///< the same of several records of a leaf. Undone in steps, the last first

  // System transactions: they change where records are, not which records a transaction sees. Never
  // undone.
  ghosts_removed = 24,
  node_split = 25,         ///< page: left; page2: the new foster child, whose image it carries
  foster_adopted = 26,     ///< page: parent; page2: the foster parent that gives its child up
  root_grown = 27,         ///< page: root; page2: the new child, whose image it carries
  child_deadopted = 28,    ///< page: parent; page2: the left child that becomes a foster parent
  nodes_merged = 29,       ///< page: takes all records, with its image; page2: freed
  nodes_rebalanced = 30,   ///< images of both
  page_image = 31,         ///< a root, new or filled by a load; undo gives new ones back
  pages_freed = 32,        ///< the root of a dropped tree; no page is changed
  child_appended = 35,     ///< page: parent; page2: its new last child, whose image it carries
  children_freed = 36,     ///< page: their parent, which forgets them
  records_discarded = 37,  ///< of a dropped tree; carries their slots, and no value

  // A transaction begins to load a tree that it has created. Undone by emptying the tree.
  load_begun = 33,   ///< carries the tree's id
  load_undone = 34,  ///< compensates load_begun

  transaction_committed = 48,
  transaction_ended = 49,     ///< rolled back, all compensation before it
  transaction_prepared = 50,  ///< stays after a crash until it is committed or rolled back
  prepared_kept = 51,         ///< before it: what its restart needs beyond its changes
  checkpoint = 56,
  restore_point = 57,   ///< a name for this place of the log; changes nothing
  segment_filled = 58,  ///< zeros, up to the next segment

  // For readers of the logical log (logical/); not redone or undone, and in no chain.
  change_noted = 60,        ///< change of a transaction in terms of the layer above
  changes_taken_back = 61,  ///< it was rolled back to a savepoint
};

/// Flags in a record's header.
namespace record_flags {
inline constexpr std::uint8_t kCompensation = 1;
}

/// The payloads. Each is encoded as a short head, for which the caller has room on its stack,
/// followed by spans that are not copied.
namespace payload {

/// A record as inserted, or as it was before its removal.
struct LeafRow {
  Bytes key;
  Bytes value;
  bool overflow = false;
};
/// The value's bytes [offset, offset + size of old_part) change to new_part.
struct LeafUpdate {
  Bytes key;
  std::uint16_t offset = 0;
  Bytes old_part;
  Bytes new_part;
  bool old_overflow = false;
  bool new_overflow = false;
};
struct KeyAndPage {
  Bytes key;
  PageId page;
};
struct Deadoption {
  Bytes key;  ///< of the child that leaves the parent
  PageId child;
  KeyBound chain_high;  ///< that child's, and now its foster parent's
};

/// State of a node whose children are freed: the first eight bytes of children_freed. The pages'
/// numbers follow.
enum class AfterFreeing : std::uint64_t {
  childless,   ///< a branch without children, soon to be freed itself
  empty_leaf,  ///< a root; its foster children are freed too
};

inline constexpr std::size_t kMaxHeadBytes = 24;
/// Returns the most bytes that undoing a record adds to the log: one record for each row.
constexpr std::uint64_t most_undo_bytes(std::uint64_t rows, std::uint64_t payload_bytes) noexcept {
  return rows * (wal::kMaxRecordOverhead + kMaxHeadBytes) + payload_bytes;
}
struct Head {
  std::array<std::byte, kMaxHeadBytes> bytes;
  std::size_t size = 0;
  [[nodiscard]] Bytes span() const noexcept { return {bytes.data(), size}; }
};

Head head_of(const LeafRow& of) noexcept;
Head head_of(const LeafUpdate& of) noexcept;
Head head_of(const KeyAndPage& of) noexcept;
Head head_of(const Deadoption& of) noexcept;

/// One of the rows of leaf_removals: the sizes of key and value, then both.
inline constexpr std::size_t kRemovalHeadBytes = 4;
inline std::size_t removal_bytes(std::size_t key_bytes, std::size_t value_bytes) noexcept {
  return kRemovalHeadBytes + key_bytes + value_bytes;
}
/// Pre: `into` has room for it. Returns the position after it.
std::byte* put_removal(std::byte* into, Bytes key, Bytes value) noexcept;

// XX001 when the payload is not what its kind says.
Result<LeafRow> decode_leaf_row(Bytes payload);
Result<LeafUpdate> decode_leaf_update(Bytes payload);
/// At least one row. None is in the overflow tree.
Result<std::vector<LeafRow>> decode_leaf_rows(Bytes payload);
/// Returns how many rows that would be; of a malformed payload, fewer.
std::uint64_t count_leaf_rows(Bytes payload) noexcept;
Result<KeyAndPage> decode_key_and_page(Bytes payload);
Result<Deadoption> decode_deadoption(Bytes payload);

/// A page without its free middle, all references page ids: {bytes before the gap, those bytes, the
/// bytes after the gap}. `scratch` holds the copy.
class PageImagePayload {
 public:
  /// `page` is held; its references may be addresses.
  explicit PageImagePayload(const std::byte* page) noexcept;
  [[nodiscard]] Bytes span() const noexcept { return {bytes_.data(), size_}; }

 private:
  std::array<std::byte, kPageBytes + 2> bytes_;
  std::size_t size_;
};
/// Restores the image at the start of `payload` and returns the bytes after it.
Result<Bytes> restore_image(Bytes payload, std::byte* page);

}  // namespace payload

}  // namespace swizzle
