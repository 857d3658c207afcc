#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/ids.h"

namespace swizzle::testing {

/// The reference: every version of every key with the LSN of its commit, and every read with its
/// snapshot. Judged at the end, since a reader may see a commit before the committer has reported
/// it.
class VersionModel {
 public:
  using Content = std::map<std::string, std::string>;
  /// Writes of a transaction so far; nothing is a deletion.
  using Changes = std::map<std::string, std::optional<std::string>>;

  void committed(Lsn at, const Changes& changes) {
    for (const auto& [key, value] : changes) versions_[key].push_back({at, value});
  }

  struct Read {
    std::string what;
    Lsn at = Lsn::none;  ///< commits below it must be seen, no others
    Changes own;
    std::string low;  ///< the keys [low, high) were read
    std::string high;
    Content seen;
  };
  void saw(Read read) { reads_.push_back(std::move(read)); }

  /// A transaction with a snapshot wrote these keys and committed: there may be no version of
  /// another transaction in between (first updater wins).
  struct Overwrite {
    Lsn snapshot;
    Lsn commit;
    std::string key;
  };
  void overwrote(Overwrite overwrite) { overwrites_.push_back(std::move(overwrite)); }

  /// Throws on the first error. Returns the number of correct reads.
  std::size_t judge() {
    for (auto& [key, versions] : versions_) std::ranges::sort(versions, {}, &Version::at);
    for (const Read& read : reads_) compare(read);
    for (const Overwrite& overwrite : overwrites_)
      for (const Version& version : versions_[overwrite.key])
        if (version.at >= overwrite.snapshot && version.at < overwrite.commit)
          throw std::logic_error{"an update of " + overwrite.key + " was lost"};
    return reads_.size();
  }

  /// Returns the content that a snapshot at `at` shows. Pre: judge() was called.
  [[nodiscard]] Content content(Lsn at) const {
    Content all;
    for (const auto& [key, versions] : versions_)
      if (const auto value = value_of(versions, at)) all.emplace(key, *value);
    return all;
  }

 private:
  struct Version {
    Lsn at;
    std::optional<std::string> value;
  };

  static std::optional<std::string> value_of(const std::vector<Version>& versions, Lsn at) {
    const auto after = std::ranges::lower_bound(versions, at, {}, &Version::at);
    return after == versions.begin() ? std::nullopt : std::prev(after)->value;
  }

  void compare(const Read& read) const {
    Content expected;
    const auto end = versions_.lower_bound(read.high);
    for (auto it = versions_.lower_bound(read.low); it != end; ++it)
      if (const auto value = value_of(it->second, read.at)) expected.emplace(it->first, *value);
    for (auto own = read.own.lower_bound(read.low); own != read.own.end() && own->first < read.high;
         ++own) {
      expected.erase(own->first);
      if (own->second) expected.emplace(own->first, *own->second);
    }
    if (read.seen == expected) return;
    std::string said = read.what + " at " + std::to_string(raw(read.at)) + " of [" + read.low +
                       ", " + read.high + "):";
    for (const auto& [key, value] : expected)
      if (const auto seen = read.seen.find(key); seen == read.seen.end())
        said += " misses " + key;
      else if (seen->second != value)
        said += " has a wrong version of " + key;
    for (const auto& [key, value] : read.seen)
      if (!expected.contains(key)) said += " has " + key + " too many";
    throw std::logic_error{said};
  }

  std::map<std::string, std::vector<Version>> versions_;
  std::vector<Read> reads_;
  std::vector<Overwrite> overwrites_;
};

}  // namespace swizzle::testing
