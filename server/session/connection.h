#pragma once

#include "server/protocol/buffer_pool.h"
#include "server/session/server_context.h"
#include "server/session/socket_waiter.h"
#include "server/session/stream.h"

namespace swizzle::server {

/// Serves one client from accept to close. Runs on the fiber, or thread, of the connection;
/// `stream` is closed on return.
void serve_connection(Stream& stream, const Peer& peer, ServerContext& context,
                      SocketWaiter& waiter, BufferPool& buffers);

/// Sends FATAL 53200 as far as the socket takes it now. Takes no memory.
void refuse_without_memory(Stream& stream) noexcept;

}  // namespace swizzle::server
