#pragma once

#include <array>
#include <cerrno>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/io/file.h"
#include "base/random.h"
#include "base/runtime/runtime.h"
#include "base/simulation/volatile_names.h"

namespace swizzle {

/// The operations of a disk, for counters, faults and power cuts.
enum class DiskOperation : std::uint8_t {
  read,
  write,
  sync,
  /// truncate and allocate
  resize,
  /// making, renaming or removing a file or directory
  rename,
  sync_directory,
  /// For faults and power cuts: any of the above but read.
  change,
};

/// Something that goes wrong, once or more often.
struct DiskFault {
  enum class Effect : std::uint8_t {
    /// The call fails with `error` and does nothing. A failed sync loses what it should have
    /// covered: readers see it, but no later sync makes it durable.
    fail,
    /// Some leading sectors are transferred, then it fails with `error`.
    fail_half_way,
    /// One bit that is read, or written, is inverted.
    flip_bit,
    /// A write reports success and is not carried out.
    lose,
    /// A write reports success and goes one block of 4096 bytes further.
    misplace,
    /// It takes `delay` longer; outside of a simulation the calling thread sleeps.
    delay,
  };
  DiskOperation operation = DiskOperation::change;
  Effect effect = Effect::fail;
  /// Counted from now over the calls that match: 1 is the next.
  std::uint64_t nth = 1;
  std::uint64_t times = 1;
  /// Only files whose path contains this.
  std::string path_contains = {};
  int error = EIO;
  Duration delay = {};
};

/// A file system in memory that models a power cut. Inside a Simulation a transfer is done at a
/// later virtual time, in an order that the seed decides; elsewhere it is done within submit().
/// Thread-safe. Must outlive its files, and the simulations that use it.
///
/// Durable are: writes covered by a sync that was submitted after they were done, finished writes
/// through a handle with `dsync`, and names whose directory was synced. Everything else is decided
/// by crash(): kept, lost, or torn at 512 or 4096 bytes, each change for itself.
class SimulatedDisk final : public FileSystem {
 public:
  struct Latency {
    Duration least;
    Duration most;
  };
  struct Latencies {
    Latency read{std::chrono::microseconds{50}, std::chrono::microseconds{150}};
    Latency write{std::chrono::microseconds{20}, std::chrono::microseconds{200}};
    Latency sync{std::chrono::microseconds{100}, std::chrono::microseconds{1000}};
    /// One in so many transfers takes twenty times as long; 0: none does.
    std::uint64_t slow_odds = 100;
  };
  enum class AfterPowerCut : std::uint8_t {
    /// Inside a simulation: Simulation::stop(). Elsewhere as `fail`.
    stop_simulation,
    /// Every call fails with EIO until crash().
    fail,
  };
  using WriteObserver = std::function<void(const std::filesystem::path&, std::uint64_t, Bytes)>;

  explicit SimulatedDisk(std::uint64_t seed = 1);
  SimulatedDisk(const SimulatedDisk&) = delete;
  SimulatedDisk& operator=(const SimulatedDisk&) = delete;
  ~SimulatedDisk() override;

  Result<std::unique_ptr<File>> open(const std::filesystem::path& path, OpenMode mode,
                                     FileOptions options) override;
  Result<> remove(const std::filesystem::path& path) override;
  Result<> rename(const std::filesystem::path& from, const std::filesystem::path& to) override;
  Result<std::vector<std::string>> list(const std::filesystem::path& directory) override;
  Result<bool> exists(const std::filesystem::path& path) override;
  Result<> create_directory(const std::filesystem::path& path) override;
  Result<> sync_directory(const std::filesystem::path& path) override;
  Result<std::unique_ptr<FileLock>> lock(const std::filesystem::path& path) override;
  /// Plain memory that counts against the capacity; making it is a DiskOperation::resize of the
  /// directory's file "scratch".
  Result<std::unique_ptr<ScratchMemory>> scratch(const std::filesystem::path& directory,
                                                 std::size_t bytes) override;

  /// Cuts the power when the nth such operation from now (1: the next) begins. A write or a change
  /// of names is then under way: it may or may not have happened. A sync has not happened.
  void cut_power_at(DiskOperation operation, std::uint64_t nth);
  void cut_power();
  [[nodiscard]] bool has_power() const;
  void after_power_cut(AfterPowerCut behaviour);

  /// Cuts the power if it is still on, decides by `seed` what has survived, and switches it on
  /// again. Files and locks from before are dead: their calls fail with EIO.
  void crash(std::uint64_t seed);
  /// Makes everything durable, as an orderly shutdown of the machine does.
  void sync_everything();
  /// Copies the disk, so that one state can be crashed in several ways. Without open files and
  /// faults.
  [[nodiscard]] std::unique_ptr<SimulatedDisk> copy(std::uint64_t seed) const;

  void inject(DiskFault fault);
  void clear_faults();
  /// Limits the total size of files; writes beyond it fail with ENOSPC.
  void limit_capacity(std::uint64_t bytes);
  /// Limits growth: files may take so many more bytes than now.
  void leave_room(std::uint64_t bytes);
  void set_latencies(Latencies latencies);
  /// Called for every write as it is submitted, by its thread: for assertions about bytes that must
  /// never reach a disk, or must not before others are durable.
  void observe_writes(WriteObserver observer);

  /// Number of these operations since the disk was made.
  [[nodiscard]] std::uint64_t count(DiskOperation operation) const;
  /// Returns the bytes that a reader would see. Pre: the file exists.
  [[nodiscard]] std::vector<std::byte> contents(const std::filesystem::path& path) const;
  /// Changes the medium, unknown to open files. Pre: the file exists.
  void corrupt(const std::filesystem::path& path, std::uint64_t offset, Bytes with);

 private:
  class OpenFile;
  class HeldLock;
  class Scratch;
  struct Transfer;
  struct ArmedFault {
    DiskFault fault;
    std::uint64_t seen = 0;
  };
  using Guard = std::unique_lock<std::mutex>;

  void submit(OpenFile& file, std::span<IoRequest* const> requests) noexcept;
  /// Returns the errno for a request that no disk would begin, or 0.
  static int refusal(const OpenFile& file, const IoRequest& request) noexcept;
  void begin(Transfer& transfer);
  void carry(std::shared_ptr<Transfer> transfer);
  void finish(Transfer& transfer);
  void finish_read(Transfer& transfer);
  void finish_write(Transfer& transfer);
  void finish_sync(Transfer& transfer);
  enum class Resize : std::uint8_t { exactly, at_least };
  Result<> resize(OpenFile& file, std::uint64_t size, Resize how);

  /// Counts one operation, may cut the power, and returns the fault that hits it.
  std::optional<DiskFault> count_and_judge(DiskOperation operation,
                                           const std::filesystem::path& path);
  /// For operations that are done at once: `change` alters `names_`, between the power cut and the
  /// faults. Lets other tasks run first.
  template <class Change>
  Result<> change_at_once(DiskOperation operation, const std::filesystem::path& path,
                          std::string_view what, Change change);
  void react_to_power_cut(Guard& guard);
  [[nodiscard]] std::uint64_t bytes_used() const;
  [[nodiscard]] bool alive(const OpenFile& file) const;
  Duration draw_latency(IoRequest::Kind kind);

  mutable std::mutex mutex_;
  Random random_;
  VolatileNames names_;
  std::set<std::filesystem::path> locked_;
  std::vector<ArmedFault> faults_;
  std::array<std::uint64_t, 7> counts_{};
  std::optional<std::pair<DiskOperation, std::uint64_t>> power_cut_;
  AfterPowerCut after_power_cut_ = AfterPowerCut::stop_simulation;
  Latencies latencies_;
  WriteObserver observer_;
  std::uint64_t capacity_ = UINT64_MAX;
  std::uint64_t scratch_bytes_ = 0;
  /// Number of the boot; files remember under which they were opened.
  std::uint64_t boot_ = 1;
  bool powered_ = true;
};

}  // namespace swizzle
