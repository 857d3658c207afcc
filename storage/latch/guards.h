#pragma once

#include <cstdint>
#include <utility>

#include "storage/latch/hybrid_latch.h"

namespace swizzle {

class ExclusiveGuard;

/// An optimistic read: values that were read count only once valid() says so. A reader that
/// was disturbed too often asks for a patient read, which holds the shared latch. All reads are
/// patient under ThreadSanitizer, so that races show, and with SWIZZLE_PATIENT_READS, to measure
/// the gain of the others. Therefore release() before anything that parks, in every build.
class ReadGuard {
 public:
  enum class Manner : std::uint8_t { optimistic, patient };
#if defined(__SANITIZE_THREAD__) || defined(SWIZZLE_PATIENT_READS)
  static constexpr Manner kUsual = Manner::patient;
#else
  static constexpr Manner kUsual = Manner::optimistic;
#endif

  ReadGuard() = default;
  explicit ReadGuard(HybridLatch& latch, Manner manner = kUsual) noexcept
      : latch_(&latch), manner_(manner) {
    if (manner == Manner::optimistic) {
      version_ = latch.optimistic();
    } else {
      latch.lock_shared();
      version_ = latch.version();
    }
  }
  /// An optimistic read that began when the latch had `version`.
  ReadGuard(HybridLatch& latch, LatchVersion version) noexcept
      : latch_(&latch), version_(version) {}
  ReadGuard(ReadGuard&& other) noexcept
      : latch_(std::exchange(other.latch_, nullptr)),
        version_(other.version_),
        manner_(std::exchange(other.manner_, Manner::optimistic)) {}
  ReadGuard& operator=(ReadGuard&& other) noexcept {
    if (this != &other) {
      release();
      latch_ = std::exchange(other.latch_, nullptr);
      version_ = other.version_;
      manner_ = std::exchange(other.manner_, Manner::optimistic);
    }
    return *this;
  }
  ~ReadGuard() { release(); }

  [[nodiscard]] bool valid() const noexcept { return latch_->validate(version_); }
  [[nodiscard]] HybridLatch& latch() const noexcept { return *latch_; }
  [[nodiscard]] LatchVersion version() const noexcept { return version_; }

  void release() noexcept {
    if (manner_ == Manner::patient) {
      manner_ = Manner::optimistic;
      latch_->unlock_shared();
    }
  }
  /// Ends the read either way. True: the caller now holds the latch exclusively, and all values
  /// that it read are still valid.
  [[nodiscard]] bool try_upgrade() noexcept {
    if (manner_ == Manner::optimistic) return latch_->try_upgrade(version_);
    if (latch_->try_upgrade_shared(version_)) {
      manner_ = Manner::optimistic;
      return true;
    }
    release();
    return false;
  }

 private:
  HybridLatch* latch_ = nullptr;
  LatchVersion version_ = 0;
  Manner manner_ = Manner::optimistic;
};

/// Holds a latch exclusively.
class ExclusiveGuard {
 public:
  ExclusiveGuard() = default;
  struct Adopt {};
  explicit ExclusiveGuard(HybridLatch& latch) noexcept : latch_(&latch) { latch.lock_exclusive(); }
  ExclusiveGuard(HybridLatch& latch, Adopt /*already held*/) noexcept : latch_(&latch) {}
  ExclusiveGuard(ExclusiveGuard&& other) noexcept : latch_(std::exchange(other.latch_, nullptr)) {}
  ExclusiveGuard& operator=(ExclusiveGuard&& other) noexcept {
    if (this != &other) {
      release();
      latch_ = std::exchange(other.latch_, nullptr);
    }
    return *this;
  }
  ~ExclusiveGuard() { release(); }

  /// Returns an empty guard when the latch is not free.
  static ExclusiveGuard try_lock(HybridLatch& latch) noexcept {
    ExclusiveGuard guard;
    if (latch.try_lock_exclusive()) guard.latch_ = &latch;
    return guard;
  }
  /// Returns an empty guard when something changed since the read began.
  static ExclusiveGuard upgrade(ReadGuard& read) noexcept {
    HybridLatch& latch = read.latch();
    ExclusiveGuard guard;
    if (read.try_upgrade()) guard.latch_ = &latch;
    return guard;
  }

  [[nodiscard]] explicit operator bool() const noexcept { return latch_ != nullptr; }
  /// Leaves the latch held: another owner will unlatch it.
  void hand_over() noexcept { latch_ = nullptr; }
  void release() noexcept {
    if (latch_ != nullptr) std::exchange(latch_, nullptr)->unlock_exclusive();
  }
  void release_unchanged() noexcept {
    if (latch_ != nullptr) std::exchange(latch_, nullptr)->unlock_exclusive_unchanged();
  }

 private:
  HybridLatch* latch_ = nullptr;
};

class SharedGuard {
 public:
  explicit SharedGuard(HybridLatch& latch) noexcept : latch_(&latch) { latch.lock_shared(); }
  SharedGuard(const SharedGuard&) = delete;
  SharedGuard& operator=(const SharedGuard&) = delete;
  ~SharedGuard() { latch_->unlock_shared(); }

 private:
  HybridLatch* latch_;
};

}  // namespace swizzle
