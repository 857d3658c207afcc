#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>

#include "base/ids.h"
#include "sql-lite-frontend/catalog/catalog.h"
#include "storage/engine.h"

namespace swizzle::sql {

/// Returns the number under which the position of a sequence is recorded.
inline Oid position_of(const Relation& sequence) {
  const Oid own = sequence.sequence->position;
  return own == kNoOid ? sequence.oid : own;
}

/// The positions of all sequences. Numbers are given out from memory. A limit for them is recorded
/// ahead, a batch at a time and outside the callers' transactions, so that a number is never given
/// out twice and a crash loses at most a batch. Batches grow with the rate of calls. A caller does
/// not wait for the record to become durable: it precedes, in the log, the commit of each
/// transaction that uses a number below the limit, and that commit waits for it. Thread-safe.
class Sequences {
  struct Entry;

 public:
  /// Cache of a sequence's position for a session that has used it.
  class Handle {
    friend class Sequences;
    Oid position_ = kNoOid;
    std::shared_ptr<Entry> entry_;
  };

  explicit Sequences(Engine& engine) : engine_(engine) {}
  Sequences(const Sequences&) = delete;
  Sequences& operator=(const Sequences&) = delete;
  ~Sequences();

  /// 2200H at the end of a sequence that does not cycle.
  std::int64_t next(const Catalog& catalog, const Relation& sequence, Transaction& user,
                    Handle& handle);
  void set(const Catalog& catalog, const Relation& sequence, Transaction& user, std::int64_t value,
           bool is_called);
  SequenceState state(const Catalog& catalog, const Relation& sequence);
  /// Called before the definition changes: takes back the values that were recorded ahead under the
  /// old one.
  void return_values_ahead(const Catalog& catalog, const Relation& sequence);
  /// Removes positions that belong to no sequence any more, with their records.
  void remove(const Catalog& catalog, std::span<const Oid> positions);
  /// Forgets a position without a record.
  void forget(Oid position);
  /// On a standby, whose primary moves them: forgets what was read of all positions.
  void forget_read();

 private:
  std::shared_ptr<Entry> entry(Oid position);
  void load(Entry& entry, const Catalog& catalog, const Relation& sequence);
  /// Pre: the entry's recorder is held.
  void record(Entry& entry, const Catalog& catalog, Oid position, const SequenceState& state);
  void record_ahead(Entry& entry, const Catalog& catalog, const Relation& sequence);

  Engine& engine_;
  std::mutex mutex_;
  std::map<Oid, std::shared_ptr<Entry>> entries_;
};

/// A session's state for a sequence that it has used.
struct SequenceUse {
  std::optional<std::int64_t> last_value;  ///< currval()
  Sequences::Handle handle;
};

}  // namespace swizzle::sql
