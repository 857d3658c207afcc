// Operations that are done at once: opening, sizes, names, locks.
#include <fmt/format.h>

#include "base/memory/scratch_memory.h"
#include "base/simulation/simulated_disk_parts.h"
#include "base/simulation/simulation.h"

namespace swizzle {
namespace {

namespace fs = std::filesystem;

void let_others_run() noexcept {
  if (Simulation::running() != nullptr) Runtime::current().yield();
}

}  // namespace

class SimulatedDisk::HeldLock final : public FileLock {
 public:
  HeldLock(SimulatedDisk& disk, fs::path path)
      : disk_(disk), path_(std::move(path)), boot_(disk.boot_) {}
  ~HeldLock() override {
    const Guard guard{disk_.mutex_};
    if (disk_.boot_ == boot_) disk_.locked_.erase(path_);
  }

 private:
  SimulatedDisk& disk_;
  fs::path path_;
  std::uint64_t boot_;
};

class SimulatedDisk::Scratch final : public ScratchMemory {
 public:
  Scratch(SimulatedDisk& disk, std::size_t bytes)
      : disk_(disk), boot_(disk.boot_), memory_(bytes) {}
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() override {
    const Guard guard{disk_.mutex_};
    if (disk_.boot_ == boot_) disk_.scratch_bytes_ -= memory_.size();
  }
  [[nodiscard]] MutableBytes bytes() noexcept override { return memory_; }
  void write_back() noexcept override {}
  void swap_out() noexcept override {}
  void page_in() noexcept override {}

 private:
  SimulatedDisk& disk_;
  const std::uint64_t boot_;
  std::vector<std::byte> memory_;
};

template <class Change>
Result<> SimulatedDisk::change_at_once(DiskOperation operation, const fs::path& path,
                                       std::string_view what, Change change) {
  let_others_run();
  Guard guard{mutex_};
  if (!powered_) {
    react_to_power_cut(guard);
    return fail(file_error(what, path, EIO));
  }
  const auto fault = count_and_judge(operation, path);
  const bool carried_out = !fault || fault->effect == DiskFault::Effect::delay;
  int error = 0;
  if (fault && fault->effect != DiskFault::Effect::lose && !carried_out) error = fault->error;
  // crash() decides about names that were being changed when the power went.
  if (carried_out && (powered_ || operation != DiskOperation::sync_directory)) error = change();
  if (!powered_) {
    react_to_power_cut(guard);
    return fail(file_error(what, path, EIO));
  }
  if (error != 0) return fail(file_error(what, path, error));
  return {};
}

Result<> SimulatedDisk::resize(OpenFile& file, std::uint64_t size, Resize how) {
  return change_at_once(DiskOperation::resize, file.path_, "could not resize", [&] {
    VolatileBytes& node = *file.node_;
    if (file.boot_ != boot_) return EIO;
    if (file.mode_ == OpenMode::read_only) return EBADF;
    const std::uint64_t before = node.seen().size();
    if (size == before || (size < before && how == Resize::at_least)) return 0;
    if (size > before && bytes_used() + size - before > capacity_) return ENOSPC;
    node.complete(node.begin({.size = size}));
    return 0;
  });
}

Result<std::unique_ptr<File>> SimulatedDisk::open(const fs::path& path, OpenMode mode,
                                                  FileOptions options) {
  constexpr std::string_view kWhat = "could not open";
  const fs::path name = plain_path(path);
  let_others_run();
  Guard guard{mutex_};
  if (!powered_) {
    react_to_power_cut(guard);
    return fail(file_error(kWhat, path, EIO));
  }
  const auto node = names_.file(name);
  if (node == nullptr) {
    if (names_.is_directory(name)) return fail(file_error(kWhat, path, EISDIR));
    if (mode == OpenMode::read_only || mode == OpenMode::read_write ||
        !names_.is_directory(name.parent_path())) {
      return fail(file_error(kWhat, path, ENOENT));
    }
    guard.unlock();
    RETURN_IF_ERROR(change_at_once(DiskOperation::rename, name, kWhat, [&] {
      // Another task may have made it meanwhile.
      if (names_.exists(name)) return mode == OpenMode::create_new ? EEXIST : 0;
      names_.link(name, std::make_shared<VolatileBytes>());
      return 0;
    }));
    guard.lock();
  } else if (mode == OpenMode::create_new) {
    return fail(file_error(kWhat, path, EEXIST));
  }
  const auto opened = names_.file(name);
  if (opened == nullptr) return fail(file_error(kWhat, path, ENOENT));
  return std::make_unique<OpenFile>(*this, path, opened, mode, options);
}

Result<> SimulatedDisk::remove(const fs::path& path) {
  const fs::path name = plain_path(path);
  return change_at_once(DiskOperation::rename, name, "could not remove", [&] {
    if (!names_.exists(name)) return ENOENT;
    if (names_.is_directory(name) && !names_.list(name).empty()) return ENOTEMPTY;
    names_.unlink(name);
    return 0;
  });
}

Result<> SimulatedDisk::rename(const fs::path& from, const fs::path& to) {
  const fs::path source = plain_path(from);
  const fs::path target = plain_path(to);
  const std::string what = fmt::format("could not rename \"{}\" to", from.native());
  return change_at_once(DiskOperation::rename, target, what, [&] {
    if (!names_.exists(source) || !names_.is_directory(target.parent_path())) return ENOENT;
    // A directory keeps its place: paths below it are stored whole.
    if (names_.is_directory(source) || names_.is_directory(target)) return EISDIR;
    names_.rename(source, target);
    return 0;
  });
}

Result<std::vector<std::string>> SimulatedDisk::list(const fs::path& directory) {
  const Guard guard{mutex_};
  const fs::path name = plain_path(directory);
  const int error = !powered_ ? EIO : (names_.is_directory(name) ? 0 : ENOENT);
  if (error != 0) return fail(file_error("could not list", directory, error));
  return names_.list(name);
}

Result<bool> SimulatedDisk::exists(const fs::path& path) {
  const Guard guard{mutex_};
  if (!powered_) return fail(file_error("could not stat", path, EIO));
  return names_.exists(plain_path(path));
}

Result<> SimulatedDisk::create_directory(const fs::path& path) {
  const fs::path name = plain_path(path);
  return change_at_once(DiskOperation::rename, name, "could not create directory", [&] {
    if (names_.exists(name)) return EEXIST;
    if (!names_.is_directory(name.parent_path())) return ENOENT;
    names_.link(name, nullptr);
    return 0;
  });
}

Result<> SimulatedDisk::sync_directory(const fs::path& path) {
  const fs::path name = plain_path(path);
  return change_at_once(DiskOperation::sync_directory, name, "could not sync directory", [&] {
    if (!names_.is_directory(name)) return ENOENT;
    names_.sync_directory(name);
    return 0;
  });
}

Result<std::unique_ptr<FileLock>> SimulatedDisk::lock(const fs::path& path) {
  const fs::path name = plain_path(path);
  const Guard guard{mutex_};
  if (!powered_ || !names_.is_directory(name.parent_path())) {
    return fail(file_error("could not open lock", path, powered_ ? ENOENT : EIO));
  }
  if (!locked_.insert(name).second) {
    return fail(sqlstate::object_in_use,
                fmt::format("lock file \"{}\" is held by process 1", path.native()));
  }
  if (!names_.exists(name)) names_.link(name, std::make_shared<VolatileBytes>());
  return std::make_unique<HeldLock>(*this, name);
}

Result<std::unique_ptr<ScratchMemory>> SimulatedDisk::scratch(const fs::path& directory,
                                                              std::size_t bytes) {
  RETURN_IF_ERROR(change_at_once(DiskOperation::resize, plain_path(directory / "scratch"),
                                 "could not make", [&] {
                                   if (bytes_used() + bytes > capacity_) return ENOSPC;
                                   scratch_bytes_ += bytes;
                                   return 0;
                                 }));
  return std::make_unique<Scratch>(*this, bytes);
}

}  // namespace swizzle
