#pragma once

#include "storage/buffer/frame.h"

namespace swizzle {

/// The only writer of a frame's state: the page's state and number, its parent, and its place in
/// the clock hand's queue. Each change has its preconditions.
///
///   free ── assign ─▶ free, numbered ── become_resident ─▶ unswizzled ◀──────────┐
///    ▲                    │    └──────── become_child ────────│────▶ swizzled    │
///    │                    │                                   ├─ swizzle ─▶ │    │
///    ├──── unassign ──────┘                                   │             ├─ unswizzle
///    ├──── begin_eviction, end_eviction ──────────────────────┤             │
///    └──── release ───────────────────────────────────────────┴─────────────┘
///
/// "Private" below: in no queue and no table, and no reference leads to the frame.
class PageState {
 public:
  /// Pre: free and private: the frame is reachable only through the caller.
  static void assign(Frame& frame, PageId page) noexcept;
  /// Removes the number of a page that was not read. Pre: assigned and private.
  static void unassign(Frame& frame) noexcept;
  /// Notes that the content matches its parent: it was made here, or a descent has compared it.
  /// Pre: held exclusively.
  static void compared(Frame& frame) noexcept;
  /// Takes that back, so that each descent checks again if the page may be used. Pre: held
  /// exclusively.
  static void doubted(Frame& frame) noexcept;
  /// Makes the page findable by its number. Pre: assigned; private or held exclusively. Publishes
  /// the page.
  static void become_resident(Frame& frame) noexcept;
  /// Makes the page findable by the address that `parent` is about to get. Pre: assigned; both are
  /// held exclusively.
  static void become_child(Frame& frame, Referrer& parent) noexcept;

  /// Pre: unswizzled and just taken out of the page table, so that no evictor can have it;
  /// `parent`, which has the frame's address, is held exclusively and may hold addresses.
  static void swizzle(Frame& frame, Referrer& parent) noexcept;
  /// Pre: swizzled and held exclusively, as is its parent, which still has the address.
  static void unswizzle(Frame& frame) noexcept;
  /// The address of `frame` goes into another referrer. Pre: swizzled; the referrer is held
  /// exclusively, as is the one that it came from.
  static void move(Frame& frame, Referrer& to) noexcept;

  /// Begins the eviction: the frame has no page number from here on. Returns the number. Pre:
  /// unswizzled, held exclusively, just taken out of the page table.
  static PageId begin_eviction(Frame& frame) noexcept;
  /// Cancels the eviction of a pinned page.
  static void cancel_eviction(Frame& frame, PageId page) noexcept;
  static void end_eviction(Frame& frame) noexcept;
  /// Frees the frame of a page that does not exist any more. Pre: resident, held exclusively; no
  /// reference leads to it.
  static void release(Frame& frame) noexcept;

  /// Adds the frame to the clock hand's queue; returns false if it is there. Pre: private or held
  /// exclusively.
  static bool enter_queue(Frame& frame) noexcept;
  /// Notes that the hand has taken it out. Pre: held exclusively, so that a concurrent free of the
  /// page has finished or comes after this. (A free leaves a queued frame to the hand.)
  static void leave_queue(Frame& frame) noexcept;
};

}  // namespace swizzle
