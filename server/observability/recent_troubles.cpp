#include "server/observability/recent_troubles.h"

namespace swizzle::server {
namespace {

/// Returns at most the first `most` bytes, cut at a character's boundary.
std::string beginning_of(std::string_view text, std::size_t most) {
  if (text.size() <= most) return std::string{text};
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0U) == 0x80U) --most;
  return std::string{text.substr(0, most)} + "…";
}

bool is_trouble(std::string_view severity) noexcept {
  return severity == "WARNING" || severity == "ERROR" || severity == "FATAL" || severity == "PANIC";
}

}  // namespace

void RecentTroubles::note(std::int64_t now_us, const LogEntry& entry, const LogSubject* subject) {
  if (!is_trouble(entry.severity)) return;
  Trouble trouble;
  trouble.at_us = now_us;
  trouble.severity = entry.severity;
  trouble.sqlstate = entry.sqlstate;
  trouble.message = beginning_of(entry.message, kLongestMessage);
  trouble.detail = beginning_of(entry.detail, kLongestMessage);
  trouble.statement = beginning_of(entry.statement, kLongestStatement);
  if (subject != nullptr) {
    trouble.user = subject->user;
    trouble.database = subject->database;
    trouble.application = beginning_of(subject->application, kLongestMessage);
    trouble.backend_pid = subject->backend_pid;
  }
  if (entries_.size() == kMost) entries_.pop_front();
  entries_.push_back(std::move(trouble));
}

std::vector<Trouble> RecentTroubles::since(std::int64_t us) const {
  std::vector<Trouble> found;
  for (auto entry = entries_.rbegin(); entry != entries_.rend() && entry->at_us >= us; ++entry) {
    found.push_back(*entry);
  }
  return found;
}

}  // namespace swizzle::server
