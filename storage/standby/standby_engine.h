#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <unordered_set>

#include "base/ids.h"
#include "base/io/file.h"
#include "base/result.h"
#include "base/runtime/runtime.h"
#include "storage/options.h"
#include "storage/recovery/checkpoint/control_file.h"
#include "storage/recovery/recovery.h"
#include "storage/replay_gate.h"
#include "storage/space/given_up_pages.h"
#include "storage/space/volume.h"
#include "storage/space/written_lsns_file.h"
#include "storage/standby/standby.h"
#include "wal/log_options.h"

namespace swizzle {

class Engine;
struct EngineParts;

/// The engine that reads a standby's pages, and its moves from one state of the database to the
/// next. A step of redo closes the gate, changes the pages on disk, and moves the engine: frames of
/// changed pages are dropped, and the versions of the primary's open transactions are made anew
/// from the log. Of the thread that redoes, but for what the Engine's own sessions do.
class StandbyEngine {
 public:
  /// Shared with redo.
  struct Files {
    FileSystem& files;
    std::filesystem::path directory;
    std::shared_ptr<Volume> volume;
    std::shared_ptr<WrittenLsnsFile> written_lsns;
    std::shared_ptr<GivenUpPages> given_up;
    std::shared_ptr<ControlFile> control;
    wal::LogOptions log;
    const std::atomic<std::uint64_t>& oldest_log;
  };
  StandbyEngine(Files files, StandbyReaders readers)
      : files_(std::move(files)),
        readers_(std::move(readers)),
        gate_(std::make_shared<ReplayGate>()) {}
  StandbyEngine(const StandbyEngine&) = delete;
  StandbyEngine& operator=(const StandbyEngine&) = delete;
  ~StandbyEngine() = default;

  /// Opens it at a checkpoint in which all pages on disk are as of its begin. The engine goes
  /// before this object does.
  Result<std::unique_ptr<Engine>> open(const Control& at, const EngineOptions& options);

  /// Closes the gate: readers are waited for, and cancelled when the patience with them is over.
  /// False: `goes_on` has said no, and the gate is open.
  bool close_gate(const std::function<bool()>& goes_on);
  /// Closes the gate for a promotion: readers have `patience`, then they are cancelled until all
  /// have left.
  void close_gate_for_good(Duration patience);
  /// Notes what a step changes. Before it does.
  void note(const Recovered& step);
  /// The pages on disk are as of the checkpoint's begin now: readers see that, and the gate is
  /// open. After an error it is closed, and the call may be repeated. Pre: the gate is closed.
  Result<> move_to(const Control& at);
  /// Extends the log that servers which follow this one may read: to the end of the flush mark at
  /// which the pages are, if the log ends with one. Pre: no step is under way.
  void extend_log(Lsn end) noexcept;
  /// Position from which the log is kept for servers that follow this one.
  [[nodiscard]] Lsn kept_for_others() const;
  /// True if move_to() has to be called before the next step.
  [[nodiscard]] bool is_behind(Lsn at) const noexcept { return at_ != at; }

 private:
  const Files files_;
  const StandbyReaders readers_;
  /// Shared with the engine, at whose gate callers may wait after this object has gone.
  const std::shared_ptr<ReplayGate> gate_;
  EngineParts* engine_ = nullptr;
  Lsn at_ = Lsn::none;
  std::uint32_t timeline_ = 0;
  /// Since the last move.
  std::unordered_set<PageId> outdated_;
  std::set<TreeId> changed_;
  std::vector<Analysis::MapChange> map_changes_;
};

}  // namespace swizzle
