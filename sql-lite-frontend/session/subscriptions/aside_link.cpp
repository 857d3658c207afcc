#include "sql-lite-frontend/session/subscriptions/aside_link.h"

#include <optional>
#include <utility>

#include "sql-lite-frontend/types/check_stack.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

/// Runs blocking work on a helper thread while the caller parks.
template <class Work>
auto aside(const Work& work) {
  // A link of links would call this again.
  check_stack();
  std::optional<decltype(work())> outcome;
  Runtime::current().run_aside([&] { outcome.emplace(work()); });
  return *std::move(outcome);
}

class AsideLink final : public PublisherLink {
 public:
  explicit AsideLink(std::unique_ptr<PublisherLink> link)
      : link_(std::move(link)), version_(link_->version()) {}

  Result<std::vector<Row>> ask(const std::string& statement) override {
    return aside([&] { return link_->ask(statement); });
  }
  Result<> start(const std::string& statement) override {
    return aside([&] { return link_->start(statement); });
  }
  Result<Received> receive(Duration longest) override {
    return aside([&] { return link_->receive(longest); });
  }
  Result<> send(Bytes message) override {
    return aside([&] { return link_->send(message); });
  }
  [[nodiscard]] int version() const override { return version_; }

 private:
  std::unique_ptr<PublisherLink> link_;
  int version_;
};

}  // namespace

Result<std::unique_ptr<PublisherLink>> try_connect_aside(PublisherDoor& door,
                                                         const PublisherTarget& target) {
  auto link = aside([&] { return door.connect(target); });
  if (!link) return link;
  return std::unique_ptr<PublisherLink>{std::make_unique<AsideLink>(*std::move(link))};
}

std::unique_ptr<PublisherLink> connect_aside(PublisherDoor& door, const PublisherTarget& target,
                                             const std::string& subscription) {
  auto link = try_connect_aside(door, target);
  if (link) return *std::move(link);
  const SqlState state =
      link.error().state() == SqlState{"2F003"} ? SqlState{"2F003"} : SqlState{"08006"};
  throw sql_error(state, "subscription \"{}\" could not connect to the publisher: {}", subscription,
                  link.error().message())
      .with_detail(link.error().detail())
      .with_hint(link.error().hint());
}

}  // namespace swizzle::sql
