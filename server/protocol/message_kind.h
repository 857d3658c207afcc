#pragma once

#include <cstdint>

namespace swizzle::server {

/// First byte of a client's message after the start-up.
enum class FrontendKind : char {
  bind = 'B',
  close = 'C',
  copy_data = 'd',
  copy_done = 'c',
  copy_fail = 'f',
  describe = 'D',
  execute = 'E',
  flush = 'H',
  function_call = 'F',
  parse = 'P',
  password = 'p',  ///< also SASLInitialResponse and SASLResponse
  query = 'Q',
  sync = 'S',
  terminate = 'X',
};

/// First byte of a server's message.
enum class BackendKind : char {
  authentication = 'R',
  backend_key_data = 'K',
  bind_complete = '2',
  close_complete = '3',
  command_complete = 'C',
  copy_both_response = 'W',
  copy_data = 'd',
  copy_done = 'c',
  copy_in_response = 'G',
  copy_out_response = 'H',
  data_row = 'D',
  empty_query_response = 'I',
  error_response = 'E',
  function_call_response = 'V',
  negotiate_protocol_version = 'v',
  no_data = 'n',
  notice_response = 'N',
  notification_response = 'A',
  parameter_description = 't',
  parameter_status = 'S',
  parse_complete = '1',
  portal_suspended = 's',
  ready_for_query = 'Z',
  row_description = 'T',
};

/// Kind of an Authentication message.
enum class AuthenticationCode : std::int32_t {
  ok = 0,
  sasl = 10,
  sasl_continue = 11,
  sasl_final = 12,
};

/// Kind of object that a Describe or Close names.
enum class DescribeTarget : char { statement = 'S', portal = 'P' };

}  // namespace swizzle::server
