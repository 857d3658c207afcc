#pragma once

#include "server/protocol/buffer_pool.h"
#include "server/session/server_context.h"
#include "server/session/socket_waiter.h"
#include "server/session/stream.h"

namespace swizzle::server {

/// Serves a client from accept to close. Runs on the connection's fiber or thread; closes `stream`.
void serve_connection(Stream& stream, const Peer& peer, ServerContext& context,
                      SocketWaiter& waiter, BufferPool& buffers);

/// Sends FATAL 53200 without waiting for the socket. Allocates nothing.
void refuse_without_memory(Stream& stream) noexcept;

}  // namespace swizzle::server
