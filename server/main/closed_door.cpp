#include "server/main/closed_door.h"

#include <utility>

#include "server/protocol/backend_messages.h"
#include "server/protocol/sqlstates.h"
#include "server/session/reports.h"
#include "server/session/startup_exchange.h"

namespace swizzle::server {

namespace {

Error why_closed(ClosedDoor::Why why) {
  switch (why) {
    case ClosedDoor::Why::starts:
      break;
    case ClosedDoor::Why::prepares_restore:
      return Error{state::cannot_connect_now, "the database system is starting up"}.with_detail(
          "A restore on demand is being prepared: its log is read.");
    case ClosedDoor::Why::is_standby:
      return Error{state::cannot_connect_now, "the database system is not accepting connections"}
          .with_detail("Hot standby mode is disabled.");
    case ClosedDoor::Why::is_no_reader_yet:
      return Error{state::cannot_connect_now,
                   "the database system is not yet accepting connections"}
          .with_detail("Consistent recovery state has not been yet reached.");
  }
  return {state::cannot_connect_now, "the database system is starting up"};
}

}  // namespace

ClosedDoor::ClosedDoor(std::vector<ListeningSocket> sockets,
                       std::shared_ptr<const DoorPolicy> policy, const ConnectionLimits& limits)
    : policy_(std::move(policy)),
      registry_(limits),
      runtime_(std::make_unique<FiberRuntime>(FiberRuntime::Options{.reactors = 1})) {
  acceptor_ = std::make_unique<Acceptor>(
      events_, *runtime_, nullptr,
      [this](Stream& stream, const Peer& peer, SocketWaiter& waiter, BufferPool& buffers) {
        answer(stream, peer, waiter, buffers);
      },
      std::move(sockets));
  letting_in_ = std::thread{[this] { events_.run(); }};
}

ClosedDoor::~ClosedDoor() {
  if (!letting_in_.joinable()) return;
  stop_accepting();
  acceptor_->stop();
}

std::vector<ListeningSocket> ClosedDoor::open() {
  stop_accepting();
  return acceptor_->release();
}

void ClosedDoor::stop_accepting() noexcept {
  events_.stop();
  letting_in_.join();
  // In this order: a client that enters the registry later sees the flag.
  is_opening_.store(true, std::memory_order_seq_cst);
  registry_.end_all(EndReason::administrator);
  // Waits for the answers.
  runtime_.reset();
}

void ClosedDoor::answer(Stream& stream, const Peer& peer, SocketWaiter& waiter,
                        BufferPool& buffers) {
  Interrupts interrupts{Runtime::current().parker()};
  Channel channel{stream, waiter, interrupts, buffers};
  if (auto place = registry_.enter(interrupts); place)
    answer(channel, peer);
  else
    put_report(channel.out(), BackendKind::error_response,
               report_of(sql::Severity::fatal, place.error()));
  channel.flush();
  stream.close();
}

/// The log hears nothing of it: clients that wait for the server ask again and again.
void ClosedDoor::answer(Channel& channel, const Peer& peer) {
  channel.set_send_timeout(policy_->authentication_timeout);
  const auto is_told = [&] { return is_opening_.load(std::memory_order_seq_cst); };
  Result<StartupExchange::Outcome> outcome;
  if (!is_told()) {
    const TimePoint deadline = Runtime::current().now() + policy_->authentication_timeout;
    outcome = StartupExchange{channel, peer, *policy_, deadline}.run();
  }
  if (!outcome)
    put_report(channel.out(), BackendKind::error_response,
               report_of(sql::Severity::fatal, outcome.error()));
  else if (is_told() || std::holds_alternative<StartupMessage>(*outcome))
    put_report(channel.out(), BackendKind::error_response,
               report_of(sql::Severity::fatal, why_closed(why_.load())));
}

}  // namespace swizzle::server
