#include "server/protocol/backend_messages.h"

#include <fmt/format.h>

#include <array>

namespace swizzle::server {

void put_authentication(SendBuffer& out, AuthenticationCode code, Bytes data) {
  const auto message = out.begin(BackendKind::authentication);
  out.put_int32(static_cast<std::int32_t>(code));
  out.put_bytes(data);
  out.end(message);
}

void put_authentication_sasl(SendBuffer& out, std::span<const std::string_view> mechanisms) {
  const auto message = out.begin(BackendKind::authentication);
  out.put_int32(static_cast<std::int32_t>(AuthenticationCode::sasl));
  for (const std::string_view mechanism : mechanisms) out.put_string(mechanism);
  out.put_char('\0');
  out.end(message);
}

void put_negotiate_protocol_version(SendBuffer& out, ProtocolVersion newest,
                                    std::span<const std::string_view> unknown_options) {
  const auto message = out.begin(BackendKind::negotiate_protocol_version);
  out.put_uint32((std::uint32_t{newest.major} << 16U) | newest.minor);
  out.put_uint32(static_cast<std::uint32_t>(unknown_options.size()));
  for (const std::string_view option : unknown_options) out.put_string(option);
  out.end(message);
}

void put_backend_key_data(SendBuffer& out, std::uint32_t backend_id, Bytes key) {
  const auto message = out.begin(BackendKind::backend_key_data);
  out.put_uint32(backend_id);
  out.put_bytes(key);
  out.end(message);
}

void put_parameter_status(SendBuffer& out, std::string_view name, std::string_view value) {
  const auto message = out.begin(BackendKind::parameter_status);
  out.put_string(name);
  out.put_string(value);
  out.end(message);
}

void put_notification(SendBuffer& out, std::int32_t sender, std::string_view channel,
                      std::string_view payload) {
  const auto message = out.begin(BackendKind::notification_response);
  out.put_int32(sender);
  out.put_string(channel);
  out.put_string(payload);
  out.end(message);
}

void put_ready_for_query(SendBuffer& out, sql::TransactionStatus status) {
  const auto message = out.begin(BackendKind::ready_for_query);
  out.put_char(static_cast<char>(status));
  out.end(message);
}

void put_row_description(SendBuffer& out, std::span<const sql::OutputColumn> columns) {
  const auto message = out.begin(BackendKind::row_description);
  out.put_int16(static_cast<std::int16_t>(columns.size()));
  for (const sql::OutputColumn& column : columns) {
    out.put_string(column.name);
    out.put_uint32(column.table_oid);
    out.put_int16(column.column_number);
    out.put_uint32(column.type_oid);
    out.put_int16(column.type_size);
    out.put_int32(column.type_modifier);
    out.put_int16(static_cast<std::int16_t>(column.format));
  }
  out.end(message);
}

void put_data_row(SendBuffer& out, const sql::OutputRow& row) {
  const auto message = out.begin(BackendKind::data_row);
  try {
    row.append_data_row(out.tail());
  } catch (...) {
    out.abandon(message);
    throw;
  }
  out.end(message);
}

void put_parameter_description(SendBuffer& out, std::span<const std::uint32_t> types) {
  const auto message = out.begin(BackendKind::parameter_description);
  out.put_int16(static_cast<std::int16_t>(types.size()));
  for (const std::uint32_t type : types) out.put_uint32(type);
  out.end(message);
}

void put_command_complete(SendBuffer& out, std::string_view tag) {
  const auto message = out.begin(BackendKind::command_complete);
  out.put_string(tag);
  out.end(message);
}

void put_copy_response(SendBuffer& out, BackendKind kind, const sql::CopyDescription& description) {
  const auto message = out.begin(kind);
  out.put_char(static_cast<char>(description.overall));
  out.put_int16(static_cast<std::int16_t>(description.columns));
  for (std::size_t i = 0; i < description.columns; ++i) {
    out.put_int16(static_cast<std::int16_t>(description.overall));
  }
  out.end(message);
}

void put_copy_data(SendBuffer& out, Bytes data) {
  const auto message = out.begin(BackendKind::copy_data);
  out.put_bytes(data);
  out.end(message);
}

namespace {

void put_report_field(SendBuffer& out, char field, std::string_view value) {
  out.put_char(field);
  // A NUL inside would shift all later fields, and messages may quote a client's text.
  out.put_string(value.substr(0, value.find('\0')));
}

void put_optional_field(SendBuffer& out, char field, std::string_view value) {
  if (!value.empty()) put_report_field(out, field, value);
}

}  // namespace

std::optional<sql::Diagnostic> untranslatable(const SendBuffer& out,
                                              const sql::Diagnostic& report) {
  const EncodingTable* const client = out.client_encoding();
  if (client == nullptr) return std::nullopt;
  std::string encoded;
  for (const std::string& text :
       {report.message, report.detail, report.hint, report.where, report.schema, report.table,
        report.column, report.datatype, report.constraint}) {
    if (const auto done = client->encode(text, encoded); !done) {
      sql::Diagnostic other;
      other.severity = report.severity;
      other.state = done.error().state();
      other.message = done.error().message();
      return other;
    }
  }
  return std::nullopt;
}

void put_report(SendBuffer& out, BackendKind kind, const sql::Diagnostic& report,
                const std::source_location& place) {
  const auto message = out.begin(kind);
  put_report_field(out, 'S', sql::severity_name(report.severity));
  put_report_field(out, 'V', sql::severity_name(report.severity));
  put_report_field(out, 'C', report.state.code());
  put_report_field(out, 'M', report.message);
  put_optional_field(out, 'D', report.detail);
  put_optional_field(out, 'H', report.hint);
  if (report.position > 0) put_report_field(out, 'P', fmt::format_int(report.position).c_str());
  put_optional_field(out, 'W', report.where);
  put_optional_field(out, 's', report.schema);
  put_optional_field(out, 't', report.table);
  put_optional_field(out, 'c', report.column);
  put_optional_field(out, 'd', report.datatype);
  put_optional_field(out, 'n', report.constraint);
  const std::string_view file = place.file_name();
  put_report_field(out, 'F', file.substr(file.rfind('/') + 1));
  put_report_field(out, 'L', fmt::format_int(place.line()).c_str());
  put_report_field(out, 'R', report.routine.empty() ? "report" : std::string_view{report.routine});
  out.put_char('\0');
  out.end(message);
}

}  // namespace swizzle::server
