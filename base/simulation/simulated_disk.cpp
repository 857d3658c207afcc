// Faults, power, and what tests ask of the disk.
#include "base/simulation/simulated_disk.h"

#include <utility>

#include "base/invariant.h"
#include "base/simulation/simulated_disk_parts.h"
#include "base/simulation/simulation.h"

namespace swizzle {
namespace {

namespace fs = std::filesystem;

bool matches(DiskOperation wanted, DiskOperation happened) noexcept {
  return wanted == happened || (wanted == DiskOperation::change && happened != DiskOperation::read);
}

std::size_t index(DiskOperation operation) noexcept {
  return static_cast<std::size_t>(std::to_underlying(operation));
}

}  // namespace

SimulatedDisk::SimulatedDisk(std::uint64_t seed) : random_(seed) {}
SimulatedDisk::~SimulatedDisk() = default;

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

// Unlocks first, because a task of the simulation does not return from here.
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

void SimulatedDisk::leave_room(std::uint64_t bytes) {
  const Guard guard{mutex_};
  capacity_ = bytes_used() + bytes;
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
  const auto node = names_.file(plain_path(path));
  INVARIANT(node != nullptr);
  return node->seen();
}

void SimulatedDisk::corrupt(const fs::path& path, std::uint64_t offset, Bytes with) {
  const Guard guard{mutex_};
  const auto node = names_.file(plain_path(path));
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

}  // namespace swizzle
