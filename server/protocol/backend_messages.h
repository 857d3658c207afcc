#pragma once

#include <cstdint>
#include <optional>
#include <source_location>
#include <string_view>

#include "server/protocol/message_kind.h"
#include "server/protocol/send_buffer.h"
#include "server/protocol/startup.h"
#include "sql-lite-frontend/diagnostic.h"
#include "sql-lite-frontend/result_sink.h"
#include "sql-lite-frontend/session.h"

namespace swizzle::server {

// One function per message that the server sends.

void put_authentication(SendBuffer& out, AuthenticationCode code, Bytes data = {});
void put_authentication_sasl(SendBuffer& out, std::span<const std::string_view> mechanisms);
void put_negotiate_protocol_version(SendBuffer& out, ProtocolVersion newest,
                                    std::span<const std::string_view> unknown_options);
void put_backend_key_data(SendBuffer& out, std::uint32_t backend_id, Bytes key);
void put_parameter_status(SendBuffer& out, std::string_view name, std::string_view value);
void put_notification(SendBuffer& out, std::int32_t sender, std::string_view channel,
                      std::string_view payload);
void put_ready_for_query(SendBuffer& out, sql::TransactionStatus status);
void put_row_description(SendBuffer& out, std::span<const sql::OutputColumn> columns);
void put_data_row(SendBuffer& out, const sql::OutputRow& row);
void put_parameter_description(SendBuffer& out, std::span<const std::uint32_t> types);
/// `tag` as PostgreSQL words it: "INSERT 0 1".
void put_command_complete(SendBuffer& out, std::string_view tag);
/// `kind` is copy_in_response or copy_out_response.
void put_copy_response(SendBuffer& out, BackendKind kind, const sql::CopyDescription& description);
void put_copy_data(SendBuffer& out, Bytes data);
/// Returns the report of 22P05 for the first text of `report` that the client's encoding lacks;
/// nothing if it has all of them.
std::optional<sql::Diagnostic> untranslatable(const SendBuffer& out, const sql::Diagnostic& report);
/// `kind` is error_response or notice_response. S, V, C and M are always sent; so are F, L and R,
/// our source position, as PostgreSQL does. Other fields are sent if they are set.
void put_report(SendBuffer& out, BackendKind kind, const sql::Diagnostic& report,
                const std::source_location& place = std::source_location::current());

}  // namespace swizzle::server
