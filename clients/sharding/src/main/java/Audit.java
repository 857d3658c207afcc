import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** What the shards hold at the end, read from each of them. */
final class Audit {
  final List<String> problems = new ArrayList<>();
  private final Cluster cluster;

  Audit(Cluster cluster) {
    this.cluster = cluster;
  }

  private interface Visit {
    void row(ResultSet row) throws SQLException;
  }

  private void each(String sql, Visit visit) throws SQLException {
    for (int i = 0; i < cluster.size(); ++i) {
      try (Connection c = cluster.shard(i); Statement statement = c.createStatement();
           ResultSet rows = statement.executeQuery(sql)) {
        while (rows.next()) visit.row(rows);
      }
    }
  }

  /** How many transactions are in doubt; waits for the transaction manager to see to them. */
  int inDoubtAfter(long seconds) throws SQLException, InterruptedException {
    long end = System.nanoTime() + seconds * 1_000_000_000L;
    while (true) {
      List<String> left = new ArrayList<>();
      each("SELECT gid FROM pg_prepared_xacts", row -> left.add(row.getString(1)));
      if (left.isEmpty() || System.nanoTime() > end) {
        if (!left.isEmpty()) problems.add("in doubt: " + left.subList(0, Math.min(3, left.size())));
        return left.size();
      }
      Thread.sleep(200);
    }
  }

  void money(long expected) throws SQLException {
    long[] sum = {0};
    each("SELECT coalesce(sum(balance), 0) FROM customer", row -> sum[0] += row.getLong(1));
    if (sum[0] != expected) problems.add("money: " + sum[0] + ", not " + expected);
    each("SELECT c.w_id, c.c_id, c.balance, " + Schema.BALANCE + " + coalesce((SELECT sum(amount) FROM journal j WHERE j.w_id = c.w_id"
        + " AND j.c_id = c.c_id), 0) AS expected FROM customer c",
        row -> {
          if (row.getLong(3) != row.getLong(4)) {
            problems.add("customer " + row.getInt(1) + "/" + row.getInt(2) + " has " + row.getLong(3) + ", not " + row.getLong(4));
          }
        });
  }

  /** Each transfer is on both of its sides or on none, and what was acknowledged is there. */
  void transfers(List<Terminal> terminals) throws SQLException {
    Map<Long, Integer> sides = new HashMap<>();
    Map<Long, Long> sums = new HashMap<>();
    each("SELECT transfer, amount FROM journal", row -> {
      sides.merge(row.getLong(1), 1, Integer::sum);
      sums.merge(row.getLong(1), row.getLong(2), Long::sum);
    });
    Set<Long> known = new HashSet<>();
    for (Terminal terminal : terminals) {
      for (long id : terminal.acknowledged) {
        known.add(id);
        if (!sides.containsKey(id)) problems.add("acknowledged, not there: " + id);
      }
      known.addAll(terminal.unknown);
    }
    for (Map.Entry<Long, Integer> side : sides.entrySet()) {
      if (side.getValue() != 2 || sums.get(side.getKey()) != 0) problems.add("half of transfer " + side.getKey());
      if (!known.contains(side.getKey())) problems.add("never sent: " + side.getKey());
    }
  }

  void orders() throws SQLException {
    each("SELECT o.w_id, o.d_id, o.o_id FROM orders o WHERE o.lines <> (SELECT count(*) FROM order_line l WHERE l.w_id = o.w_id"
        + " AND l.d_id = o.d_id AND l.o_id = o.o_id)",
        row -> problems.add("lines of order " + row.getInt(1) + "/" + row.getInt(2) + "/" + row.getInt(3)));
    each("SELECT d.w_id, d.d_id FROM district d WHERE d.next_o_id - 1 <> (SELECT count(*) FROM orders o WHERE o.w_id = d.w_id"
        + " AND o.d_id = d.d_id)",
        row -> problems.add("orders of district " + row.getInt(1) + "/" + row.getInt(2)));
    // What was ordered of all warehouses is what lines of all shards say, wherever they lie.
    long[] ordered = {0, 0};
    each("SELECT coalesce(sum(ordered), 0) FROM stock", row -> ordered[0] += row.getLong(1));
    each("SELECT coalesce(sum(quantity), 0) FROM order_line", row -> ordered[1] += row.getLong(1));
    if (ordered[0] != ordered[1]) problems.add("stock says " + ordered[0] + ", order lines " + ordered[1]);
  }
}
