#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

/// Memory accounting of statements. A server has a total; each session has an account that takes
/// memory from it in large grants. Large consumers (arenas, hash tables, value lists) charge their
/// session's account when they grow.
namespace swizzle::sql {

/// Memory of all sessions of a server. Thread-safe.
class MemoryTotal {
 public:
  MemoryTotal() = default;
  MemoryTotal(const MemoryTotal&) = delete;
  MemoryTotal& operator=(const MemoryTotal&) = delete;
  ~MemoryTotal() = default;

  void set_limit(std::size_t bytes) noexcept { limit_.store(bytes, std::memory_order_relaxed); }
  [[nodiscard]] std::size_t limit_bytes() const noexcept {
    return limit_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] std::size_t used_bytes() const noexcept {
    return used_.load(std::memory_order_relaxed);
  }
  /// Returns false if the limit would be exceeded.
  [[nodiscard]] bool take(std::size_t bytes) noexcept;
  void give_back(std::size_t bytes) noexcept { used_.fetch_sub(bytes, std::memory_order_relaxed); }

 private:
  std::atomic<std::size_t> used_{0};
  std::atomic<std::size_t> limit_{std::numeric_limits<std::size_t>::max()};
};

/// Memory of one session's statements. Used by one thread or fiber at a time.
class MemoryAccount {
 public:
  /// Memory that a session may use without taking from the total, so that short statements do not
  /// touch the shared counter.
  static constexpr std::size_t kFreeBytes = std::size_t{64} << 10U;

  MemoryAccount() = default;
  explicit MemoryAccount(MemoryTotal& total) noexcept : total_(&total) {}
  MemoryAccount(const MemoryAccount&) = delete;
  MemoryAccount& operator=(const MemoryAccount&) = delete;
  /// Pre: all memory was released.
  ~MemoryAccount();

  /// Must be called before the allocation. Throws SqlError 53200 if the limit of the session or the
  /// server would be exceeded.
  void take(std::size_t bytes) {
    if (bytes > room_) [[unlikely]]
      ask_for(bytes);
    room_ -= bytes;
  }
  void give_back(std::size_t bytes) noexcept {
    room_ += bytes;
    if (room_ > kMostRoom) [[unlikely]]
      return_grants();
  }
  [[nodiscard]] std::size_t used_bytes() const noexcept { return granted_ - room_; }

  void set_limit(std::size_t bytes) noexcept { limit_ = bytes; }
  [[nodiscard]] std::size_t limit_bytes() const noexcept { return limit_; }

 private:
  static constexpr std::size_t kGrant = std::size_t{64} << 10U;
  static constexpr std::size_t kMostRoom = std::size_t{256} << 10U;

  void ask_for(std::size_t bytes);
  void return_grants() noexcept;

  MemoryTotal* total_ = nullptr;
  std::size_t granted_ = kFreeBytes;
  std::size_t room_ = kFreeBytes;  ///< unused part of the grant
  std::size_t limit_ = std::numeric_limits<std::size_t>::max();
};

/// An owner's part of an account, released by the destructor.
class MemoryShare {
 public:
  MemoryShare() = default;
  MemoryShare(MemoryShare&& other) noexcept
      : account_(std::exchange(other.account_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  MemoryShare& operator=(MemoryShare&& other) noexcept {
    std::swap(account_, other.account_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~MemoryShare() { lower(0); }

  /// Sets the size of the share. Null account: not counted. Throws SqlError 53200.
  void set(MemoryAccount* account, std::size_t bytes) {
    if (bytes != bytes_) [[unlikely]]
      change(account, bytes);
  }
  /// Leaves the memory charged; another owner will release it.
  void keep() noexcept {
    account_ = nullptr;
    bytes_ = 0;
  }
  void lower(std::size_t bytes) noexcept {
    if (account_ == nullptr || bytes >= bytes_) return;
    account_->give_back(bytes_ - bytes);
    bytes_ = bytes;
  }

 private:
  void change(MemoryAccount* account, std::size_t bytes) {
    if (account_ == nullptr) account_ = account;
    if (account_ == nullptr) return;
    if (bytes > bytes_) {
      account_->take(bytes - bytes_);
    } else {
      account_->give_back(bytes_ - bytes);
    }
    bytes_ = bytes;
  }

  MemoryAccount* account_ = nullptr;
  std::size_t bytes_ = 0;
};

/// Size from which the kernel needs noticeable time to zero or reclaim memory, during which a
/// reactor's other fibers would wait.
inline constexpr std::size_t kLongMemory = std::size_t{16} << 20U;
/// Faults memory in before its first use. A helper thread does so while the caller's fiber, if
/// there is one, waits.
void touch_aside(std::byte* memory, std::size_t bytes);
/// Allocates memory that is already faulted in. Throws std::bad_alloc.
void* allocate_long(std::size_t bytes);
/// Frees the memory later, on another thread.
void free_long(void* memory) noexcept;

/// Allocator that charges an account, or none. Moving and swapping containers moves their accounts
/// along.
template <class T>
class CountedAllocator {
 public:
  using value_type = T;
  using propagate_on_container_move_assignment = std::true_type;
  using propagate_on_container_swap = std::true_type;

  CountedAllocator() = default;
  explicit CountedAllocator(MemoryAccount* account) noexcept : account_(account) {}
  template <class U>
  explicit CountedAllocator(const CountedAllocator<U>& other) noexcept
      : account_(other.account()) {}

  T* allocate(std::size_t count) {
    if (count > std::numeric_limits<std::size_t>::max() / sizeof(T)) throw std::bad_alloc{};
    MemoryShare share;
    share.set(account_, count * sizeof(T));
    T* const memory = is_long(count) ? static_cast<T*>(allocate_long(count * sizeof(T)))
                                     : std::allocator<T>{}.allocate(count);
    share.keep();
    return memory;
  }
  void deallocate(T* memory, std::size_t count) noexcept {
    if (is_long(count)) [[unlikely]] {
      free_long(static_cast<void*>(memory));
    } else {
      std::allocator<T>{}.deallocate(memory, count);
    }
    if (account_ != nullptr) account_->give_back(count * sizeof(T));
  }
  [[nodiscard]] MemoryAccount* account() const noexcept { return account_; }
  friend bool operator==(const CountedAllocator&, const CountedAllocator&) = default;

 private:
  static constexpr bool is_long(std::size_t count) noexcept {
    static_assert(alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);
    return count >= kLongMemory / sizeof(T);
  }

  MemoryAccount* account_ = nullptr;
};

template <class T>
using CountedVector = std::vector<T, CountedAllocator<T>>;

/// Replaces the list by an empty one whose memory is charged to the account from now on.
template <class T>
void count_in(CountedVector<T>& list, MemoryAccount* account) {
  if (list.get_allocator().account() != account)
    list = CountedVector<T>(CountedAllocator<T>{account});
}
/// Gives its memory back.
template <class T>
void release(CountedVector<T>& list) noexcept {
  list = CountedVector<T>(list.get_allocator());
}

}  // namespace swizzle::sql
