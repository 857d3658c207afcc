#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "server/protocol/client_text.h"
#include "server/protocol/message_kind.h"
#include "sql-lite-frontend/result_sink.h"

namespace swizzle::server {

// Messages of clients, decoded and checked: text is UTF-8 without NUL, counts agree with the bytes
// that follow, nothing is left over. All views point into the payload, or into `client`, which
// converts texts of another encoding; null: they are UTF-8. Failures are 08P01, 22021 or 22P05, and
// leave the stream at the next message.

struct QueryMessage {
  std::string_view text;
};
Result<QueryMessage> decode_query(Bytes payload, ClientText* client = nullptr);

struct DescribeMessage {
  DescribeTarget target;
  std::string_view name;
};
Result<DescribeMessage> decode_describe(Bytes payload, ClientText* client = nullptr);
/// Close has the same fields as Describe.
Result<DescribeMessage> decode_close(Bytes payload, ClientText* client = nullptr);

struct ExecuteMessage {
  std::string_view portal;
  /// 0 is "all rows"; as in PostgreSQL, negative limits are too.
  std::uint32_t row_limit;
};
Result<ExecuteMessage> decode_execute(Bytes payload, ClientText* client = nullptr);

struct CopyFailMessage {
  std::string_view reason;
};
Result<CopyFailMessage> decode_copy_fail(Bytes payload, ClientText* client = nullptr);

/// Sync, Flush, CopyDone, Terminate: no fields.
Result<> decode_empty(Bytes payload);

struct SaslInitialResponse {
  std::string_view mechanism;
  /// Absent when the server must send the first challenge.
  std::optional<Bytes> data;
};
Result<SaslInitialResponse> decode_sasl_initial(Bytes payload);

struct ParseMessage {
  std::string_view statement;
  std::string_view text;
  /// 0: to be inferred.
  std::span<const std::uint32_t> parameter_types;
};

struct BindMessage {
  std::string_view portal;
  std::string_view statement;
  std::span<const sql::Format> parameter_formats;  ///< none, one for all, or one each
  std::span<const std::optional<Bytes>> parameters;
  std::span<const sql::Format> result_formats;  ///< none, one for all, or one each

  [[nodiscard]] sql::Format parameter_format(std::size_t index) const noexcept {
    if (parameter_formats.empty()) return sql::Format::text;
    return parameter_formats.size() == 1 ? parameter_formats[0] : parameter_formats[index];
  }
};

struct FunctionCallMessage {
  std::uint32_t function = 0;
  std::span<const sql::Format> argument_formats;  ///< none, one for all, or one each
  std::span<const std::optional<Bytes>> arguments;
  sql::Format result_format = sql::Format::text;
};

/// Decodes the messages with lists, into memory that is reused for the next message: a warm decoder
/// allocates nothing. A decoded message is valid until the next call.
class ListDecoder {
 public:
  Result<ParseMessage> decode_parse(Bytes payload, ClientText* client = nullptr);
  Result<BindMessage> decode_bind(Bytes payload, ClientText* client = nullptr);
  Result<FunctionCallMessage> decode_function_call(Bytes payload, ClientText* client = nullptr);

  /// Frees memory after a message with more than kUsualParameters.
  void shrink();
  static constexpr std::size_t kUsualParameters = 128;

 private:
  std::vector<std::uint32_t> types_;
  std::vector<sql::Format> parameter_formats_;
  std::vector<sql::Format> result_formats_;
  std::vector<std::optional<Bytes>> parameters_;
};

}  // namespace swizzle::server
