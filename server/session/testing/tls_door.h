#pragma once

#include "server/session/testing/wire_client.h"

namespace swizzle::server::testing {

/// Rules that trust unix sockets and ask for a password over TCP, where TLS is offered with a
/// certificate of this call's own.
DoorPolicy tls_door();

}  // namespace swizzle::server::testing
