#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/sqlstate.h"

namespace swizzle {

/// An error in PostgreSQL's terms. The size of one pointer, so that Result<T> stays small.
class Error {
 public:
  Error(SqlState state, std::string message)
      : fields_(std::make_unique<Fields>(Fields{state, std::move(message), {}, {}})) {}

  [[nodiscard]] SqlState state() const noexcept { return fields_->state; }
  [[nodiscard]] const std::string& message() const noexcept { return fields_->message; }
  [[nodiscard]] const std::string& detail() const noexcept { return fields_->detail; }
  [[nodiscard]] const std::string& hint() const noexcept { return fields_->hint; }

  [[nodiscard]] Error&& with_detail(std::string detail) && {
    fields_->detail = std::move(detail);
    return std::move(*this);
  }
  [[nodiscard]] Error&& with_hint(std::string hint) && {
    fields_->hint = std::move(hint);
    return std::move(*this);
  }

 private:
  struct Fields {
    SqlState state;
    std::string message;
    std::string detail;
    std::string hint;
  };
  std::unique_ptr<Fields> fields_;
};

}  // namespace swizzle
