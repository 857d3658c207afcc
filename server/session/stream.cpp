#include "server/session/stream.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <climits>

#include "base/invariant.h"

namespace swizzle::server {
namespace {

int clamp_to_int(std::size_t size) noexcept {
  return static_cast<int>(std::min<std::size_t>(size, INT_MAX));
}

Transfer plain_outcome(ssize_t result, Transfer::State when_blocked) noexcept {
  if (result > 0) return {Transfer::State::moved, static_cast<std::size_t>(result)};
  if (result < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return {when_blocked, 0};
  return {Transfer::State::closed, 0};
}

}  // namespace

bool peer_has_gone(int socket) noexcept {
  pollfd entry{socket, POLLRDHUP, 0};
  return ::poll(&entry, 1, 0) == 1;
}

Stream::~Stream() {
  if (tls_ != nullptr) SSL_free(tls_);
}

Transfer Stream::read(MutableBytes into) noexcept {
  if (tls_ != nullptr) {
    ERR_clear_error();
    return tls_outcome(SSL_read(tls_, into.data(), clamp_to_int(into.size())));
  }
  ssize_t result = 0;
  do {
    result = ::recv(socket_.get(), into.data(), into.size(), 0);
  } while (result < 0 && errno == EINTR);
  return plain_outcome(result, Transfer::State::wants_readable);
}

Transfer Stream::peek(std::byte& into) noexcept {
  INVARIANT(tls_ == nullptr);
  ssize_t result = 0;
  do {
    result = ::recv(socket_.get(), &into, 1, MSG_PEEK);
  } while (result < 0 && errno == EINTR);
  return plain_outcome(result, Transfer::State::wants_readable);
}

Transfer Stream::write(Bytes from) noexcept {
  if (tls_ != nullptr) {
    ERR_clear_error();
    return tls_outcome(SSL_write(tls_, from.data(), clamp_to_int(from.size())));
  }
  ssize_t result = 0;
  do {
    result = ::send(socket_.get(), from.data(), from.size(), MSG_NOSIGNAL);
  } while (result < 0 && errno == EINTR);
  return plain_outcome(result, Transfer::State::wants_writable);
}

void Stream::begin_tls(const TlsContext& context) {
  INVARIANT(tls_ == nullptr);
  tls_ = SSL_new(context.native());
  INVARIANT(tls_ != nullptr);
  INVARIANT(SSL_set_fd(tls_, socket_.get()) == 1);
  SSL_set_accept_state(tls_);
  // The send buffer may move and grow between attempts; its content stays.
  SSL_set_mode(tls_, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                         SSL_MODE_RELEASE_BUFFERS);
}

Transfer Stream::continue_handshake() noexcept {
  ERR_clear_error();
  return tls_outcome(SSL_do_handshake(tls_));
}

bool Stream::has_protocol() const noexcept {
  const unsigned char* name = nullptr;
  unsigned int size = 0;
  if (tls_ != nullptr) SSL_get0_alpn_selected(tls_, &name, &size);
  return size > 0;
}

std::optional<sql::Encryption> Stream::encryption() const {
  if (tls_ == nullptr) return std::nullopt;
  return sql::Encryption{SSL_get_version(tls_), SSL_get_cipher_name(tls_),
                         SSL_get_cipher_bits(tls_, nullptr)};
}

Transfer Stream::tls_outcome(int result) noexcept {
  if (result > 0) return {Transfer::State::moved, static_cast<std::size_t>(result)};
  switch (SSL_get_error(tls_, result)) {
    case SSL_ERROR_WANT_READ:
      return {Transfer::State::wants_readable, 0};
    case SSL_ERROR_WANT_WRITE:
      return {Transfer::State::wants_writable, 0};
    default:
      return {Transfer::State::closed, 0};
  }
}

void Stream::close() noexcept {
  if (tls_ != nullptr) {
    ERR_clear_error();
    SSL_shutdown(tls_);
    ERR_clear_error();
  }
  ::shutdown(socket_.get(), SHUT_WR);
}

}  // namespace swizzle::server
