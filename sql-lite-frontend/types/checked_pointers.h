#pragma once

#include <memory>
#include <utility>

#include "sql-lite-frontend/types/statement_invariant.h"

/// Pointers of the frontend that throw SqlError XX000 when a null pointer is dereferenced: a
/// missing check fails the statement instead of crashing the server.
namespace swizzle::sql {

/// A non-owning pointer. Converts both ways, so that it can replace a T* anywhere.
template <class T>
class CheckedPointer {
 public:
  constexpr CheckedPointer() noexcept = default;
  constexpr CheckedPointer(T* pointer) noexcept  // NOLINT(google-explicit-constructor)
      : pointer_(pointer) {}
  // NOLINTNEXTLINE(google-explicit-constructor)
  constexpr operator T*() const noexcept { return pointer_; }
  /// The pointer itself, which can be used as an array of one.
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

/// A std::unique_ptr that checks for null when dereferenced.
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

/// The same for std::shared_ptr.
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
