#include "server/session/change_feed.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>

#include "server/protocol/backend_messages.h"
#include "server/protocol/sqlstates.h"

namespace swizzle::server {
namespace {

/// A feed that has sent all that there is looks again so much later at the soonest: what commits in
/// between goes together.
constexpr Duration kGathersFor = std::chrono::milliseconds{1};
/// How often an idle client hears how far the log is.
constexpr Duration kTellsEvery = std::chrono::seconds{1};
constexpr int kMessagesAtOnce = 256;
/// Between 1970, in which clocks count, and 2000, in which the protocol does.
constexpr std::int64_t kEpochMicros = 946'684'800'000'000;

std::int64_t protocol_now() {
  return Runtime::current().wall_clock_us() - kEpochMicros;
}

}  // namespace

void ChangeFeed::send(sql::ChangeStream& stream) {
  timeout_ = stream.timeout();
  heard_at_ = told_at_ = Runtime::current().now();
  told_ = stream.confirmed();
  SendBuffer& out = channel_.out();
  const auto mark = out.begin(BackendKind::copy_both_response);
  out.put_char(0);
  out.put_int16(0);
  out.end(mark);
  channel_.flush();
  bool is_finished = false;
  while (!is_over_ && !stop_) {
    while (!is_over_ && !stop_ && listen(stream, Runtime::current().now())) continue;
    if (is_over_ || stop_) break;
    if (channel_.is_broken()) {
      stop_ = Stop{Stop::Kind::peer_gone, std::nullopt};
      break;
    }
    if (send_some(stream)) continue;
    if (stream.is_over()) {
      finish_timeline(stream);
      is_finished = true;
      break;
    }
    channel_.flush();
    keep_alive(stream);
    stream.show(progress_);
    if (stop_) break;
    wait_for_more(stream);
  }
  if (stop_) return;
  if (!is_finished) out.put_empty(BackendKind::copy_done);
  put_command_complete(out, "COPY 0");
}

Result<> ChangeFeed::copy_server(FileSystem& files, const RecoveryObserver& observer) {
  if (!copy_server_)
    return fail(sqlstate::feature_not_supported, "there is no server to be copied");
  return copy_server_(files, observer);
}

void ChangeFeed::finish_timeline(sql::ChangeStream& stream) {
  channel_.out().put_empty(BackendKind::copy_done);
  channel_.flush();
  const Duration longest = timeout_ > Duration::zero() ? timeout_ : kTellsEvery * 60;
  const TimePoint deadline = Runtime::current().now() + longest;
  while (!is_over_ && !stop_ && Runtime::current().now() < deadline) listen(stream, deadline);
}

void ChangeFeed::wait_for_more(sql::ChangeStream& stream) {
  Runtime& runtime = Runtime::current();
  const TimePoint looked_at = runtime.now();
  Duration longest = kTellsEvery;
  if (timeout_ > Duration::zero()) longest = std::min(longest, timeout_ / 4);
  interrupts_.take_log();
  if (stream.awaits_more([this] { interrupts_.announce_log(); }))
    listen(stream, looked_at + longest, WakeOn::log);
  const TimePoint next_look = looked_at + kGathersFor;
  if (!stop_ && !is_over_ && runtime.now() < next_look) listen(stream, next_look);
}

bool ChangeFeed::listen(sql::ChangeStream& stream, TimePoint deadline, WakeOn wake_on) {
  auto frame = channel_.next_frame(deadline, wake_on);
  if (frame) {
    take(stream, *frame);
    return true;
  }
  switch (frame.error().kind) {
    case Stop::Kind::timed_out:
    case Stop::Kind::log:
      break;
    case Stop::Kind::cancel_requested:
      // The stream has heard of it as well, and throws when it is asked for more.
      interrupts_.forget_cancel();
      break;
    default:
      stop_ = std::move(frame.error());
  }
  return false;
}

void ChangeFeed::take(sql::ChangeStream& stream, const Frame& frame) {
  switch (frame.kind) {
    case FrontendKind::copy_data:
      return take_status(stream, frame.payload);
    case FrontendKind::copy_done:
      is_over_ = true;
      return;
    case FrontendKind::terminate:
      stop_ = Stop{Stop::Kind::peer_gone, std::nullopt};
      return;
    default:
      stop_ = Stop{
          Stop::Kind::protocol_violation,
          Error{state::protocol_violation, fmt::format("unexpected standby message type \"{}\"",
                                                       static_cast<char>(frame.kind))}};
  }
}

void ChangeFeed::take_status(sql::ChangeStream& stream, Bytes payload) {
  constexpr std::size_t kStatusBytes = 1 + 4 * 8 + 1;
  heard_at_ = Runtime::current().now();
  awaits_reply_ = false;
  const char kind = payload.empty() ? '\0' : static_cast<char>(payload[0]);
  // Feedback of a hot standby is not for us.
  if (kind == 'h') return;
  if (kind != 'r' || payload.size() < kStatusBytes) {
    stop_ =
        Stop{Stop::Kind::protocol_violation,
             Error{state::protocol_violation, fmt::format("unexpected message type \"{}\"", kind)}};
    return;
  }
  const auto lsn_at = [&](std::size_t at) {
    return Lsn{load_big_endian<std::uint64_t>(payload.data() + at)};
  };
  progress_.written = lsn_at(1);
  progress_.flushed = lsn_at(9);
  progress_.replayed = lsn_at(17);
  progress_.replied_at = static_cast<std::int64_t>(raw(lsn_at(25)));
  const bool wants_reply = payload[33] != std::byte{0};
  // A client cannot have flushed more than it was sent.
  stream.confirm(std::min(progress_.flushed, progress_.sent));
  stream.show(progress_);
  if (wants_reply) send_keepalive(stream.position(), false);
  if (wants_reply) channel_.flush();
}

bool ChangeFeed::send_some(sql::ChangeStream& stream) {
  SendBuffer& out = channel_.out();
  for (int i = 0; i < kMessagesAtOnce; ++i) {
    const auto message = stream.next();
    if (!message) {
      progress_.sent = std::max(progress_.sent, stream.position());
      return !stream.is_at_end();
    }
    const auto mark = out.begin(BackendKind::copy_data);
    out.put_char('w');
    // A plugin's message has a position; the log as it is has a length, too.
    const bool is_of_plugin = message->end == Lsn::none;
    const Lsn sent = is_of_plugin ? message->lsn : Lsn{raw(message->lsn) + message->bytes.size()};
    out.put_int64(static_cast<std::int64_t>(raw(message->lsn)));
    out.put_int64(static_cast<std::int64_t>(raw(is_of_plugin ? message->lsn : message->end)));
    out.put_int64(protocol_now());
    out.put_text(message->bytes);
    out.end(mark);
    progress_.sent = std::max(progress_.sent, sent);
    told_ = progress_.sent;
    channel_.flush_if_full();
  }
  stream.show(progress_);
  return true;
}

void ChangeFeed::send_keepalive(Lsn position, bool wants_reply) {
  SendBuffer& out = channel_.out();
  const auto mark = out.begin(BackendKind::copy_data);
  out.put_char('k');
  out.put_int64(static_cast<std::int64_t>(raw(position)));
  out.put_int64(protocol_now());
  out.put_char(wants_reply ? 1 : 0);
  out.end(mark);
  told_at_ = Runtime::current().now();
  told_ = std::max(told_, position);
}

void ChangeFeed::keep_alive(sql::ChangeStream& stream) {
  const TimePoint now = Runtime::current().now();
  if (timeout_ > Duration::zero() && now - heard_at_ > timeout_) {
    stop_ = Stop{Stop::Kind::peer_gone, std::nullopt};
    spdlog::info("terminating walsender process due to replication timeout");
    return;
  }
  const bool is_silent =
      timeout_ > Duration::zero() && !awaits_reply_ && now - heard_at_ > timeout_ / 2;
  // It can let go of what held nothing for it, so that the log need not be kept.
  const bool has_news = stream.position() > told_ && now - told_at_ >= kTellsEvery;
  if (!is_silent && !has_news) return;
  progress_.sent = std::max(progress_.sent, stream.position());
  awaits_reply_ = is_silent;
  send_keepalive(stream.position(), is_silent);
  channel_.flush();
}

}  // namespace swizzle::server
