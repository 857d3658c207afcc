#pragma once

#include <expected>
#include <utility>

#include "base/error.h"

namespace swizzle {

/// A value, or the Error that the caller must look at. For outcomes and bad data; our own bugs are
/// INVARIANTs, and doubt about durability is an abort.
template <class T = void>
class [[nodiscard]] Result : public std::expected<T, Error> {
  using Base = std::expected<T, Error>;

 public:
  using Base::Base;
  Result(Base base)
      : Base{std::move(base)} {}  // NOLINT(google-explicit-constructor): map() etc. return Base
};

inline std::unexpected<Error> fail(SqlState state, std::string message) {
  return std::unexpected<Error>{Error{state, std::move(message)}};
}
inline std::unexpected<Error> fail(Error&& error) {
  return std::unexpected<Error>{std::move(error)};
}

}  // namespace swizzle

#define RETURN_IF_ERROR(expr)                                               \
  do {                                                                      \
    if (auto result_ = (expr); !result_)                                    \
      return std::unexpected<::swizzle::Error>{std::move(result_).error()}; \
  } while (false)

#define SWIZZLE_CONCAT_(a, b) a##b
#define SWIZZLE_CONCAT(a, b) SWIZZLE_CONCAT_(a, b)
#define ASSIGN_OR_RETURN_(result, target, expr)                                     \
  auto result = (expr);                                                             \
  if (!result) return std::unexpected<::swizzle::Error>{std::move(result).error()}; \
  target = std::move(*result)
/// ASSIGN_OR_RETURN(auto page, pool.fix(id));
#define ASSIGN_OR_RETURN(target, expr) \
  ASSIGN_OR_RETURN_(SWIZZLE_CONCAT(result_at_, __LINE__), target, expr)
