import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.concurrent.ThreadLocalRandom;

/** The transactions. Each begins and commits by itself. */
final class Work {
  private final int warehouses;
  private final int remotePercent;

  Work(int warehouses, int remotePercent) {
    this.warehouses = warehouses;
    this.remotePercent = remotePercent;
  }

  /** Rows that must be there are not. */
  static final class Missing extends RuntimeException {
    Missing(String what) {
      super(what);
    }
  }

  static BigDecimal price(int item) {
    return BigDecimal.valueOf(100 + item % 900, 2);
  }

  int homeOf(int terminal) {
    return terminal % warehouses + 1;
  }

  /** Another warehouse, which lies on another shard wherever there is one. */
  int otherThan(int w) {
    return warehouses == 1 ? w : (w + ThreadLocalRandom.current().nextInt(1, warehouses) - 1) % warehouses + 1;
  }

  /** An order of some lines; as often as `remotePercent` says, one is supplied by another warehouse. */
  void newOrder(Connection c, int w) throws SQLException {
    ThreadLocalRandom random = ThreadLocalRandom.current();
    int district = random.nextInt(1, Schema.DISTRICTS + 1);
    int customer = random.nextInt(1, Schema.CUSTOMERS + 1);
    int lines = random.nextInt(3, 8);
    boolean remote = random.nextInt(100) < remotePercent;
    change(c, "UPDATE district SET next_o_id = next_o_id + 1 WHERE w_id = ? AND d_id = ?", w, district);
    int order = number(c, "SELECT next_o_id - 1 FROM district WHERE w_id = ? AND d_id = ?", w, district);
    change(c, "INSERT INTO orders (w_id, d_id, o_id, c_id, lines, entered) VALUES (?, ?, ?, ?, ?, now())",
        w, district, order, customer, lines);
    change(c, "UPDATE customer SET orders = orders + 1 WHERE w_id = ? AND c_id = ?", w, customer);
    int first = random.nextInt(1, Schema.ITEMS - 10 * lines);
    for (int i = 1; i <= lines; ++i) {
      // In one order everywhere, so that orders do not wait for one another in a circle.
      int item = first + random.nextInt(10) + 10 * (i - 1);
      int supply = remote && i == lines ? otherThan(w) : w;
      number(c, "SELECT i_id FROM item WHERE i_id = ?", item);
      change(c, "UPDATE stock SET quantity = CASE WHEN quantity > 10 THEN quantity - 5 ELSE quantity + 86 END,"
          + " ordered = ordered + 5 WHERE w_id = ? AND i_id = ?", supply, item);
      try (PreparedStatement line = c.prepareStatement(
               "INSERT INTO order_line (w_id, d_id, o_id, number, i_id, supply_w_id, quantity, amount)"
               + " VALUES (?, ?, ?, ?, ?, ?, 5, ?)")) {
        bind(line, w, district, order, i, item, supply);
        line.setBigDecimal(7, price(item));
        line.executeUpdate();
      }
    }
    c.commit();
  }

  /** Money from a customer of one warehouse to one of another. */
  void transfer(Connection c, int from, long number) throws SQLException {
    ThreadLocalRandom random = ThreadLocalRandom.current();
    int to = otherThan(from);
    int amount = random.nextInt(1, 20);
    move(c, from, random.nextInt(1, Schema.CUSTOMERS + 1), -amount, number);
    if (to != from) move(c, to, random.nextInt(1, Schema.CUSTOMERS + 1), amount, number);
    c.commit();
  }

  private static void move(Connection c, int w, int customer, int amount, long number) throws SQLException {
    if (change(c, "UPDATE customer SET balance = balance + " + amount + " WHERE w_id = ? AND c_id = ?", w, customer) != 1) {
      throw new Missing("customer " + customer + " of warehouse " + w + " is not there");
    }
    try (PreparedStatement row = c.prepareStatement("INSERT INTO journal (transfer, w_id, c_id, amount) VALUES (?, ?, ?, ?)")) {
      row.setLong(1, number);
      row.setInt(2, w);
      row.setInt(3, customer);
      row.setLong(4, amount);
      row.executeUpdate();
    }
  }

  private static void bind(PreparedStatement statement, int... values) throws SQLException {
    for (int i = 0; i < values.length; ++i) statement.setInt(i + 1, values[i]);
  }

  private static int change(Connection c, String sql, int... values) throws SQLException {
    try (PreparedStatement statement = c.prepareStatement(sql)) {
      bind(statement, values);
      return statement.executeUpdate();
    }
  }

  private static int number(Connection c, String sql, int... values) throws SQLException {
    try (PreparedStatement statement = c.prepareStatement(sql)) {
      bind(statement, values);
      try (ResultSet rows = statement.executeQuery()) {
        if (!rows.next()) throw new Missing("no row: " + sql);
        return rows.getInt(1);
      }
    }
  }
}
