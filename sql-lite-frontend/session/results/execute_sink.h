#pragma once

#include <optional>
#include <string>

#include "sql-lite-frontend/result_sink.h"

namespace swizzle::sql {

/// Forwards all output.
class ForwardingSink : public ResultSink {
 public:
  explicit ForwardingSink(ResultSink& to) : to_(to) {}

  void parameter_description(std::span<const std::uint32_t> types) override {
    to_.parameter_description(types);
  }
  void row_description(std::span<const OutputColumn> columns) override {
    to_.row_description(columns);
  }
  void no_data() override { to_.no_data(); }
  void data_row(const OutputRow& row) override { to_.data_row(row); }
  void command_complete(std::string_view tag) override { to_.command_complete(tag); }
  void empty_query() override { to_.empty_query(); }
  void portal_suspended() override { to_.portal_suspended(); }
  void notice(const Diagnostic& diagnostic) override { to_.notice(diagnostic); }
  void parameter_status(std::string_view name, std::string_view value) override {
    to_.parameter_status(name, value);
  }
  void notification(std::int32_t sender, std::string_view channel,
                    std::string_view payload) override {
    to_.notification(sender, channel, payload);
  }
  void copy_in_begin(const CopyDescription& description) override {
    to_.copy_in_begin(description);
  }
  std::expected<std::optional<Bytes>, Diagnostic> copy_in_data() override {
    return to_.copy_in_data();
  }
  void copy_out_begin(const CopyDescription& description) override {
    to_.copy_out_begin(description);
  }
  void copy_out_data(Bytes data) override { to_.copy_out_data(data); }
  void copy_out_end() override { to_.copy_out_end(); }

 protected:
  ResultSink& to_;
};

/// Forwards the output that Execute of the extended protocol may send: all but the description of
/// the columns, which Describe sends.
class ExecuteSink final : public ForwardingSink {
 public:
  using ForwardingSink::ForwardingSink;
  void row_description(std::span<const OutputColumn>) override {}
};

/// Delays the tag until the work that it reports is committed.
class HeldTag final : public ForwardingSink {
 public:
  using ForwardingSink::ForwardingSink;
  void command_complete(std::string_view tag) override { tag_ = tag; }
  void tell() {
    if (tag_) to_.command_complete(*tag_);
  }

 private:
  std::optional<std::string> tag_;
};

}  // namespace swizzle::sql
