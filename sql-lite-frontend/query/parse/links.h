#pragma once

#include <cstddef>
#include <span>

#include "sql-lite-frontend/types/checked_pointers.h"

/// Links between the nodes of a syntax tree. Following the link of an omitted child throws SqlError
/// XX000.
namespace swizzle::sql::ast {

/// A child of a node, or null.
template <class T>
using Link = CheckedPointer<const T>;

/// Children of one node. Access past the end throws.
template <class T>
class Items : public std::span<const T* const> {
  using Base = std::span<const T* const>;

 public:
  using Base::Base;
  constexpr Items(Base items) noexcept : Base(items) {}  // NOLINT(google-explicit-constructor)

  /// Returns a list of one child, which must outlive it.
  static Items of(const Link<T>& only) noexcept { return Base{&only.raw(), 1}; }

  Link<T> operator[](std::size_t index) const {
    if (index >= Base::size()) [[unlikely]]
      detail::missing_fault(__PRETTY_FUNCTION__);
    return Base::operator[](index);
  }
  Link<T> front() const { return (*this)[0]; }
  Link<T> back() const { return (*this)[Base::size() - 1]; }
};

}  // namespace swizzle::sql::ast

template <class T>
inline constexpr bool std::ranges::enable_borrowed_range<swizzle::sql::ast::Items<T>> = true;
template <class T>
inline constexpr bool std::ranges::enable_view<swizzle::sql::ast::Items<T>> = true;
