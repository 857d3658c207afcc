#pragma once

#include <memory>
#include <utility>

#include "sql-lite-frontend/types/statement_invariant.h"

/// Pointers of the frontend whose use throws SqlError XX000 where they hold nothing: a place
/// that forgot to ask costs its statement, and not the server.
namespace swizzle::sql {

/// A pointer to what others own. Converts both ways, so that it may stand for a T* anywhere.
template <class T>
class CheckedPointer {
 public:
  constexpr CheckedPointer() noexcept = default;
  constexpr CheckedPointer(T* pointer) noexcept  // NOLINT(google-explicit-constructor)
      : pointer_(pointer) {}
  // NOLINTNEXTLINE(google-explicit-constructor)
  constexpr operator T*() const noexcept { return pointer_; }
  /// Itself, as an array of one.
  [[nodiscard]] constexpr T* const& raw() const noexcept { return pointer_; }

  [[nodiscard]] T* operator->() const { return &**this; }
  [[nodiscard]] T& operator*() const {
    if (pointer_ == nullptr) [[unlikely]]
      detail::missing_fault(__PRETTY_FUNCTION__);
    return *pointer_;
  }

 private:
  T* pointer_ = nullptr;
};

/// A std::unique_ptr that is asked before it is followed.
template <class T>
class CheckedUnique : public std::unique_ptr<T> {
  using Base = std::unique_ptr<T>;

 public:
  using Base::Base;
  CheckedUnique(Base base) noexcept  // NOLINT(google-explicit-constructor): std::make_unique()
      : Base(std::move(base)) {}

  [[nodiscard]] T* operator->() const { return &**this; }
  [[nodiscard]] T& operator*() const {
    if (Base::get() == nullptr) [[unlikely]]
      detail::missing_fault(__PRETTY_FUNCTION__);
    return *Base::get();
  }
};

/// The same of a std::shared_ptr.
template <class T>
class CheckedShared : public std::shared_ptr<T> {
  using Base = std::shared_ptr<T>;

 public:
  using Base::Base;
  CheckedShared(Base base) noexcept  // NOLINT(google-explicit-constructor): std::make_shared()
      : Base(std::move(base)) {}

  [[nodiscard]] T* operator->() const { return &**this; }
  [[nodiscard]] T& operator*() const {
    if (Base::get() == nullptr) [[unlikely]]
      detail::missing_fault(__PRETTY_FUNCTION__);
    return *Base::get();
  }
};

}  // namespace swizzle::sql
