#include "lock/internal/reader_epochs.h"

namespace swizzle::lock {

bool ReaderEpochs::try_advance() noexcept {
  std::uint64_t epoch = epoch_.load(std::memory_order_seq_cst);
  for (const Stripe& stripe : stripes_) {
    if (stripe.readers[(epoch + 1) % 2].load(std::memory_order_seq_cst) != 0) return false;
  }
  return epoch_.compare_exchange_strong(epoch, epoch + 1, std::memory_order_seq_cst);
}

}  // namespace swizzle::lock
