#pragma once

#include <compare>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "sql-lite-frontend/catalog/oid.h"

namespace swizzle::sql {

/// Subscription: publications of another server whose changes are applied to this database.
struct Subscription {
  Oid oid = kNoOid;
  std::string name;
  Oid owner = kNoOid;
  std::string conninfo;
  std::optional<std::string> slot;  ///< name of the publisher's slot; none: slot_name = NONE
  std::string synchronous_commit = "off";
  std::vector<std::string> publications;
  std::string origin = "any";
  bool enabled = false;
  bool disable_on_error = false;
  bool password_required = true;
  bool run_as_owner = false;
  bool binary = false;  ///< values come in their binary form
  /// Letters of pg_subscription.substream: large transactions come before they commit.
  enum class Streaming : char { off = 'f', on = 't', parallel = 'p' } streaming = Streaming::off;
  /// Letters of pg_subscription.subtwophasestate: transactions come when they are prepared.
  enum class TwoPhase : char {
    disabled = 'd',
    pending = 'p',  ///< until all first copies are complete
    enabled = 'e',
  } two_phase = TwoPhase::disabled;
  /// ALTER SUBSCRIPTION … SKIP: end of the transaction that is passed over; none: no transaction.
  Lsn skip = Lsn::none;

  friend bool operator==(const Subscription&, const Subscription&) = default;
};

/// Table of a subscription, and how far its first copy is.
struct SubscribedTable {
  /// Letters of pg_subscription_rel.srsubstate.
  enum class State : char {
    init = 'i',
    copying = 'd',
    finished = 'f',  ///< has its rows; a slot of its own keeps the changes since
    copied = 's',    ///< has all changes that committed before `lsn`
    ready = 'r',
  };
  Oid subscription = kNoOid;
  Oid table = kNoOid;
  State state = State::init;
  Lsn lsn = Lsn::none;
};

/// Follower of a publisher's changes: a subscription, or one of its tables until its first copy has
/// caught up with the others.
struct FollowerId {
  Oid subscription = kNoOid;
  Oid table = kNoOid;  ///< kNoOid: the subscription

  friend auto operator<=>(const FollowerId&, const FollowerId&) = default;
};

}  // namespace swizzle::sql
