#include "lock/internal/seat.h"

#include <mutex>
#include <new>

#include "base/invariant.h"
#include "lock/internal/pause_point.h"

namespace swizzle::lock {

void Seat::wake() noexcept {
  if (Parker* sleeper = parker.load(std::memory_order_seq_cst)) {
    pause_point(PausePoint::before_unpark);
    sleeper->unpark();
  }
}

SeatRegistry::~SeatRegistry() {
  for (auto& segment : segments_) delete[] segment.load(std::memory_order_relaxed);
}

Seat& SeatRegistry::take() {
  latch_.lock();
  Seat* seat = left_;
  if (seat != nullptr) {
    left_ = seat->next_left;
    latch_.unlock();
    return *seat;
  }
  const std::uint32_t number = count_.load(std::memory_order_relaxed);
  INVARIANT(number < kSegments * kSegment);
  auto& segment = segments_[number / kSegment];
  if (segment.load(std::memory_order_relaxed) == nullptr) {
    Seat* seats = new (std::nothrow) Seat[kSegment];
    if (seats == nullptr) {
      latch_.unlock();
      throw std::bad_alloc{};
    }
    segment.store(seats, std::memory_order_release);  // publishes the fresh seats
  }
  seat = &segment.load(std::memory_order_relaxed)[number % kSegment];
  seat->number = number;
  // seq_cst: a strong request that announced itself before this store is seen by every intent of
  // this seat; one that comes after it sees the seat.
  count_.store(number + 1, std::memory_order_seq_cst);
  latch_.unlock();
  return *seat;
}

void SeatRegistry::leave(Seat& seat) noexcept {
  INVARIANT(seat.waiting.load(std::memory_order_relaxed) == nullptr);
  seat.txn.store(TxnId::none, std::memory_order_relaxed);
  seat.label.store(0, std::memory_order_relaxed);
  seat.cancelled.store(false, std::memory_order_relaxed);
  {
    const std::lock_guard hold(seat.doing_latch);
    seat.doing.clear();
  }
  latch_.lock();
  seat.next_left = left_;
  left_ = &seat;
  latch_.unlock();
}

}  // namespace swizzle::lock
