#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sql-lite-frontend/publisher.h"

namespace swizzle::sql {

/// Connects to a publisher for a session's fiber, which parks while a helper thread waits for the
/// network. Throws 08006 "subscription … could not connect to the publisher".
std::unique_ptr<PublisherLink> connect_aside(PublisherDoor& door, const PublisherTarget& target,
                                             const std::string& subscription);
/// The same, but returns the error.
Result<std::unique_ptr<PublisherLink>> try_connect_aside(PublisherDoor& door,
                                                         const PublisherTarget& target);

}  // namespace swizzle::sql
