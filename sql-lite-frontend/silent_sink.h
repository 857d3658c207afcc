#pragma once

#include "sql-lite-frontend/result_sink.h"

namespace swizzle::sql {

/// Discards all output; COPY from it gets no data. A base for sinks that need one kind of output
/// only.
class SilentSink : public ResultSink {
 public:
  void parameter_description(std::span<const std::uint32_t>) override {}
  void row_description(std::span<const OutputColumn>) override {}
  void no_data() override {}
  void data_row(const OutputRow&) override {}
  void command_complete(std::string_view) override {}
  void empty_query() override {}
  void portal_suspended() override {}
  void notice(const Diagnostic&) override {}
  void parameter_status(std::string_view, std::string_view) override {}
  void notification(std::int32_t, std::string_view, std::string_view) override {}
  void copy_in_begin(const CopyDescription&) override {}
  std::expected<std::optional<Bytes>, Diagnostic> copy_in_data() override {
    return std::optional<Bytes>{};
  }
  void copy_out_begin(const CopyDescription&) override {}
  void copy_out_data(Bytes) override {}
  void copy_out_end() override {}
};

/// Writes each row in the protocol's format into a buffer of its own and counts rows: to the SQL
/// layer, a server with a fast client.
class CountingSink final : public SilentSink {
 public:
  void data_row(const OutputRow& row) override {
    buffer_.clear();
    row.append_data_row(buffer_);
    ++rows;
  }

  std::uint64_t rows = 0;

 private:
  std::string buffer_;
};

}  // namespace swizzle::sql
