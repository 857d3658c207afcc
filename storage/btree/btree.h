#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/runtime/spin_wait.h"
#include "storage/btree/leaf_change.h"
#include "storage/btree/leaf_hint.h"
#include "storage/btree/leaf_stage.h"
#include "storage/btree/leaf_tidying.h"
#include "storage/btree/node.h"
#include "storage/btree/tree_log.h"
#include "storage/buffer/buffer_pool.h"
#include "storage/buffer/reads_ahead.h"
#include "storage/latch/guards.h"

namespace swizzle {

/// Counters for the events that the papers count. Structure changes are rare, so shared counters
/// do.
struct TreeCounters {
  std::atomic<std::uint64_t> splits{0};
  std::atomic<std::uint64_t> adoptions{0};
  std::atomic<std::uint64_t> adoptions_refused{0};
  std::atomic<std::uint64_t> root_growths{0};
  std::atomic<std::uint64_t> root_shrinks{0};
  std::atomic<std::uint64_t> merges{0};
  std::atomic<std::uint64_t> rebalances{0};
  std::atomic<std::uint64_t> contention_splits{0};
  std::atomic<std::uint64_t> ghosts_removed{0};
  /// Exclusive latches on nodes above the leaves that were free when requested.
  std::atomic<std::uint64_t> branch_latches{0};
  /// Such latches that were not free: only for forced adoptions.
  std::atomic<std::uint64_t> branch_waits{0};
};

/// A leaf as it was at one moment, for cursors.
struct LeafCopy {
  alignas(64) std::array<std::byte, kPageBytes> page;
  [[nodiscard]] const Node& node() const noexcept { return Node::of(page.data()); }
};

/// Nodes that clear() could not read, and gave up. Their own pages are free; the pages below and
/// after them stay in use, but belong to no tree.
struct GivenUp {
  std::uint64_t nodes = 0;
  std::string first;  ///< why
};

/// Asked now and then in long work, with no latch held: may let others run. False ends the work
/// with 57014. Empty: it goes on.
using GoesOn = std::function<bool()>;

/// Children of a branch that read_ahead_of() passed.
struct WantedAhead {
  std::uint8_t level = 0;  ///< the branch's; 0: the tree is one leaf
  std::uint32_t absent = 0;
  /// For each wanted child that is a branch itself, a key that it covers.
  std::vector<std::vector<std::byte>> branches;
  /// The key from which on the branch, or its foster child, has more of them.
  std::optional<std::vector<std::byte>> next;
};

/// Leaves that read_ahead() passed.
struct LeavesAhead {
  std::uint32_t leaves = 0;
  std::uint32_t absent = 0;
  /// Key to go on with: from which on, or below which, nothing was passed; none at the end.
  std::optional<std::vector<std::byte>> next;
};

/// A Foster B-tree over one of the pool modes: the same code for all, instantiated in
/// btree_<mode>.cpp. Thread-safe.
///
/// Latch order: a referrer before what it refers to, a foster parent before its foster child.
/// Descents hold nothing; writers hold the leaf; a split holds the node and its new sibling;
/// adoption and merging hold the parent too, and only try for the children (rule B5).
template <class Pool>
class BTree {
 public:
  /// Makes an empty tree; its root page is new.
  static Result<std::unique_ptr<BTree>> create(Pool& pool, TreeLog& log, GhostKeeper& ghosts,
                                               TreeId id, TransactionChain* creator);
  /// A tree that exists.
  BTree(Pool& pool, TreeLog& log, GhostKeeper& ghosts, TreeId id, PageId root);
  BTree(const BTree&) = delete;
  BTree& operator=(const BTree&) = delete;
  ~BTree();

  [[nodiscard]] TreeId id() const noexcept { return root_.tree; }
  [[nodiscard]] PageId root_page() const noexcept { return root_.page; }
  [[nodiscard]] RootHolder& root() noexcept { return root_; }
  [[nodiscard]] Pool& pool() noexcept { return pool_; }
  [[nodiscard]] const TreeCounters& counters() const noexcept { return counters_; }

  /// Calls `visit(const Node& leaf, Node::Position at)` on the leaf of `key`, again if it was
  /// disturbed: the result of the last call counts. `visit` copies out and acts on nothing.
  /// With a hint it begins there, and leaves the last leaf in it.
  template <class Visit>
  Result<> read(Bytes key, Visit&& visit, Interest interest = Interest::keep,
                LeafHint* hint = nullptr) {
    Descent descent(*this, key, 0);
    descent.interest = interest;
    descent.hint = hint;
    while (true) {
      RETURN_IF_ERROR(descent.run());
      const Node& leaf = descent.node();
      visit(leaf, leaf.lower_bound(key));
      if (descent.guard.valid()) [[likely]]
        break;
      descent.disturbed();
    }
    // A page read with Interest::once may be unswizzled, and no writer should begin there.
    if (hint != nullptr && interest == Interest::keep)
      hint->remember(id(), key, descent.frame(), descent.guard.version());
    if (descent.saw_foster) [[unlikely]] {
      descent.guard.release();
      tidy_after(descent, key);
    }
    return {};
  }

  /// The same for the leaf with the greatest keys below `bound`; `at` is one after the last of
  /// them.
  template <class Visit>
  Result<> read_below(const KeyBound& bound, Visit&& visit, Interest interest = Interest::keep) {
    Descent descent(*this, bound, 0);
    descent.interest = interest;
    while (true) {
      RETURN_IF_ERROR(descent.run());
      const Node& leaf = descent.node();
      visit(leaf, bound.is_infinite() ? Node::Position{leaf.count(), false}
                                      : leaf.lower_bound(bound.key));
      if (descent.guard.valid()) return {};
      descent.disturbed();
    }
  }

  /// Asks for what lookups of these keys will touch: the leaves of all of them, and then the
  /// records, so that the waits for memory overlap. Parks for nothing, and stops where a page is
  /// absent or being changed. Remembers in `leaves` where the first keys are of those that it has
  /// found, in their order; how many that are.
  std::size_t prefetch(std::span<const Bytes> keys, std::span<LeafHint> leaves) noexcept;

  /// Copies the leaf that has `key`, or, for scanning backward, the leaf with the greatest keys
  /// below `bound`.
  Result<> copy_leaf(Bytes key, LeafCopy& into);
  Result<> copy_leaf_below(const KeyBound& bound, LeafCopy& into);

  /// Starts reading the absent leaves among the `most` from that of `key` on, or, for scanning
  /// backward, among those with the greatest keys below `bound`. Waits for none of them; parks only
  /// for absent branches. May stop early, at the end of a branch.
  Result<LeavesAhead> read_ahead(Bytes key, std::uint32_t most, Interest interest);
  Result<LeavesAhead> read_ahead_below(const KeyBound& bound, std::uint32_t most,
                                       Interest interest);
  /// Starts to read the absent ones among those children of a branch of that level, of the root if
  /// the tree is not that high, that are `wanted` (in order of their numbers). Begins at the child
  /// that leads to `key`; some children at a time.
  Result<WantedAhead> read_ahead_of(Bytes key, std::uint8_t level, std::span<const PageId> wanted);

  /// Pre: key has 1 to kMaxKeyBytes bytes. The hint as in read().
  Result<> change(Bytes key, TransactionChain* transaction, LeafChange& change,
                  LeafHint* hint = nullptr);

  /// Removes those of the records that are in the leaf of the first key.
  Result<> remove(LeafRemovals& removals, TransactionChain* transaction, LeafHint* hint = nullptr);

  /// Removes ghosts from the leaf of `key` and merges it with a neighbour if little is left.
  Result<> tidy(Bytes key);
  /// The same for the background task, which merges fuller leaves, too. Looks at a copy of the leaf
  /// first and latches nothing where there is nothing to do. `copy` is scratch memory.
  Result<TidiedLeaf> tidy_leaf(Bytes key, TidyEffort effort, LeafCopy& copy);
  /// True if tidy_leaf() would have to read the leaf from the data file.
  Result<bool> is_leaf_absent(Bytes key);

  /// Marks the leaf of `key` as doubted, for a restart that finds it intact but different from the
  /// log: from now on each descent to it asks the store if it was given up. Returns its page.
  Result<PageId> doubt_leaf(Bytes key);

  /// Verifies the whole tree, level by level, beside concurrent changes: a child is compared with
  /// its parent's fences while both are stable, and a node that moves is visited at its new place.
  /// Each string is a violated rule or an unreadable page; the walk continues after it. Pre: the
  /// tree is not being loaded, since its right edge is open then.
  Result<std::vector<std::string>> verify();

  /// Returns every page of the tree, children before parents. Pre: the tree does not change
  /// meanwhile. XX002 for a damaged tree.
  Result<std::vector<PageId>> pages();

  /// Counts the pages that begin in [low, high); of foster leaves, those that their parents know.
  /// Others may change the tree meanwhile: then each level is right for some moment.
  Result<std::uint64_t> count_pages(Bytes low, const KeyBound& high);

  /// Returns the key from which on pages can be read again, by the branches above, where the leaf
  /// of `key`, or a page on the way to it, cannot be. None: from there to the end nothing can.
  Result<std::optional<std::vector<std::byte>>> behind_unreadable(Bytes key);

  /// True if the tree is one leaf without records, ghosts included.
  Result<bool> is_blank();
  /// Loading a blank tree: appends a new leaf at the right edge. The first has an empty low fence,
  /// each other one the high fence of the one before, and the last an infinite high fence; until
  /// then the tree has no right end. Pre: the tree is not used otherwise.
  Result<> append_leaf(const LeafContent& content);
  /// Frees every page but the root, which becomes an empty leaf. Goes on after an interruption by a
  /// crash, and with a tree whose loading was interrupted. A node that cannot be read is given up,
  /// unless it is the root. Pre: the tree is not used otherwise.
  Result<GivenUp> clear(const GoesOn& goes_on = {});
  /// Erases the records of [low, high) that are in the leaf of `low`, and merges the leaf with a
  /// neighbour that is as empty. Logs the slots alone, and cannot be undone. Pre: no transaction,
  /// and no snapshot, will read or change these records again.
  Result<DiscardedLeaf> discard(Bytes low, Bytes high);
  /// The tree that the root page says it belongs to: another one if that page was given away.
  Result<TreeId> owner_of_root();
  /// Gives up the root's frame without writing it. Pre: the tree is clear, and will not be used
  /// again.
  void abandon() noexcept {
    pool_.unregister_root(root_);
    pool_.drop_swizzled(&root_.reference);
    pool_.drop_unswizzled(std::array{root_.page});
  }

 private:
  using Hold = typename Pool::Hold;
  /// Descends to the root: no tree is this high.
  static constexpr std::uint8_t kRootLevel = UINT8_MAX;
  /// Foster hops in one descent from which on adoption is forced.
  static constexpr std::uint16_t kLongChain = 3;
  /// Under one latch on the parent.
  static constexpr std::size_t kAdoptedAtOnce = 4;
  /// Number of writers that had to restart at a busy leaf from which on it is split between them.
  static constexpr std::uint32_t kContended = 64;
  /// A node with less than this is merged with a neighbour.
  static constexpr std::size_t kUnderfullBytes = kPageBytes / 4;
  /// A leaf with less than this is offered to its neighbours by the background task.
  static constexpr std::size_t kSparseBytes = kPageBytes * 6 / 10;
  /// A merged leaf keeps room for inserts, or it would soon be split again.
  static constexpr std::size_t kRoomyMergeBytes = kPageBytes * 8 / 10;
  /// A merge logs its image. Behind a queue's consumers the next leaf is soon as empty.
  static constexpr std::size_t kCheapMergeBytes = kPageBytes * 4 / 10;

  /// Number of disturbances from which on a reader becomes patient.
  static constexpr std::uint32_t kPatience = 16;

  /// One descent to a level of the tree: to the node that covers a key.
  struct Descent {
    Descent(BTree& of, Bytes to, std::uint8_t at_level) noexcept
        : tree(of), key(to), level(at_level) {}
    /// The same to the greatest keys below a bound.
    Descent(BTree& of, const KeyBound& below, std::uint8_t at_level) noexcept
        : tree(of), key(below.key), level(at_level), bound(&below) {}

    /// Post: `hold` and `guard` are on the node. Parks for absent pages.
    Result<> run();
    /// Takes run()'s fast path, if no page on the way is absent or being changed. False: `hold` and
    /// `guard` are not set.
    bool try_fast_path() noexcept;
    /// Notes that validation failed. A descent that is disturbed repeatedly lets others run before
    /// the next try. Otherwise patient readers that lost the processor while holding the latch keep
    /// every writer out, and spinning keeps them from running again.
    void disturbed() noexcept {
      if (++disturbances > kPatience) [[unlikely]]
        let_others_run();
    }
    [[nodiscard]] Node& node() const noexcept { return Node::of(hold.frame()->page()); }
    [[nodiscard]] Frame& frame() const noexcept { return *hold.frame(); }
    /// The slot of a branch that leads towards the key, or the bound.
    [[nodiscard]] std::uint16_t child_of(const Node& node) const noexcept;

    BTree& tree;
    Bytes key;
    std::uint8_t level;
    const KeyBound* bound = nullptr;
    /// Interest in the node itself; those above it are kept anyway.
    Interest interest = Interest::keep;
    /// Leaf to try before going down, or null.
    const LeafHint* hint = nullptr;
    /// Treatment of pages that contradict their parents: `anything` accepts them, for callers that
    /// examine the actual content. With `proof` every page on the way is compared, even if it was
    /// compared before.
    enum class Expects : std::uint8_t { what_parents_say, anything, proof } expects{};
    Hold hold;
    ReadGuard guard;
    /// A foster child was passed on the way, at foster_level.
    bool saw_foster = false;
    std::uint8_t foster_level = 0;
    std::uint16_t foster_hops = 0;
    std::uint32_t disturbances = 0;

   private:
    enum class Step : std::uint8_t { reached, restart, unresolved, broken_promise, given_up };
    enum class Promise : std::uint8_t { kept, broken, disturbed, given_up };
    bool try_hint() noexcept;
    Step descend_once() noexcept;
    [[nodiscard]] bool belongs_to_foster(const Node& node) const noexcept;
    [[nodiscard]] bool is_as_promised(const Node& child) const noexcept;
    [[nodiscard]] bool must_compare(const Frame& child) const noexcept {
      return expects == Expects::proof ||
             (!child.is_compared() && expects == Expects::what_parents_say);
    }
    Promise compare_with_promise(Frame& child, ReadGuard& child_guard) noexcept;
    [[nodiscard]] Error broken_promise() const;
    /// Rebuilds the page that contradicts its parent from the log. Returns false if the result is
    /// not newer, or this was tried before.
    [[nodiscard]] bool renew_broken();
    /// Followed reference of the parent: the slot of a branch, or one of these.
    static constexpr std::uint32_t kRootReference = UINT32_MAX;
    static constexpr std::uint32_t kFosterReference = UINT32_MAX - 1;
    std::uint32_t reference_ = kRootReference;
    // The page that is not to be used, at which descend_once() stopped.
    PageId broken_ = PageId::none;
    Frame* broken_frame_ = nullptr;
    // The reference to the absent page at which descend_once() stopped, and its parent.
    Referrer* parent_ = nullptr;
    Hold parent_hold_;
    ReadGuard parent_guard_;
    PageRef* at_ = nullptr;
    PageRef ref_;
    Interest wanted_ = Interest::keep;
  };

  /// Resources of a change, obtained before it latches anything. Room in the log is reserved
  /// at once, for the change and for the structure change that it may turn out to need, since a
  /// holder of room may not reserve more.
  struct Preparation {
    LogSpace space;
    NewPage page;  ///< empty: there is none
  };
  Result<Preparation> prepare(std::size_t payload_bytes, std::size_t records,
                              wal::ReservePurpose purpose = wal::ReservePurpose::growth);
  /// Pre: `prepared` had no page; its room in the log is given back first.
  Result<> prepare_new_page(Preparation& prepared, std::size_t payload_bytes, std::size_t records,
                            PageId near, wal::ReservePurpose purpose = wal::ReservePurpose::growth);

  // btree_change.inl
  enum class Outcome : std::uint8_t { done, needs_node };
  Outcome change_latched(Frame& frame, Bytes key, TransactionChain* transaction, LeafChange& change,
                         LogSpace& space);
  void apply(Frame& frame, Bytes key, Node::Position at, TransactionChain* transaction,
             LeafChange& change, LeafChange::Action action, LogSpace& space) noexcept;
  void remove_latched(Frame& frame, LeafRemovals& removals, TransactionChain* transaction,
                      LogSpace& space) noexcept;
  std::uint32_t remove_ghosts(Frame& frame, LogSpace& space) noexcept;
  bool may_grow(Node& leaf, std::size_t growth, const TransactionChain* transaction) noexcept;
  static void note_length(Node& leaf, const TransactionChain* transaction, std::size_t before,
                          std::size_t after) noexcept;

  // btree_split.inl
  struct SplitPoint {
    std::uint16_t index;
    std::array<std::byte, Node::kMaxKeyBytes> separator;
    std::uint16_t separator_length;
    bool behind_run;
    [[nodiscard]] Bytes key() const noexcept { return {separator.data(), separator_length}; }
  };
  enum class SplitReason : std::uint8_t { full, contended };
  SplitPoint choose_split(const Frame& frame, Bytes incoming, SplitReason reason) const noexcept;
  SplitPoint cut_near(const Node& node, std::size_t wanted, std::size_t tolerance) const noexcept;
  SplitPoint cut_between(const Node& node, Bytes before, std::uint16_t index) const noexcept;
  SplitPoint cut_behind_run(const Node& leaf, std::uint16_t index, Bytes incoming) const noexcept;
  SplitPoint cut_for_owed(const Node& leaf) const noexcept;
  void split(Frame& frame, Preparation& prepared, Bytes incoming,
             SplitReason reason = SplitReason::full) noexcept;
  static bool is_contended(const Frame& frame) noexcept;
  Result<> split_contended(Bytes key);
  void grow_root(Frame& root_frame, Preparation& prepared) noexcept;

  // btree_adopt.inl
  /// A descent passed a foster child: gives it to its parent, if that is free right now.
  void tidy_after(const Descent& descent, Bytes key) noexcept;
  enum class Insistence : std::uint8_t { if_nobody_is_in_the_way, until_adopted };
  Result<> adopt(Bytes key, std::uint8_t child_level, Insistence insistence);
  enum class Adoption : std::uint8_t { done, not_now, child_busy, parent_full };
  Adoption adopt_latched(Frame& parent, Bytes key, LogSpace& space) noexcept;
  Adoption adopt_from(Frame& parent, std::uint16_t index, LogSpace& space) noexcept;

  // btree_merge.inl
  Result<> merge_underfull(Bytes key, std::uint8_t child_level);
  void merge_latched(Frame& parent, Bytes key, LogSpace& space) noexcept;
  enum class TooMuchForOne : std::uint8_t { rebalance, leave };
  /// Returns true if the two are one now.
  bool merge_children(Frame& parent, std::uint16_t left_index, TooMuchForOne otherwise,
                      LogSpace& space) noexcept;
  struct Neighbours;
  void deadopt(Neighbours& pair, LogSpace& space) noexcept;
  void merge_pair(Neighbours& pair, LogSpace& space) noexcept;
  void rebalance_pair(Neighbours& pair, LogSpace& space) noexcept;
  void readopt(Neighbours& pair, Bytes separator, LogSpace& space) noexcept;
  Result<bool> lower_root();
  bool take_in_only_child(Frame& root_frame, LogSpace& space) noexcept;

  // btree_tidy.inl
  /// What of a leaf's ghosts can go.
  struct GhostShare {
    std::uint16_t removable = 0;
    std::uint16_t needed = 0;
    std::size_t removable_bytes = 0;
  };
  GhostShare removable_ghosts(const Node& leaf) noexcept;
  static bool is_worth_removing(const GhostShare& share, const Node& leaf,
                                TidyEffort effort) noexcept;
  enum class Neighbour : std::uint8_t { left, right };
  enum class Merged : std::uint8_t { no, done, later };
  std::optional<std::size_t> used_bytes_of(const ReadGuard& parent, PageRef ref);
  Result<Merged> merge_sparse(Bytes key, TidyEffort effort);
  Result<bool> merge_with(Bytes key, Neighbour with);

  // btree_load.inl
  Result<> fill_root(const LeafContent& content);
  void root_from_leaf(Frame& frame, Preparation& prepared, const LeafContent& content) noexcept;
  void append_child(Frame& parent_frame, Preparation& prepared,
                    const LeafContent& content) noexcept;
  Result<> split_last_parent(Bytes key);

  // btree_clear.inl
  class Clearing;
  Result<> free_children(Bytes low, std::uint8_t level, payload::AfterFreeing after,
                         std::span<const PageId> pages);

  /// Copies a node; the references of the copy are page ids. Pre: the tree does not change.
  Result<> copy_node(Bytes key, std::uint8_t level, LeafCopy& into,
                     Interest interest = Interest::keep);
  Lsn log_change(LogSpace& space, RecordKind kind, Frame& page, Frame* page2,
                 std::span<const Bytes> payload) noexcept;
  static void stamp(Frame& frame, Lsn lsn) noexcept;
  // btree_read_ahead.inl
  struct ClaimedPages {
    std::array<PageId, ReadsAhead::kMost> pages;
    std::uint32_t count = 0;
  };
  Result<LeavesAhead> read_ahead(Descent& branch, std::uint32_t most, Interest interest);
  void claim_absent(const ReadGuard& branch, const PageRef* at, ClaimedPages& claimed);
  class Inspection;

  Pool& pool_;
  TreeLog& log_;
  GhostKeeper& ghosts_;
  RootHolder root_;
  TreeCounters counters_;
};

}  // namespace swizzle
