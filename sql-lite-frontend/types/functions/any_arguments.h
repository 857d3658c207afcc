#pragma once

#include <span>
#include <vector>

#include "sql-lite-frontend/types/array/array.h"
#include "sql-lite-frontend/types/function_context.h"

namespace swizzle::sql {

/// Arguments of a function over VARIADIC "any", passed one by one or, with VARIADIC, as an array
/// that replaces those from `first` on.
class AnyArguments {
 public:
  AnyArguments(const FunctionContext& context, std::span<const Value> arguments, std::size_t first)
      : values_{arguments}, types_{context.call.arguments} {
    if (!context.call.variadic_array) return;
    const Value& array = arguments.back();
    is_null_ = array.is_null();
    spread_.assign(arguments.begin(), arguments.begin() + static_cast<std::ptrdiff_t>(first));
    if (!is_null_) {
      const ArrayView view{array};
      element_ = view.element_type();
      for (std::size_t i = 0; i < view.size(); ++i) spread_.push_back(view.element(i));
    }
    first_element_ = first;
    values_ = spread_;
  }
  AnyArguments(const AnyArguments&) = delete;
  AnyArguments& operator=(const AnyArguments&) = delete;
  ~AnyArguments() = default;

  /// True if the array itself is NULL.
  [[nodiscard]] bool is_null() const noexcept { return is_null_; }
  [[nodiscard]] std::size_t size() const noexcept { return values_.size(); }
  [[nodiscard]] const Value& value(std::size_t index) const { return values_[index]; }
  [[nodiscard]] TypeId type(std::size_t index) const {
    return element_ != TypeId::none && index >= first_element_ ? element_ : types_[index];
  }

 private:
  std::span<const Value> values_;
  std::span<const TypeId> types_;
  std::vector<Value> spread_;
  std::size_t first_element_ = 0;
  TypeId element_ = TypeId::none;
  bool is_null_ = false;
};

}  // namespace swizzle::sql
