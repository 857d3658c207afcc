#include "base/io/uring.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <system_error>

#include "base/invariant.h"
#include "base/io/io_transfer.h"

namespace swizzle {
namespace {

// Ends the process: when a ring that has worked fails, its transfers are in doubt, log writes among
// them.
[[noreturn]] void ring_failed(const char* what, int error) noexcept {
  std::fprintf(stderr, "io_uring: %s failed: %s\n", what,
               std::system_category().message(error).c_str());
  std::abort();
}

bool passing(int error) noexcept {
  return error == EINTR || error == EAGAIN || error == EBUSY;
}

int try_to_open(io_uring& ring, unsigned entries, unsigned flags) noexcept {
  io_uring_params parameters{};
  parameters.flags = flags;
  return -io_uring_queue_init_params(entries, &ring, &parameters);
}

bool knows_our_operations() noexcept {
  io_uring_probe* probe = io_uring_get_probe();
  if (probe == nullptr) return false;
  const bool all = io_uring_opcode_supported(probe, IORING_OP_READ) != 0 &&
                   io_uring_opcode_supported(probe, IORING_OP_WRITE) != 0 &&
                   io_uring_opcode_supported(probe, IORING_OP_FSYNC) != 0;
  io_uring_free_probe(probe);
  return all;
}

}  // namespace

int Uring::refusal() noexcept {
  static const int answer = []() noexcept {
    io_uring ring{};
    if (const int error = try_to_open(ring, 4, 0); error != 0) return error;
    io_uring_queue_exit(&ring);
    return knows_our_operations() ? 0 : ENOSYS;
  }();
  return answer;
}

std::unique_ptr<Uring> Uring::open(unsigned capacity, Use use) noexcept {
  if (refusal() != 0) return nullptr;
  auto uring = std::unique_ptr<Uring>{new (std::nothrow) Uring};
  if (!uring) return nullptr;
  // The completion queue has twice as many entries, so `capacity` requests cannot overflow it.
  uring->capacity_ = capacity;
  if (use == Use::one_thread) {
    constexpr unsigned kQuiet =
        IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_TASKRUN_FLAG;
    if (try_to_open(uring->ring_, capacity, kQuiet) == 0) return uring;  // Linux 6.1
  }
  if (try_to_open(uring->ring_, capacity, 0) == 0) return uring;
  uring->capacity_ = 0;
  return nullptr;
}

Uring::~Uring() {
  if (capacity_ != 0) io_uring_queue_exit(&ring_);
}

io_uring_sqe& Uring::next_entry() noexcept {
  io_uring_sqe* entry = io_uring_get_sqe(&ring_);
  if (entry == nullptr) {
    flush();
    entry = io_uring_get_sqe(&ring_);
  }
  INVARIANT(entry != nullptr);
  ++unflushed_;
  return *entry;
}

void Uring::start(IoRequest& request) noexcept {
  io_uring_sqe& entry = next_entry();
  const std::uint64_t offset = request.offset + request.transferred;
  std::byte* data = request.data + request.transferred;
  const auto size = static_cast<unsigned>(step_size(request));
  switch (request.kind) {
    case IoRequest::Kind::read:
      io_uring_prep_read(&entry, request.descriptor, data, size, offset);
      break;
    case IoRequest::Kind::write:
      io_uring_prep_write(&entry, request.descriptor, data, size, offset);
      break;
    case IoRequest::Kind::sync:
      io_uring_prep_fsync(&entry, request.descriptor, IORING_FSYNC_DATASYNC);
      break;
  }
  io_uring_sqe_set_data(&entry, &request);
}

void Uring::start_wake() noexcept {
  io_uring_sqe& entry = next_entry();
  io_uring_prep_nop(&entry);
  io_uring_sqe_set_data(&entry, nullptr);
}

void Uring::flush() noexcept {
  while (unflushed_ != 0) {
    const int submitted = io_uring_submit(&ring_);
    if (submitted >= 0) {
      unflushed_ -= static_cast<unsigned>(submitted);
    } else if (!passing(-submitted)) {
      ring_failed("submit", -submitted);
    }
  }
}

void Uring::wait() noexcept {
  io_uring_cqe* first = nullptr;
  const int error = -io_uring_wait_cqe(&ring_, &first);
  if (error != 0 && !passing(error)) ring_failed("wait", error);
}

bool Uring::announce_completions_through(int event_descriptor) noexcept {
  if (io_uring_register_eventfd(&ring_, event_descriptor) != 0) return false;
  set_announcing(Announce::off);
  return true;
}

void Uring::set_announcing(Announce announce) noexcept {
  // Fails only on rings older than the kernels that have DEFER_TASKRUN; these always signal.
  io_uring_cq_eventfd_toggle(&ring_, announce == Announce::on);
}

bool Uring::kernel_holds_back() const noexcept {
  constexpr unsigned kHasMore = IORING_SQ_TASKRUN | IORING_SQ_CQ_OVERFLOW;
  return (IO_URING_READ_ONCE(*ring_.sq.kflags) & kHasMore) != 0;
}

bool Uring::has_finished() const noexcept {
  return io_uring_cq_ready(&ring_) != 0 || kernel_holds_back();
}

void Uring::flush_and_poll() noexcept {
  if (unflushed_ == 0 && !kernel_holds_back()) return;
  const int submitted = io_uring_submit_and_get_events(&ring_);
  if (submitted < 0) {
    if (!passing(-submitted)) ring_failed("submit", -submitted);
  } else {
    unflushed_ -= static_cast<unsigned>(submitted);
  }
  flush();
}

std::span<Uring::Completion> Uring::reap(std::span<Completion> into) noexcept {
  unsigned head = 0;
  unsigned count = 0;
  io_uring_cqe* entry = nullptr;
  io_uring_for_each_cqe(&ring_, head, entry) {
    if (count == into.size()) break;
    into[count++] = {static_cast<IoRequest*>(io_uring_cqe_get_data(entry)), entry->res};
  }
  io_uring_cq_advance(&ring_, count);
  return into.first(count);
}

}  // namespace swizzle
