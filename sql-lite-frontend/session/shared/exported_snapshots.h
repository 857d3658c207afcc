#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "storage/engine.h"

namespace swizzle::sql {

/// Snapshots that transactions have exported to others: SET TRANSACTION SNAPSHOT. Thread-safe; its
/// mutex is a leaf.
class ExportedSnapshots {
 public:
  struct Exported {
    std::uint32_t database = 0;
    ReadView view;
  };
  /// Exports the snapshot; returns the name by which others import it, until remove(). Its
  /// transaction holds the view until then.
  std::string add(const Exported& exported) {
    const std::lock_guard lock{mutex_};
    const std::uint64_t number = ++last_;
    const std::string name = name_of(number);
    exported_.emplace(name, exported);
    return name;
  }
  void remove(std::string_view name) noexcept {
    const std::lock_guard lock{mutex_};
    if (const auto found = exported_.find(name); found != exported_.end()) exported_.erase(found);
  }
  /// Calls `use` with the snapshot while it is held. False: there is none of that name.
  bool with(std::string_view name, const std::function<void(const Exported&)>& use) const {
    const std::lock_guard lock{mutex_};
    const auto found = exported_.find(name);
    if (found == exported_.end()) return false;
    use(found->second);
    return true;
  }

 private:
  static std::string name_of(std::uint64_t number);

  mutable std::mutex mutex_;
  std::map<std::string, Exported, std::less<>> exported_;
  std::uint64_t last_ = 0;
};

}  // namespace swizzle::sql
