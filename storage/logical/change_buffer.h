#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/bytes.h"
#include "base/ids.h"
#include "base/io/file.h"
#include "base/result.h"

namespace swizzle {

/// Files for the changes of unfinished transactions, when they are many; each file is deleted with
/// its object. The layer above implements it.
class SpillFiles {
 public:
  class Spill {
   public:
    Spill() = default;
    Spill(const Spill&) = delete;
    Spill& operator=(const Spill&) = delete;
    virtual ~Spill() = default;
    [[nodiscard]] virtual File& file() noexcept = 0;
  };
  SpillFiles() = default;
  SpillFiles(const SpillFiles&) = delete;
  SpillFiles& operator=(const SpillFiles&) = delete;
  virtual ~SpillFiles() = default;
  virtual Result<std::unique_ptr<Spill>> create() = 0;
};

/// Memory of all buffers of a reader.
struct ChangeMemory {
  std::uint64_t used = 0;
};

/// The changes of one transaction in their order. The last ones can be taken back. The newest are
/// in memory; older ones may be in a file.
class ChangeBuffer {
 public:
  explicit ChangeBuffer(ChangeMemory& memory) noexcept : memory_(&memory) {}
  ChangeBuffer(ChangeBuffer&& other) noexcept;
  ChangeBuffer& operator=(ChangeBuffer&&) = delete;
  ~ChangeBuffer() { memory_->used -= tail_.size(); }

  void add(Lsn lsn, std::uint64_t undo_position, Bytes body);
  /// Removes the changes at a higher position.
  Result<> take_back(std::uint64_t above);
  /// Moves the changes in memory to the file.
  Result<> spill(SpillFiles& files);
  /// The same, and returns them as well, to be read at once.
  Result<ChangeBuffer> hand_out(SpillFiles& files);
  /// Returns the changes in memory without those before.
  ChangeBuffer take_rest() &&;

  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  [[nodiscard]] std::size_t memory_bytes() const noexcept { return tail_.size(); }
  [[nodiscard]] bool has_spilled() const noexcept { return in_file_ != 0; }
  /// Number of calls of spill() and hand_out() that moved something, of which something is left
  /// in the file.
  [[nodiscard]] std::size_t pieces() const noexcept { return pieces_.size(); }

  struct Change {
    Lsn lsn = Lsn::none;
    Bytes body;  ///< valid until the next call
  };
  /// Returns the changes, from the first one on; nullopt at the end. Pre: no change is added or
  /// taken back any more.
  Result<std::optional<Change>> next();

 private:
  // An entry: length of the body u32, LSN u64, position u64, body, length of the entry u32.
  static constexpr std::size_t kHeadBytes = 20;
  static constexpr std::size_t kEntryBytes = kHeadBytes + 4;

  /// Makes the file's last piece part of the memory again.
  Result<> load_last();
  Result<> fill_window();

  ChangeMemory* memory_;
  std::vector<std::byte> tail_;
  std::unique_ptr<SpillFiles::Spill> spill_;
  std::uint64_t in_file_ = 0;          ///< bytes
  std::vector<std::uint64_t> pieces_;  ///< where each spilled piece begins
  std::uint64_t count_ = 0;

  // For next().
  std::uint64_t read_from_file_ = 0;
  std::vector<std::byte> window_;
  std::size_t at_ = 0;
  bool reads_tail_ = false;
};

}  // namespace swizzle
