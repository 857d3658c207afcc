#include "base/simulated_disk.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>
#include <utility>

#include "base/invariant.h"
#include "base/posix_file_system.h"
#include "base/scratch_memory.h"
#include "base/simulation.h"

namespace swizzle {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kSector = 512;
constexpr std::uint64_t kBlock = 4096;

fs::path normal(const fs::path& path) {
  fs::path plain = path.lexically_normal();
  if (!plain.has_filename() && plain != plain.root_path()) plain = plain.parent_path();
  return plain;
}

bool matches(DiskOperation wanted, DiskOperation happened) noexcept {
  return wanted == happened || (wanted == DiskOperation::change && happened != DiskOperation::read);
}

std::size_t index(DiskOperation operation) noexcept {
  return static_cast<std::size_t>(std::to_underlying(operation));
}

DiskOperation operation_of(IoRequest::Kind kind) noexcept {
  switch (kind) {
    case IoRequest::Kind::read:
      return DiskOperation::read;
    case IoRequest::Kind::write:
      return DiskOperation::write;
    case IoRequest::Kind::sync:
      break;
  }
  return DiskOperation::sync;
}

bool misaligned(const IoRequest& request) noexcept {
  const auto address = reinterpret_cast<std::uintptr_t>(request.data);
  return (request.offset | request.size | address) % File::kDirectAlignment != 0;
}

void let_others_run() noexcept {
  if (Simulation::running() != nullptr) Runtime::current().yield();
}

}  // namespace

class SimulatedDisk::OpenFile final : public File {
 public:
  OpenFile(SimulatedDisk& disk, fs::path path, VolatileNames::Node node, OpenMode mode,
           FileOptions options)
      : disk_(disk),
        path_(std::move(path)),
        node_(std::move(node)),
        mode_(mode),
        options_(options),
        boot_(disk.boot_) {}

  void submit(std::span<IoRequest* const> requests) noexcept override {
    disk_.submit(*this, requests);
  }
  Result<std::uint64_t> size() override {
    const Guard guard{disk_.mutex_};
    if (!disk_.alive(*this)) return fail(file_error("could not stat", path_, EIO));
    return node_->seen().size();
  }
  Result<> allocate(std::uint64_t offset, std::uint64_t length) override {
    return disk_.resize(*this, offset + length, Resize::at_least);
  }
  Result<> truncate(std::uint64_t size) override {
    return disk_.resize(*this, size, Resize::exactly);
  }
  [[nodiscard]] const fs::path& path() const noexcept override { return path_; }

 private:
  friend class SimulatedDisk;

  SimulatedDisk& disk_;
  fs::path path_;
  VolatileNames::Node node_;
  OpenMode mode_;
  FileOptions options_;
  std::uint64_t boot_;
};

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
  void put_away() noexcept override {}

 private:
  SimulatedDisk& disk_;
  const std::uint64_t boot_;
  std::vector<std::byte> memory_;
};

// One request on its way.
struct SimulatedDisk::Transfer {
  VolatileNames::Node node;
  fs::path path;
  FileOptions options;
  std::uint64_t boot;
  IoRequest* request;
  std::optional<DiskFault> fault;
  std::optional<VolatileBytes::Handle> change;
  std::uint64_t horizon = 0;
  Duration latency{};
  int error = 0;

  [[nodiscard]] bool has(DiskFault::Effect effect) const noexcept {
    return fault && fault->effect == effect;
  }
};

SimulatedDisk::SimulatedDisk(std::uint64_t seed) : random_(seed) {}
SimulatedDisk::~SimulatedDisk() = default;

// ---- Transfers

void SimulatedDisk::submit(OpenFile& file, std::span<IoRequest* const> requests) noexcept {
  for (IoRequest* request : requests) {
    if (request->kind == IoRequest::Kind::write && observer_) {
      observer_(file.path_, request->offset, Bytes{request->data, request->size});
    }
    auto transfer = std::make_shared<Transfer>(
        Transfer{file.node_, file.path_, file.options_, file.boot_, request, {}, {}});
    transfer->error = refusal(file, *request);
    {
      Guard guard{mutex_};
      begin(*transfer);
      if (!powered_) react_to_power_cut(guard);
    }
    carry(std::move(transfer));
  }
}

int SimulatedDisk::refusal(const OpenFile& file, const IoRequest& request) noexcept {
  if (request.kind == IoRequest::Kind::sync) return 0;
  if (file.options_.direct && misaligned(request)) return EINVAL;
  const bool writes = request.kind == IoRequest::Kind::write;
  return writes && file.mode_ == OpenMode::read_only ? EBADF : 0;
}

// To its end: at a later virtual time, or now.
void SimulatedDisk::carry(std::shared_ptr<Transfer> transfer) {
  auto arrive = [this, transfer] {
    {
      const Guard guard{mutex_};
      finish(*transfer);
    }
    transfer->request->error = transfer->error;
    transfer->request->done(*transfer->request);
  };
  const bool delayed = transfer->has(DiskFault::Effect::delay);
  const Duration delay = delayed ? transfer->fault->delay : Duration{};
  if (Simulation* simulation = Simulation::running()) {
    simulation->call_at(simulation->now() + transfer->latency + delay, std::move(arrive));
  } else {
    if (delayed) std::this_thread::sleep_for(delay);
    arrive();
  }
}

void SimulatedDisk::begin(Transfer& transfer) {
  const IoRequest& request = *transfer.request;
  transfer.latency = draw_latency(request.kind);
  if (!powered_ || transfer.boot != boot_) transfer.error = EIO;
  if (transfer.error != 0) return;
  if (request.kind == IoRequest::Kind::write && request.size != 0) {
    transfer.change = transfer.node->begin(
        {.offset = request.offset, .data = {request.data, request.data + request.size}});
  }
  transfer.horizon = transfer.node->horizon();
  transfer.fault = count_and_judge(operation_of(request.kind), transfer.path);
}

void SimulatedDisk::finish(Transfer& transfer) {
  if (!powered_ || transfer.boot != boot_) transfer.error = EIO;
  if (transfer.error != 0) return;
  switch (transfer.request->kind) {
    case IoRequest::Kind::read:
      return finish_read(transfer);
    case IoRequest::Kind::write:
      return finish_write(transfer);
    case IoRequest::Kind::sync:
      return finish_sync(transfer);
  }
}

void SimulatedDisk::finish_read(Transfer& transfer) {
  const IoRequest& request = *transfer.request;
  const auto& seen = transfer.node->seen();
  if (transfer.has(DiskFault::Effect::fail) || request.offset + request.size > seen.size()) {
    transfer.error = transfer.fault ? transfer.fault->error : EIO;
    return;
  }
  std::size_t bytes = request.size;
  if (transfer.has(DiskFault::Effect::fail_half_way)) {
    bytes = random_.below(bytes / kSector + 1) * kSector;
    transfer.error = transfer.fault->error;
  }
  std::copy_n(seen.begin() + static_cast<std::ptrdiff_t>(request.offset), bytes, request.data);
  if (transfer.has(DiskFault::Effect::flip_bit) && bytes != 0) {
    request.data[random_.below(bytes)] ^= std::byte{1} << random_.below(8);
  }
}

void SimulatedDisk::finish_write(Transfer& transfer) {
  if (!transfer.change) return;
  IoRequest& request = *transfer.request;
  VolatileBytes& node = *transfer.node;
  VolatileBytes::Change& change = **transfer.change;
  // The device fetched each sector some time between submission and now.
  for (std::size_t at = 0; at < request.size; at += kSector) {
    const std::size_t bytes = std::min<std::size_t>(kSector, request.size - at);
    if (random_.one_in(2)) std::copy_n(request.data + at, bytes, change.data.data() + at);
  }
  const std::uint64_t end = change.offset + change.data.size();
  const std::uint64_t growth = end > node.seen().size() ? end - node.seen().size() : 0;
  if (growth != 0 && bytes_used() + growth > capacity_) transfer.error = ENOSPC;
  if (transfer.has(DiskFault::Effect::fail)) transfer.error = transfer.fault->error;
  if (transfer.has(DiskFault::Effect::fail_half_way)) {
    transfer.error = transfer.fault->error;
    change.data.resize(random_.below(change.data.size() / kSector + 1) * kSector);
    if (!change.data.empty()) return node.complete(*transfer.change);
  }
  if (transfer.error != 0 || transfer.has(DiskFault::Effect::lose)) {
    return node.cancel(*transfer.change);
  }
  if (transfer.has(DiskFault::Effect::flip_bit)) {
    change.data[random_.below(change.data.size())] ^= std::byte{1} << random_.below(8);
  }
  if (transfer.has(DiskFault::Effect::misplace)) change.offset += kBlock;
  transfer.options.dsync ? node.complete_durably(*transfer.change)
                         : node.complete(*transfer.change);
}

void SimulatedDisk::finish_sync(Transfer& transfer) {
  const bool failed =
      transfer.has(DiskFault::Effect::fail) || transfer.has(DiskFault::Effect::fail_half_way);
  if (failed) {
    transfer.error = transfer.fault->error;
    return transfer.node->fail_sync(transfer.horizon);
  }
  if (!transfer.has(DiskFault::Effect::lose)) transfer.node->sync(transfer.horizon);
}

Duration SimulatedDisk::draw_latency(IoRequest::Kind kind) {
  const Latency& latency = kind == IoRequest::Kind::read    ? latencies_.read
                           : kind == IoRequest::Kind::write ? latencies_.write
                                                            : latencies_.sync;
  constexpr std::uint64_t kSlow = 20;
  const auto least = static_cast<std::uint64_t>(latency.least.count());
  const auto most = static_cast<std::uint64_t>(latency.most.count());
  std::uint64_t drawn = random_.between(least, std::max(least, most));
  if (latencies_.slow_odds != 0 && random_.one_in(latencies_.slow_odds)) drawn *= kSlow;
  return Duration{drawn};
}

// ---- Faults and power

std::optional<DiskFault> SimulatedDisk::count_and_judge(DiskOperation operation,
                                                        const fs::path& path) {
  ++counts_[index(operation)];
  if (operation != DiskOperation::read) ++counts_[index(DiskOperation::change)];
  if (power_cut_ && matches(power_cut_->first, operation) && --power_cut_->second == 0) {
    power_cut_.reset();
    powered_ = false;
  }
  std::optional<DiskFault> hit;
  for (auto& [fault, seen] : faults_) {
    if (!matches(fault.operation, operation)) continue;
    if (path.native().find(fault.path_contains) == std::string::npos) continue;
    ++seen;
    if (!hit && seen >= fault.nth && seen - fault.nth < fault.times) hit = fault;
  }
  return hit;
}

// Unlocks: a task of the simulation does not come back from here.
void SimulatedDisk::react_to_power_cut(Guard& guard) {
  const bool stops = after_power_cut_ == AfterPowerCut::stop_simulation;
  guard.unlock();
  Simulation* simulation = Simulation::running();
  if (stops && simulation != nullptr) simulation->stop();
}

void SimulatedDisk::cut_power_at(DiskOperation operation, std::uint64_t nth) {
  const Guard guard{mutex_};
  INVARIANT(nth > 0);
  power_cut_ = {operation, nth};
}

void SimulatedDisk::cut_power() {
  Guard guard{mutex_};
  powered_ = false;
  react_to_power_cut(guard);
}

bool SimulatedDisk::has_power() const {
  const Guard guard{mutex_};
  return powered_;
}

void SimulatedDisk::after_power_cut(AfterPowerCut behaviour) {
  const Guard guard{mutex_};
  after_power_cut_ = behaviour;
}

void SimulatedDisk::crash(std::uint64_t seed) {
  const Guard guard{mutex_};
  Random random{seed};
  names_.crash(random);
  locked_.clear();
  scratch_bytes_ = 0;
  power_cut_.reset();
  powered_ = true;
  ++boot_;
}

void SimulatedDisk::sync_everything() {
  const Guard guard{mutex_};
  names_.sync_all();
}

std::unique_ptr<SimulatedDisk> SimulatedDisk::copy(std::uint64_t seed) const {
  const Guard guard{mutex_};
  auto other = std::make_unique<SimulatedDisk>(seed);
  other->names_ = names_.copy();
  other->powered_ = powered_;
  other->latencies_ = latencies_;
  other->capacity_ = capacity_;
  other->after_power_cut_ = after_power_cut_;
  return other;
}

void SimulatedDisk::inject(DiskFault fault) {
  const Guard guard{mutex_};
  INVARIANT(fault.nth > 0);
  faults_.push_back({std::move(fault)});
}

void SimulatedDisk::clear_faults() {
  const Guard guard{mutex_};
  faults_.clear();
}

void SimulatedDisk::limit_capacity(std::uint64_t bytes) {
  const Guard guard{mutex_};
  capacity_ = bytes;
}

void SimulatedDisk::set_latencies(Latencies latencies) {
  const Guard guard{mutex_};
  latencies_ = latencies;
}

void SimulatedDisk::observe_writes(WriteObserver observer) {
  const Guard guard{mutex_};
  observer_ = std::move(observer);
}

std::uint64_t SimulatedDisk::count(DiskOperation operation) const {
  const Guard guard{mutex_};
  return counts_[index(operation)];
}

std::vector<std::byte> SimulatedDisk::contents(const fs::path& path) const {
  const Guard guard{mutex_};
  const auto node = names_.file(normal(path));
  INVARIANT(node != nullptr);
  return node->seen();
}

void SimulatedDisk::corrupt(const fs::path& path, std::uint64_t offset, Bytes with) {
  const Guard guard{mutex_};
  const auto node = names_.file(normal(path));
  INVARIANT(node != nullptr);
  node->overwrite(offset, with);
}

std::uint64_t SimulatedDisk::bytes_used() const {
  std::uint64_t bytes = scratch_bytes_;
  for (const auto& node : names_.files()) bytes += node->seen().size();
  return bytes;
}

bool SimulatedDisk::alive(const OpenFile& file) const {
  return powered_ && file.boot_ == boot_;
}

// ---- Sizes and names

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
  // The names of what was under way when the power went are open: crash() decides.
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
  const fs::path name = normal(path);
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
  const fs::path name = normal(path);
  return change_at_once(DiskOperation::rename, name, "could not remove", [&] {
    if (!names_.exists(name)) return ENOENT;
    if (names_.is_directory(name) && !names_.list(name).empty()) return ENOTEMPTY;
    names_.unlink(name);
    return 0;
  });
}

Result<> SimulatedDisk::rename(const fs::path& from, const fs::path& to) {
  const fs::path source = normal(from);
  const fs::path target = normal(to);
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
  const fs::path name = normal(directory);
  const int error = !powered_ ? EIO : (names_.is_directory(name) ? 0 : ENOENT);
  if (error != 0) return fail(file_error("could not list", directory, error));
  return names_.list(name);
}

Result<bool> SimulatedDisk::exists(const fs::path& path) {
  const Guard guard{mutex_};
  if (!powered_) return fail(file_error("could not stat", path, EIO));
  return names_.exists(normal(path));
}

Result<> SimulatedDisk::create_directory(const fs::path& path) {
  const fs::path name = normal(path);
  return change_at_once(DiskOperation::rename, name, "could not create directory", [&] {
    if (names_.exists(name)) return EEXIST;
    if (!names_.is_directory(name.parent_path())) return ENOENT;
    names_.link(name, nullptr);
    return 0;
  });
}

Result<> SimulatedDisk::sync_directory(const fs::path& path) {
  const fs::path name = normal(path);
  return change_at_once(DiskOperation::sync_directory, name, "could not sync directory", [&] {
    if (!names_.is_directory(name)) return ENOENT;
    names_.sync_directory(name);
    return 0;
  });
}

Result<std::unique_ptr<FileLock>> SimulatedDisk::lock(const fs::path& path) {
  const fs::path name = normal(path);
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
  RETURN_IF_ERROR(
      change_at_once(DiskOperation::resize, normal(directory / "scratch"), "could not make", [&] {
        if (bytes_used() + bytes > capacity_) return ENOSPC;
        scratch_bytes_ += bytes;
        return 0;
      }));
  return std::make_unique<Scratch>(*this, bytes);
}

}  // namespace swizzle
