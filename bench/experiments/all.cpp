#include "bench/experiments/all.h"

#include <array>

namespace swizzle::bench {

std::span<const Experiment> experiments() noexcept {
  static constexpr std::array kAll{
      Experiment{"L0", "point lookups against LMDB and absl::btree_map", run_l0},
      Experiment{"I0", "random inserts against absl::btree_map behind a mutex", run_i0},
      Experiment{"G1", "lookups, working set from a small part of the pool to ten pools", run_g1},
      Experiment{"G2", "lookups, working set close around the pool's size", run_g2},
      Experiment{"G3", "random inserts into an index in memory, three pool modes", run_g3},
      Experiment{"G4", "lookups in a drifting working set", run_g4},
      Experiment{"E2", "cost of a page hit and of a page miss", run_e2},
      Experiment{"B1", "exclusive latches above the leaves, against a tree latch", run_b1},
      Experiment{"B2", "one thread's inserts over their number, against a tree latch", run_b2},
      Experiment{"B3", "inserts over the number of threads, against a tree latch", run_b3},
      Experiment{"L5", "Zipf lookups on five pools of data, by fibers, against fio", run_l5},
      Experiment{"L6", "share of the pool that waits unswizzled", run_l6},
      Experiment{"L7", "hit rates of replacement policies on a recorded trace", run_l7},
      Experiment{"L8", "two concurrent scans, hinted or not", run_l8},
      Experiment{"E3", "replacement policies over pool sizes, and a loop", run_e3},
      Experiment{"R1", "insertion into the log, three ways, over threads", run_r1},
      Experiment{"R2", "group commit over committers, against a bare O_DSYNC write", run_r2},
      Experiment{"R3", "throughput while checkpoints are taken", run_r3},
      Experiment{"R4", "restart after a gigabyte of log", run_r4},
  };
  return kAll;
}

}  // namespace swizzle::bench
