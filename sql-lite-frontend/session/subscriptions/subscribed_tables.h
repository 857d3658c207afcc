#pragma once

#include <string>
#include <vector>

#include "sql-lite-frontend/catalog/subscription.h"
#include "sql-lite-frontend/publisher.h"
#include "sql-lite-frontend/session/state/session_state.h"
#include "sql-lite-frontend/session/subscriptions/publisher_questions.h"

namespace swizzle::sql {

/// Returns the server's part of subscriptions. Throws 0A000 if there is no server.
PublisherDoor& require_door(Session::State& session);
CopySlots slots_of_copies(const Session::State& session, Oid subscription);
/// Connects as the subscription's worker does. Throws 08006.
std::unique_ptr<PublisherLink> link_to_publisher(Session::State& session,
                                                 const Subscription& subscription);
/// Returns the address of the publisher, and whether the owner must give a password for it.
PublisherTarget target_of(const StatementContext& session, const Subscription& subscription);

/// Sends a warning about publications that the publisher does not have.
void warn_of_missing(Session::State& session, PublisherLink& link,
                     const std::vector<std::string>& publications, ResultSink& sink);
/// With origin = none, sends a warning if the first copies may have what others have written.
void warn_of_others(Session::State& session, PublisherLink& link, const Subscription& subscription,
                    ResultSink& sink);
/// Returns the local tables of the subscription's publications. Throws 42P01 for one that is not
/// here, 42809 for one that cannot get changes.
std::vector<TablePtr> local_tables(Session::State& session, PublisherLink& link,
                                   const std::vector<std::string>& publications);
/// Adds the new tables of the publications to the subscription, and removes those that are not
/// published any more.
void refresh_tables(Session::State& session, PublisherLink& link, const Subscription& subscription,
                    SubscribedTable::State state_of_new);

}  // namespace swizzle::sql
