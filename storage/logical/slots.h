#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/io/file.h"
#include "base/result.h"
#include "base/runtime/park_mutex.h"
#include "storage/latch/spin_latch.h"

namespace swizzle {

/// Replication slot: a reader of the log, for which the log is kept while it is away.
struct Slot {
  std::string name;
  /// Output plugin, for the layer above; empty: a physical slot.
  std::string plugin;
  std::uint32_t database = 0;  ///< database of the changes, for the layer above
  enum class Lifetime : std::uint8_t { permanent, temporary } lifetime = Lifetime::permanent;
  /// The log is kept from here on. No transaction that the reader still needs has written a change
  /// before it.
  Lsn restart = Lsn::none;
  /// The reader has everything that committed before.
  Lsn confirmed = Lsn::none;
  /// Transactions that are prepared from here on are delivered when they are prepared; none: all
  /// when they commit.
  Lsn two_phase_from = Lsn::none;
  /// True if the slot fell too far behind: the log has been released, and the slot cannot be read
  /// any more.
  bool is_lost = false;
  /// Number of the session that reads or creates the slot (acquire(), reserve()); 0: none.
  std::int32_t holder = 0;
  bool is_ready = false;  ///< created completely; may be read

  /// Slot of a standby: `confirmed` is unused, and without `restart` it keeps no log yet.
  [[nodiscard]] bool is_physical() const noexcept { return plugin.empty(); }
};

/// All slots of an engine, in memory and in the file `slots`, which is rewritten as a whole.
/// Thread-safe; calls that write the file park.
class LogSlots {
 public:
  static constexpr const char* kFileName = "slots";

  /// Reads the file; without one there are no slots. A damaged file is renamed and logged as an
  /// error: its slots are lost, but the server opens.
  static Result<std::unique_ptr<LogSlots>> open(FileSystem& files, std::filesystem::path directory,
                                                std::uint64_t database_id);
  LogSlots(const LogSlots&) = delete;
  LogSlots& operator=(const LogSlots&) = delete;

  /// Adds an unfinished slot and keeps the log from `slot.restart` on. Until complete() it can be
  /// read by its holder only and is not in the file. 42710 if the name is taken, 53400 if there are
  /// `most` slots.
  Result<> reserve(Slot slot, std::size_t most);
  /// Finishes the slot; its holder keeps it.
  Result<> complete(std::string_view name, Lsn confirmed);
  /// 42704 if there is no such slot; 55006 if it has another reader.
  Result<Slot> acquire(std::string_view name, std::int32_t holder);
  void release(std::string_view name) noexcept;
  /// 55006 if a reader other than `holder` has it.
  Result<> drop(std::string_view name, std::int32_t holder);
  /// Drops a slot that was reserved and not completed. Does not park.
  void drop_unfinished(std::string_view name) noexcept;
  /// Drops the temporary and unfinished slots of `holder`, and releases the one that it reads.
  void drop_all_of(std::int32_t holder) noexcept;
  [[nodiscard]] std::vector<Slot> list() const;
  [[nodiscard]] std::optional<Slot> find(std::string_view name) const;

  /// Advances a slot: its reader has everything before `confirmed`, and needs the log from
  /// `restart` on. Positions never go back. Log is released only up to the saved position, which
  /// save() writes.
  enum class Save : std::uint8_t { soon, now };
  Result<> advance(std::string_view name, Lsn restart, Lsn confirmed, Save when);
  /// Writes the file if anything has changed.
  Result<> save();
  /// Sets Slot::two_phase_from, durably, unless it is set.
  Result<> enable_two_phase(std::string_view name, Lsn from);

  /// Returns the position from which the slots need the log; Lsn::max without slots. Slots that
  /// would keep more than `most_bytes` before `tail` are invalidated (0: never). Called before log
  /// is released.
  Lsn kept_from(Lsn tail, std::uint64_t most_bytes);

 private:
  struct Entry {
    Slot slot;
    Lsn saved_restart = Lsn::none;  ///< as in the file
  };
  LogSlots(FileSystem& files, std::filesystem::path directory, std::uint64_t database_id)
      : files_(files), directory_(std::move(directory)), database_id_(database_id) {}

  Result<> read();
  Result<> begin_anew(const Error& why);
  /// Pre: file_mutex_ is held.
  Result<> write();
  Entry* entry_of(std::string_view name) noexcept;

  FileSystem& files_;
  const std::filesystem::path directory_;
  const std::uint64_t database_id_;
  /// Held by the writer of the file; before mutex_.
  ParkMutex file_mutex_;
  mutable SpinLatch mutex_;
  std::vector<Entry> entries_;  ///< under mutex_
  bool is_changed_ = false;     ///< under mutex_
};

}  // namespace swizzle
