#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sql-lite-frontend/result_sink.h"

namespace swizzle::sql {

/// Collects a session's output as text: rows "a|b", NULL as "NULL", then the command tag.
class TestSink : public ResultSink {
 public:
  std::vector<std::string> columns;
  std::vector<std::string> rows;
  std::vector<std::string> tags;
  std::vector<Diagnostic> notices;
  std::vector<std::string> notifications;
  std::vector<std::uint32_t> parameter_types;
  std::string copied;
  /// Input of COPY FROM STDIN.
  std::string copy_input;
  /// Called before COPY reads its input, if set.
  std::function<void()> before_copy_input;

  void parameter_description(std::span<const std::uint32_t> types) override {
    parameter_types.assign(types.begin(), types.end());
  }
  void row_description(std::span<const OutputColumn> list) override {
    columns.clear();
    for (const OutputColumn& column : list) columns.emplace_back(column.name);
  }
  void no_data() override { columns.clear(); }
  void data_row(const OutputRow& row) override {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i > 0) line += '|';
      line += row.text(i).value_or("NULL");
    }
    rows.push_back(std::move(line));
  }
  void command_complete(std::string_view tag) override { tags.emplace_back(tag); }
  void empty_query() override { tags.emplace_back("(empty)"); }
  void portal_suspended() override { tags.emplace_back("(suspended)"); }
  void notice(const Diagnostic& diagnostic) override { notices.push_back(diagnostic); }
  void parameter_status(std::string_view, std::string_view) override {}
  void notification(std::int32_t sender, std::string_view channel,
                    std::string_view payload) override {
    notifications.push_back(std::to_string(sender) + " " + std::string{channel} + " " +
                            std::string{payload});
  }
  void copy_in_begin(const CopyDescription&) override { copy_sent_ = false; }
  std::expected<std::optional<Bytes>, Diagnostic> copy_in_data() override {
    if (before_copy_input) before_copy_input();
    if (std::exchange(copy_sent_, true)) return std::optional<Bytes>{};
    return std::optional{as_bytes(copy_input)};
  }
  void copy_out_begin(const CopyDescription&) override {}
  void copy_out_data(Bytes data) override { copied += as_text(data); }
  void copy_out_end() override {}

  void clear() {
    columns.clear();
    rows.clear();
    tags.clear();
    notices.clear();
    notifications.clear();
    copied.clear();
  }

 private:
  bool copy_sent_ = false;
};

}  // namespace swizzle::sql
