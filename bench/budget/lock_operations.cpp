// Operation: an uncontended exclusive lock on one key, and its release.
#include "bench/budget/operation.h"
#include "lock/lock_owner.h"

namespace swizzle::bench {
namespace {

class LockAndUnlock final : public BudgetOperation {
 public:
  bool run(std::uint64_t index) override {
    const lock::LockId id{TreeId{7}, (index & 1023U) * 0x9E37'79B9'7F4A'7C15ULL};
    const bool is_ours = owner_.try_acquire(id, lock::kWriteKey);
    owner_.release_all(Lsn{index + 1});
    return is_ours;
  }

 private:
  lock::LockManager manager_;
  lock::LockOwner owner_{manager_};
};

}  // namespace

void add_lock_operations(BudgetOperations& operations) {
  operations["lock"] = [] { return std::make_unique<LockAndUnlock>(); };
}

}  // namespace swizzle::bench
