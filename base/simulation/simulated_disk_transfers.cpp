// Reads, writes and syncs of the simulated disk.
#include <algorithm>
#include <thread>

#include "base/simulation/simulated_disk_parts.h"
#include "base/simulation/simulation.h"

namespace swizzle {
namespace {

constexpr std::uint64_t kSector = 512;
constexpr std::uint64_t kBlock = 4096;

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

}  // namespace

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

// Completes a transfer: at a later virtual time, or now.
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

}  // namespace swizzle
