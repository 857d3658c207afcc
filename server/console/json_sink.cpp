#include "server/console/json_sink.h"

#include <fmt/format.h>

#include "server/observability/json_text.h"

namespace swizzle::server {

void JsonSink::row_description(std::span<const sql::OutputColumn> columns) {
  columns_ = "[";
  for (const sql::OutputColumn& column : columns) {
    if (columns_.size() > 1) columns_ += ',';
    append_json_text(columns_, column.name);
  }
  columns_ += ']';
}

void JsonSink::data_row(const sql::OutputRow& row) {
  if (rows_.size() > kMostBytes) is_complete_ = false;
  if (!is_complete_) return;
  rows_ += rows_.empty() ? "[" : ",[";
  for (std::size_t column = 0; column < row.size(); ++column) {
    if (column > 0) rows_ += ',';
    if (const auto text = row.text(column)) {
      append_json_text(rows_, *text);
    } else {
      rows_ += "null";
    }
  }
  rows_ += ']';
}

std::string JsonSink::take() {
  return fmt::format(R"({{"columns":{},"rows":[{}],"complete":{}}})", columns_, rows_,
                     is_complete_);
}

}  // namespace swizzle::server
