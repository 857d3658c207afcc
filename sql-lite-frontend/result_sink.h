#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "sql-lite-frontend/diagnostic.h"

namespace swizzle::sql {

/// Format, numbered as on the wire: 0 is text, 1 is binary.
enum class Format : std::int16_t { text = 0, binary = 1 };

/// One column of a result, as in RowDescription. The name lives as long as the statement that it
/// describes.
struct OutputColumn {
  std::string_view name;
  std::uint32_t table_oid = 0;
  std::int16_t column_number = 0;
  std::uint32_t type_oid = 0;
  std::int16_t type_size = -1;
  std::int32_t type_modifier = -1;
  Format format = Format::text;
};

/// One row of a result, valid during the call that gets it.
class OutputRow {
 public:
  OutputRow() = default;
  OutputRow(const OutputRow&) = delete;
  OutputRow& operator=(const OutputRow&) = delete;

  [[nodiscard]] virtual std::size_t size() const noexcept = 0;
  /// Appends the body of a DataRow message (column count, then length and bytes of each value in
  /// its requested format) to a send buffer: values are formatted straight into it. May throw
  /// SqlError, with nothing appended then, so that a sink lets it pass.
  virtual void append_data_row(std::string& buffer) const = 0;
  /// One value as text; nullopt is NULL. For embedders and tests.
  [[nodiscard]] virtual std::optional<std::string> text(std::size_t column) const = 0;

 protected:
  ~OutputRow() = default;
};

/// Formats of the rows of a COPY: one for all, and one per column.
struct CopyDescription {
  Format overall = Format::text;
  std::size_t columns = 0;
};

/// Receives the output of a request from its session, in the order of the wire protocol. Any call
/// may park the session for back-pressure; none is made under a latch or from a catch block. A sink
/// whose peer has disconnected ignores further output and cancels the session.
class ResultSink {
 public:
  ResultSink() = default;
  ResultSink(const ResultSink&) = delete;
  ResultSink& operator=(const ResultSink&) = delete;
  virtual ~ResultSink() = default;

  virtual void parameter_description(std::span<const std::uint32_t> type_oids) = 0;
  virtual void row_description(std::span<const OutputColumn> columns) = 0;
  /// Describes a statement that returns no rows.
  virtual void no_data() = 0;
  virtual void data_row(const OutputRow& row) = 0;
  virtual void command_complete(std::string_view tag) = 0;
  virtual void empty_query() = 0;
  virtual void portal_suspended() = 0;

  virtual void notice(const Diagnostic& diagnostic) = 0;
  virtual void parameter_status(std::string_view name, std::string_view value) = 0;
  /// Sends a notification of the session with that backend pid.
  virtual void notification(std::int32_t sender, std::string_view channel,
                            std::string_view payload) = 0;

  virtual void copy_in_begin(const CopyDescription& description) = 0;
  /// The next piece of data, cut anywhere; nullopt after CopyDone. CopyFail is an error 57014. The
  /// bytes are valid until the next call.
  virtual std::expected<std::optional<Bytes>, Diagnostic> copy_in_data() = 0;
  virtual void copy_out_begin(const CopyDescription& description) = 0;
  virtual void copy_out_data(Bytes data) = 0;
  virtual void copy_out_end() = 0;
};

}  // namespace swizzle::sql
