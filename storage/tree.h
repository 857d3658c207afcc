#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "base/bytes.h"
#include "base/ids.h"
#include "base/result.h"
#include "storage/access.h"

/// Records by key: a tree's interface, its scans, and its bulk load.
namespace swizzle {

class Cursor;
class Transaction;

/// A value that a read copies out. Reused by the next call, so that a warm read allocates nothing.
class ValueBuffer {
 public:
  [[nodiscard]] Bytes bytes() const noexcept { return {data_.get(), size_}; }
  /// Room for `size` bytes whose content the caller fills; the old content is lost.
  MutableBytes prepare(std::size_t size) {
    if (size > capacity_) grow(size);
    size_ = size;
    return {data_.get(), size_};
  }

 private:
  void grow(std::size_t size);
  std::unique_ptr<std::byte[]> data_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

/// Builds a tree bottom-up from records in ascending order: several times faster than inserts,
/// since whole pages are logged, no key is locked, and no record has an older version. Rolling back
/// to before the load empties the tree.
///
/// Until finish() the tree shows no records, and must not be changed; a transaction that does not
/// finish a load must roll back to before it. Snapshots older than the transaction's commit see an
/// empty tree, as if the records had been inserted.
class TreeLoad {
 public:
  TreeLoad(const TreeLoad&) = delete;
  TreeLoad& operator=(const TreeLoad&) = delete;
  ~TreeLoad();

  /// Adds a record. False, and nothing is done: the key is not above the one before.
  Result<bool> add(Bytes key, Bytes value);
  /// Makes the tree readable and changeable. Returns how many records were added.
  Result<std::uint64_t> finish();

 private:
  struct State;
  explicit TreeLoad(std::unique_ptr<State> state) noexcept;
  std::unique_ptr<State> state_;
  friend class Engine;
};

/// Half-open by default: [low, high). An absent bound is open-ended.
struct ScanRange {
  enum class Bound : std::uint8_t { inclusive, exclusive };
  std::optional<Bytes> low;
  Bound low_bound = Bound::inclusive;
  std::optional<Bytes> high;
  Bound high_bound = Bound::exclusive;
};
enum class Direction : std::uint8_t { forward, backward };
/// The caller's knowledge of a scan.
enum class ScanHint : std::uint8_t {
  none,        ///< each leaf is read when the cursor reaches it
  sequential,  ///< many leaves will be wanted: they are read ahead
  large,       ///< and, beyond a small share of the pool, evict no others
};

/// A handle on one tree.
class Tree {
 public:
  [[nodiscard]] TreeId id() const noexcept { return id_; }

  /// Returns a handle for a tree that the transaction's snapshot is never read from: records that
  /// others have written or removed since the snapshot are no conflict at REPEATABLE READ.
  [[nodiscard]] Tree beside_snapshot() const noexcept {
    Tree tree{*this};
    tree.obeys_snapshot_ = false;
    return tree;
  }

  [[nodiscard]] bool obeys_snapshot() const noexcept { return obeys_snapshot_; }

  /// Returns false if there is no such key.
  Result<bool> get(Transaction& transaction, Bytes key, ValueBuffer& into,
                   ReadMode mode = ReadMode::snapshot, WaitPolicy wait = WaitPolicy::wait) const;
  /// Locks the key until the transaction ends, with or without a record: no other transaction can
  /// lock it, or write it.
  Result<> lock_key(Transaction& transaction, Bytes key);
  /// Waits until no other transaction has changed the key, or locked it against readers, and keeps
  /// no lock. The caller looks again.
  Result<> wait_for_writer(Transaction& transaction, Bytes key) const;
  /// Prefetches, into the processor's cache, the memory for several lookups at the same time.
  /// Without it each lookup would wait for its cache misses alone. For callers that look up several
  /// keys, one after the other. Only a hint: locks nothing, waits for nothing, reads nothing from
  /// disk.
  /// ReadMode::for_update: the keys will be written too.
  void prefetch(Transaction& transaction, std::span<const Bytes> keys,
                ReadMode mode = ReadMode::snapshot) const noexcept;
  /// Returns false if the key exists (and locks it, so that the answer stays true). `wait` is not
  /// WaitPolicy::skip.
  Result<bool> insert(Transaction& transaction, Bytes key, Bytes value,
                      WaitPolicy wait = WaitPolicy::wait);
  /// Returns false if there is no such key. 40001 where the isolation level forbids overwriting a
  /// newer version. An update does not wait for ReadMode::for_key_share, a removal does.
  Result<bool> update(Transaction& transaction, Bytes key, Bytes value);
  Result<bool> remove(Transaction& transaction, Bytes key);
  /// Moves the record of `from` to `to`, with a new value. This is a removal and an insert, but a
  /// reader that finds the old key in an older snapshot can trace the record to the new one. False:
  /// `to` is there already. Pre: `from` is there and locked for_update.
  Result<bool> move(Transaction& transaction, Bytes from, Bytes to, Bytes value);
  /// Committed state of a record that the statement's view has shown.
  enum class Fate : std::uint8_t {
    stays,  ///< it is under the key
    moved,  ///< to the key that trace() leaves in `moved_to`
    gone,
  };
  /// Position of trace(): at first on the record that the view shows.
  struct KeyPath {
    const void* at = nullptr;
  };
  /// Follows the record of `key` and `path` by one step. Meant for READ COMMITTED, once the key is
  /// locked: there may be another record by then, even with the same value.
  Fate trace(Transaction& transaction, Bytes key, KeyPath& path, ValueBuffer& moved_to) const;
  /// At REPEATABLE READ: true if the newest version of the key is another transaction's and younger
  /// than the snapshot.
  [[nodiscard]] bool changed_since_snapshot(Transaction& transaction, Bytes key) const;
  /// True if reads of the transaction's snapshot see the records that the tree was loaded with.
  /// Always true at READ COMMITTED and SERIALIZABLE, which read a newer snapshot.
  [[nodiscard]] bool is_visible(Transaction& transaction) const;
  /// Copies the bounds. The hint changes only when pages are read, not the result.
  Result<Cursor> scan(Transaction& transaction, const ScanRange& range,
                      Direction direction = Direction::forward, ReadMode mode = ReadMode::snapshot,
                      WaitPolicy wait = WaitPolicy::wait, ScanHint hint = ScanHint::none) const;

 private:
  Tree(TreeId id, void* tree) noexcept : id_(id), tree_(tree) {}
  TreeId id_;
  void* tree_;
  bool obeys_snapshot_ = true;
  friend class Engine;
  friend struct TransactionAccess;
};

/// Moves over live records in key order. Holds no latch between calls, so it may stay open while
/// its transaction, and others, change the tree.
class Cursor {
 public:
  Cursor(Cursor&&) noexcept;
  Cursor& operator=(Cursor&&) noexcept;
  ~Cursor();

  /// Returns false at the end. key() and value() are valid until the next call.
  Result<bool> next();
  /// Skips the rest of a leaf without returning records, for callers that only count. Returns the
  /// number of records, 0 at the end. Takes no locks in modes other than ReadMode::snapshot.
  Result<std::size_t> pass();
  [[nodiscard]] Bytes key() const noexcept;
  [[nodiscard]] Bytes value() const noexcept;
  /// Returns the number of leaves that it has requested.
  [[nodiscard]] std::uint64_t leaf_requests() const noexcept;

 private:
  struct State;
  explicit Cursor(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
  friend class Tree;
};

}  // namespace swizzle
