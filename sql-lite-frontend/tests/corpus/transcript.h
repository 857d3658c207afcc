#pragma once

#include <string>
#include <vector>

#include "sql-lite-frontend/session.h"
#include "sql-lite-frontend/tests/corpus/script.h"

namespace swizzle::sql::corpus {

/// Writes a session's output for a request in the form described in scripts/sqldiff/script.py.
class Transcript final : public ResultSink {
 public:
  explicit Transcript(const Request& request) : request_(request) {}

  void parameter_description(std::span<const std::uint32_t> type_oids) override;
  void row_description(std::span<const OutputColumn> columns) override;
  void no_data() override {}
  void data_row(const OutputRow& row) override;
  void command_complete(std::string_view tag) override;
  void empty_query() override { command_complete("(empty)"); }
  void portal_suspended() override { command_complete("(suspended)"); }
  void notice(const Diagnostic& diagnostic) override;
  void parameter_status(std::string_view, std::string_view) override {}
  void notification(std::int32_t, std::string_view, std::string_view) override {}
  void copy_in_begin(const CopyDescription&) override { copy_sent_ = false; }
  std::expected<std::optional<Bytes>, Diagnostic> copy_in_data() override;
  void copy_out_begin(const CopyDescription&) override { copied_.clear(); }
  void copy_out_data(Bytes data) override { copied_ += as_text(data); }
  void copy_out_end() override;

  void error(const Diagnostic& diagnostic);
  [[nodiscard]] std::string take() &&;

 private:
  void flush_rows();
  void add(std::string_view prefix, const Diagnostic& diagnostic);

  const Request& request_;
  std::vector<std::string> lines_;
  std::vector<std::string> rows_;
  /// Position of the last line of columns, until a row follows.
  std::optional<std::size_t> described_;
  std::string copied_;
  bool copy_sent_ = false;
};

/// Runs the request and returns its transcript.
std::string run(Session& session, const Request& request);

}  // namespace swizzle::sql::corpus
