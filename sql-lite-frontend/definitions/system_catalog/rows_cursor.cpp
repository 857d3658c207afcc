#include "sql-lite-frontend/definitions/system_catalog/rows_cursor.h"

#include <utility>

namespace swizzle::sql {
namespace {

class RowsCursor final : public SetCursor {
 public:
  explicit RowsCursor(std::vector<Value> rows) : rows_(std::move(rows)) {}
  std::optional<Value> next(FunctionContext&) override {
    if (next_ == rows_.size()) return std::nullopt;
    return rows_[next_++];
  }

 private:
  std::vector<Value> rows_;
  std::size_t next_ = 0;
};

}  // namespace

std::unique_ptr<SetCursor> rows_cursor(std::vector<Value> rows) {
  return std::make_unique<RowsCursor>(std::move(rows));
}

}  // namespace swizzle::sql
