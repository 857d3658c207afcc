#include "server/protocol/frontend_messages.h"

#include <fmt/format.h>

#include "server/protocol/message_reader.h"
#include "server/protocol/sqlstates.h"

namespace swizzle::server {
namespace {

Result<DescribeMessage> decode_target(Bytes payload, std::string_view what, ClientText* client) {
  MessageReader reader{payload};
  const auto target = static_cast<char>(reader.take_byte());
  std::string_view name = reader.take_string();
  RETURN_IF_ERROR(reader.finish());
  if (target != 'S' && target != 'P') {
    return fail(state::protocol_violation, fmt::format("invalid {} message subtype {}", what,
                                                       static_cast<unsigned char>(target)));
  }
  RETURN_IF_ERROR(read_text(name, client));
  return DescribeMessage{static_cast<DescribeTarget>(target), name};
}

/// Reads a count and as many format codes into `formats`. Keeps invalid codes: the caller reports
/// them once the whole message is parsed.
void take_formats(MessageReader& reader, std::vector<sql::Format>& formats) {
  const std::size_t count = reader.take_count(sizeof(std::int16_t));
  formats.clear();
  for (std::size_t i = 0; i < count; ++i) {
    formats.push_back(static_cast<sql::Format>(reader.take_int16()));
  }
}

Result<> check_formats(std::span<const sql::Format> formats) {
  for (const sql::Format format : formats) {
    if (format != sql::Format::text && format != sql::Format::binary) {
      return fail(sqlstate::invalid_parameter_value,
                  fmt::format("unsupported format code: {}", static_cast<std::int16_t>(format)));
    }
  }
  return {};
}

/// Converts a parameter in the text format.
Result<> read_parameter(std::optional<Bytes>& parameter, ClientText* client) {
  std::string_view text = as_text(*parameter);
  RETURN_IF_ERROR(read_text(text, client));
  parameter = as_bytes(text);
  return {};
}

Result<> check_counts(const BindMessage& message) {
  RETURN_IF_ERROR(check_formats(message.parameter_formats));
  RETURN_IF_ERROR(check_formats(message.result_formats));
  const std::size_t formats = message.parameter_formats.size();
  const std::size_t parameters = message.parameters.size();
  if (formats > 1 && formats != parameters) {
    return fail(state::protocol_violation,
                fmt::format("bind message has {} parameter formats but {} parameters", formats,
                            parameters));
  }
  return {};
}

}  // namespace

Result<QueryMessage> decode_query(Bytes payload, ClientText* client) {
  MessageReader reader{payload};
  QueryMessage message{reader.take_string()};
  RETURN_IF_ERROR(reader.finish());
  RETURN_IF_ERROR(read_text(message.text, client));
  return message;
}

Result<DescribeMessage> decode_describe(Bytes payload, ClientText* client) {
  return decode_target(payload, "DESCRIBE", client);
}

Result<DescribeMessage> decode_close(Bytes payload, ClientText* client) {
  return decode_target(payload, "CLOSE", client);
}

Result<ExecuteMessage> decode_execute(Bytes payload, ClientText* client) {
  MessageReader reader{payload};
  std::string_view portal = reader.take_string();
  const std::int32_t limit = reader.take_int32();
  RETURN_IF_ERROR(reader.finish());
  RETURN_IF_ERROR(read_text(portal, client));
  return ExecuteMessage{portal, limit > 0 ? static_cast<std::uint32_t>(limit) : 0};
}

Result<CopyFailMessage> decode_copy_fail(Bytes payload, ClientText* client) {
  MessageReader reader{payload};
  CopyFailMessage message{reader.take_string()};
  RETURN_IF_ERROR(reader.finish());
  RETURN_IF_ERROR(read_text(message.reason, client));
  return message;
}

Result<> decode_empty(Bytes payload) {
  return MessageReader{payload}.finish();
}

Result<SaslInitialResponse> decode_sasl_initial(Bytes payload) {
  MessageReader reader{payload};
  SaslInitialResponse message;
  message.mechanism = reader.take_string();
  message.data = reader.take_nullable();
  RETURN_IF_ERROR(reader.finish());
  return message;
}

Result<ParseMessage> ListDecoder::decode_parse(Bytes payload, ClientText* client) {
  MessageReader reader{payload};
  ParseMessage message;
  message.statement = reader.take_string();
  message.text = reader.take_string();
  const std::size_t count = reader.take_count(sizeof(std::uint32_t));
  types_.clear();
  for (std::size_t i = 0; i < count; ++i) types_.push_back(reader.take_uint32());
  RETURN_IF_ERROR(reader.finish());
  RETURN_IF_ERROR(read_text(message.statement, client));
  RETURN_IF_ERROR(read_text(message.text, client));
  message.parameter_types = types_;
  return message;
}

Result<BindMessage> ListDecoder::decode_bind(Bytes payload, ClientText* client) {
  MessageReader reader{payload};
  BindMessage message;
  message.portal = reader.take_string();
  message.statement = reader.take_string();
  take_formats(reader, parameter_formats_);
  const std::size_t count = reader.take_count(sizeof(std::int32_t));
  parameters_.clear();
  for (std::size_t i = 0; i < count; ++i) parameters_.push_back(reader.take_nullable());
  take_formats(reader, result_formats_);
  RETURN_IF_ERROR(reader.finish());
  RETURN_IF_ERROR(read_text(message.portal, client));
  RETURN_IF_ERROR(read_text(message.statement, client));
  message.parameter_formats = parameter_formats_;
  message.parameters = parameters_;
  message.result_formats = result_formats_;
  RETURN_IF_ERROR(check_counts(message));
  for (std::size_t i = 0; i < count; ++i) {
    if (!parameters_[i] || message.parameter_format(i) == sql::Format::binary) continue;
    RETURN_IF_ERROR(read_parameter(parameters_[i], client));
  }
  return message;
}

Result<FunctionCallMessage> ListDecoder::decode_function_call(Bytes payload, ClientText* client) {
  MessageReader reader{payload};
  FunctionCallMessage message;
  message.function = reader.take_uint32();
  take_formats(reader, parameter_formats_);
  const std::size_t count = reader.take_count(sizeof(std::int32_t));
  parameters_.clear();
  for (std::size_t i = 0; i < count; ++i) parameters_.push_back(reader.take_nullable());
  message.result_format = static_cast<sql::Format>(reader.take_int16());
  RETURN_IF_ERROR(reader.finish());
  RETURN_IF_ERROR(check_formats(parameter_formats_));
  RETURN_IF_ERROR(check_formats({&message.result_format, 1}));
  for (std::size_t i = 0; i < count; ++i) {
    const bool is_text =
        parameter_formats_.empty() ||
        parameter_formats_[std::min(i, parameter_formats_.size() - 1)] == sql::Format::text;
    if (is_text && parameters_[i]) RETURN_IF_ERROR(read_parameter(parameters_[i], client));
  }
  message.argument_formats = parameter_formats_;
  message.arguments = parameters_;
  return message;
}

void ListDecoder::shrink() {
  if (types_.capacity() > kUsualParameters) types_ = {};
  if (parameter_formats_.capacity() > kUsualParameters) parameter_formats_ = {};
  if (result_formats_.capacity() > kUsualParameters) result_formats_ = {};
  if (parameters_.capacity() > kUsualParameters) parameters_ = {};
}

}  // namespace swizzle::server
