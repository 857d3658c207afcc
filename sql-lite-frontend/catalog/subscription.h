#pragma once

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
    copied = 's',  ///< changes that committed before `lsn` are in the copy
    ready = 'r',
  };
  Oid subscription = kNoOid;
  Oid table = kNoOid;
  State state = State::init;
  Lsn lsn = Lsn::none;
};

}  // namespace swizzle::sql
