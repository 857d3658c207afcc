#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/bytes.h"
#include "base/ids.h"
#include "base/result.h"
#include "base/runtime/runtime.h"
#include "server/standby/replication_link.h"

namespace swizzle::server {

/// A replication connection to another server of ours. Of one thread; blocks it.
class PrimaryLink {
 public:
  /// 08006 when the server cannot be reached, 22023 for a connection string that is none.
  static Result<std::unique_ptr<PrimaryLink>> connect(const std::string& conninfo,
                                                      const LinkInterrupt& interrupt);

  using Address = ReplicationLink::Address;
  using Arrival = ReplicationLink::Arrival;
  using Received = ReplicationLink::Received;
  [[nodiscard]] Address address() const { return link_->address(); }

  struct System {
    std::uint64_t id = 0;
    std::uint32_t timeline = 1;
    Lsn durable = Lsn::none;
  };
  Result<System> identify();
  /// The text of its history file.
  Result<std::string> history(std::uint32_t timeline);
  /// A physical slot that keeps the log from now on.
  Result<> create_slot(const std::string& name);
  /// Begins a stream: messages come by receive(). `slot` may be empty.
  Result<> start_log(const std::string& slot, Lsn from, std::uint32_t timeline);
  Result<> start_base_copy();
  /// Tells which pages need not be copied: their LSNs, from that number on.
  Result<> tell_page_lsns(std::uint64_t first_page, std::span<const Lsn> lsns);

  /// Waits for a message; zero: only takes what is there.
  Result<Received> receive(Duration longest) { return link_->receive(longest); }
  Result<> send(Bytes message) { return link_->send(message); }

 private:
  explicit PrimaryLink(std::unique_ptr<ReplicationLink> link) : link_(std::move(link)) {}

  std::unique_ptr<ReplicationLink> link_;
};

}  // namespace swizzle::server
