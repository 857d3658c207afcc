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

/// A reader of the log that may be away; the log is kept for it meanwhile.
struct Slot {
  std::string name;
  /// Form of its changes, for the layer above; empty: its reader takes the log as it
  /// is.
  std::string plugin;
  std::uint32_t database = 0;  ///< database of the changes, for the layer above
  enum class Lifetime : std::uint8_t { permanent, temporary } lifetime = Lifetime::permanent;
  /// The log is kept from here on: no transaction that its reader is still to be given has written
  /// a change before it.
  Lsn restart = Lsn::none;
  /// Position of its reader, which has everything that committed before.
  Lsn confirmed = Lsn::none;
  /// True if it fell too far behind: the log has been given up, and the slot cannot be read any
  /// more.
  bool is_lost = false;
  /// Number of the reader or maker of the slot, as given to acquire() and reserve(); 0: none.
  std::int32_t holder = 0;
  bool is_ready = false;  ///< made, and may be read by

  /// Of a server that follows: `confirmed` means nothing, and without `restart` it keeps no log
  /// yet.
  [[nodiscard]] bool is_physical() const noexcept { return plugin.empty(); }
};

/// All slots of an engine, in memory and in the file `slots` of its directory, which is written
/// anew as a whole. Thread-safe; calls that write it park.
class LogSlots {
 public:
  static constexpr const char* kFileName = "slots";

  /// Reads the file; without one there are no slots. A damaged one is put aside, with an error in
  /// the server's log: its readers' slots are lost, but the server still opens for all others.
  static Result<std::unique_ptr<LogSlots>> open(FileSystem& files, std::filesystem::path directory,
                                                std::uint64_t database_id);
  LogSlots(const LogSlots&) = delete;
  LogSlots& operator=(const LogSlots&) = delete;

  /// Keeps the log from `slot.restart` on, for a slot that is being made by its holder. Before
  /// complete() no other can read by it, and it is not in the file. 42710 when the name is taken,
  /// 53400 when there are `most` slots.
  Result<> reserve(Slot slot, std::size_t most);
  /// The slot is made; its holder keeps it.
  Result<> complete(std::string_view name, Lsn confirmed);
  /// 42704 when there is none; 55006 when it has another reader.
  Result<Slot> acquire(std::string_view name, std::int32_t holder);
  void release(std::string_view name) noexcept;
  /// 55006 when a reader other than `holder` has it.
  Result<> drop(std::string_view name, std::int32_t holder);
  /// Drops a slot that was reserved and not completed. Does not park.
  void drop_unfinished(std::string_view name) noexcept;
  /// Drops the temporary slots, and half made ones, that `holder` has made, and releases the one
  /// that it reads by.
  void drop_all_of(std::int32_t holder) noexcept;
  [[nodiscard]] std::vector<Slot> list() const;
  [[nodiscard]] std::optional<Slot> find(std::string_view name) const;

  /// Advances a slot: its reader has everything before `confirmed`, and needs the log from
  /// `restart` on. The log is released only as far as the file says, which save() writes; nothing
  /// goes back.
  enum class Save : std::uint8_t { soon, now };
  Result<> advance(std::string_view name, Lsn restart, Lsn confirmed, Save when);
  /// Writes the file if anything has changed.
  Result<> save();

  /// Returns the position from which the log must be kept for all slots, for a caller that is about
  /// to release log; Lsn::max if there are no slots. Slots that would keep more than `most_bytes`
  /// before `tail` are lost (0: none ever is), and the log is not kept for them any more.
  Lsn kept_from(Lsn tail, std::uint64_t most_bytes);

 private:
  struct Entry {
    Slot slot;
    Lsn saved_restart = Lsn::none;  ///< what the file says
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
