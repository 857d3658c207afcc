#pragma once

#include <string>

#include "sql-lite-frontend/silent_sink.h"

namespace swizzle::server {

/// Writes a result as {"columns":[…],"rows":[[…],…],"complete":true}, in which each value is a
/// string or null. Rows beyond kMostBytes are dropped, and "complete" is false then.
class JsonSink final : public sql::SilentSink {
 public:
  static constexpr std::size_t kMostBytes = std::size_t{1} << 20U;

  void row_description(std::span<const sql::OutputColumn> columns) override;
  void data_row(const sql::OutputRow& row) override;
  /// Returns the object. Call once.
  [[nodiscard]] std::string take();

 private:
  std::string columns_ = "[]";
  std::string rows_;
  bool is_complete_ = true;
};

}  // namespace swizzle::server
