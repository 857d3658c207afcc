#include "server/observability/server_log.h"

#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <new>

namespace swizzle::server {
namespace {

LogMoment this_moment() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return {std::chrono::duration_cast<std::chrono::microseconds>(now).count(), ::getpid()};
}

void write_whole(int descriptor, std::string_view text) noexcept {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    // The log cannot be written, and so the error cannot be reported.
    if (written <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

std::string_view severity_of(spdlog::level::level_enum level) noexcept {
  switch (level) {
    case spdlog::level::warn:
      return "WARNING";
    case spdlog::level::err:
      return "ERROR";
    case spdlog::level::critical:
      return "FATAL";
    case spdlog::level::trace:
    case spdlog::level::debug:
      return "DEBUG";
    default:
      return "LOG";
  }
}

class LogSink final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  explicit LogSink(std::shared_ptr<ServerLog> log) : log_(std::move(log)) {}

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    LogEntry entry;
    entry.severity = severity_of(message.level);
    entry.message = {message.payload.data(), message.payload.size()};
    log_->write(entry, nullptr);
  }
  void flush_() override {}

 private:
  std::shared_ptr<ServerLog> log_;
};

}  // namespace

void ServerLog::set_format(LogFormat format, std::string prefix) {
  const std::scoped_lock lock{mutex_};
  format_ = format;
  prefix_ = std::move(prefix);
  // Release: publishes the settings read before.
  revision_.fetch_add(1, std::memory_order_release);
}

void ServerLog::write(const LogEntry& entry, LogSubject* subject) noexcept {
  if (subject != nullptr) ++subject->line;
  const LogMoment moment = this_moment();
  // A line is one write, so that lines of other processes on the same pipe do not mix with it.
  const std::scoped_lock lock{mutex_};
  write_whole(descriptor_, format_ == LogFormat::json
                               ? json_line(moment, subject, entry)
                               : plain_lines(prefix_, moment, subject, entry));
  try {
    troubles_.note(moment.now_us, entry, subject);
  } catch (const std::bad_alloc&) {
    // The line has been written; only the console will lack it.
  }
}

std::vector<Trouble> ServerLog::troubles_since(std::int64_t us) const {
  const std::scoped_lock lock{mutex_};
  return troubles_.since(us);
}

void capture_spdlog(std::shared_ptr<ServerLog> log) {
  spdlog::set_default_logger(
      std::make_shared<spdlog::logger>("", std::make_shared<LogSink>(std::move(log))));
}

}  // namespace swizzle::server
