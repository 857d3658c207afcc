#include "base/simulation/volatile_names.h"

#include <utility>

namespace swizzle {
namespace {

bool is_root(const std::filesystem::path& path) {
  return path.empty() || path == "/" || path == ".";
}

}  // namespace

bool VolatileNames::exists(const Path& path) const {
  return is_root(path) || seen_.contains(path);
}

bool VolatileNames::is_directory(const Path& path) const {
  const auto found = seen_.find(path);
  return is_root(path) || (found != seen_.end() && found->second == nullptr);
}

VolatileNames::Node VolatileNames::file(const Path& path) const {
  const auto found = seen_.find(path);
  return found == seen_.end() ? nullptr : found->second;
}

std::vector<std::string> VolatileNames::list(const Path& directory) const {
  std::vector<std::string> names;
  for (const auto& [path, node] : seen_) {
    const bool inside =
        path.parent_path() == directory || (is_root(directory) && is_root(path.parent_path()));
    if (inside) names.push_back(path.filename().native());
  }
  return names;
}

std::vector<VolatileNames::Node> VolatileNames::files() const {
  std::vector<Node> files;
  for (const auto& [path, node] : seen_) {
    if (node != nullptr) files.push_back(node);
  }
  return files;
}

void VolatileNames::apply(Names& names, const Change& change) {
  switch (change.kind) {
    case Change::Kind::link:
      names[change.path] = change.node;
      break;
    case Change::Kind::unlink:
      names.erase(change.path);
      break;
    case Change::Kind::rename:
      names.erase(change.path);
      names[change.to] = change.node;
      break;
  }
}

void VolatileNames::record(Change change) {
  apply(seen_, change);
  changes_.push_back(std::move(change));
}

void VolatileNames::link(const Path& path, Node node) {
  record({Change::Kind::link, path, {}, std::move(node)});
}

void VolatileNames::unlink(const Path& path) {
  record({Change::Kind::unlink, path, {}, nullptr});
}

void VolatileNames::rename(const Path& from, const Path& to) {
  record({Change::Kind::rename, from, to, seen_.at(from)});
}

void VolatileNames::sync_directory(const Path& directory) {
  for (auto& change : changes_) {
    // A move between directories is one transaction of the journal: syncing either directory makes
    // it durable.
    if (change.path.parent_path() == directory || change.to.parent_path() == directory) {
      change.durable = true;
    }
  }
  apply_durable();
}

void VolatileNames::apply_durable() {
  while (!changes_.empty() && changes_.front().durable) {
    apply(durable_, changes_.front());
    changes_.pop_front();
  }
}

void VolatileNames::sync_all() {
  for (auto& change : changes_) change.durable = true;
  apply_durable();
  for (const auto& node : files()) node->sync(node->horizon());
}

void VolatileNames::crash(Random& random) {
  const CrashStyle style = draw_crash_style(random);
  // A journal keeps a prefix of the changes; POSIX does not even promise that. Simulate both.
  const bool keeps_order = random.one_in(2);
  bool kept = true;
  for (const auto& change : changes_) {
    if (style == CrashStyle::lose_all) {
      kept = false;
    } else if (style == CrashStyle::mixed) {
      kept = (kept || !keeps_order) && random.one_in(2);
    }
    if (kept || change.durable) apply(durable_, change);
  }
  changes_.clear();
  seen_ = durable_;
  for (const auto& node : files()) node->crash(random);
}

VolatileNames VolatileNames::copy() const {
  std::map<const VolatileBytes*, Node> copies;
  const auto copy_of = [&](const Node& node) -> Node {
    if (node == nullptr) return nullptr;
    Node& made = copies[node.get()];
    if (made == nullptr) made = std::make_shared<VolatileBytes>(*node);
    return made;
  };
  VolatileNames other;
  for (const auto& [path, node] : seen_) other.seen_[path] = copy_of(node);
  for (const auto& [path, node] : durable_) other.durable_[path] = copy_of(node);
  for (auto change : changes_) {
    change.node = copy_of(change.node);
    other.changes_.push_back(std::move(change));
  }
  return other;
}

}  // namespace swizzle
