#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/bytes.h"
#include "base/result.h"
#include "server/session/descriptor.h"
#include "server/session/tls_context.h"
#include "sql-lite-frontend/session.h"

// OpenSSL's type of a connection.
struct ssl_st;

namespace swizzle::server {

/// The result of one attempt to move bytes.
struct Transfer {
  enum class State : std::uint8_t { moved, wants_readable, wants_writable, closed };
  State state = State::closed;
  std::size_t bytes = 0;
};

/// True if the peer has closed, or its end of the connection is broken. Sent bytes may be unread.
[[nodiscard]] bool peer_has_gone(int socket) noexcept;

/// A connected, non-blocking socket, unencrypted or under TLS. Never waits.
class Stream {
 public:
  explicit Stream(Descriptor socket) noexcept : socket_(std::move(socket)) {}
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream();

  Transfer read(MutableBytes into) noexcept;
  /// Reads one byte and leaves it in the socket. Pre: not under TLS.
  Transfer peek(std::byte& into) noexcept;
  Transfer write(Bytes from) noexcept;

  /// Switches to TLS. Pre: not yet done.
  void begin_tls(const TlsContext& context);
  /// One step of the handshake; `moved` when it is done.
  Transfer continue_handshake() noexcept;
  [[nodiscard]] bool is_tls() const noexcept { return tls_ != nullptr; }
  /// True if the handshake agreed on a protocol (ALPN), which can only be PostgreSQL's.
  [[nodiscard]] bool has_protocol() const noexcept;
  /// Returns the encryption that the handshake agreed on; nothing in the clear.
  [[nodiscard]] std::optional<sql::Encryption> encryption() const;
  /// Closes the TLS session, too.
  void close() noexcept;

  [[nodiscard]] int descriptor() const noexcept { return socket_.get(); }

 private:
  Transfer tls_outcome(int result) noexcept;

  Descriptor socket_;
  ssl_st* tls_ = nullptr;
};

}  // namespace swizzle::server
