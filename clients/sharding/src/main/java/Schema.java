import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;

/** The tables, made and filled through ShardingSphere. */
final class Schema {
  static final int DISTRICTS = 10;
  static final int CUSTOMERS = 100;
  static final int ITEMS = 1000;
  static final long BALANCE = 1000;

  private static final String[] TABLES = {
    "CREATE TABLE warehouse (w_id int PRIMARY KEY, name varchar(10) NOT NULL, ytd numeric(12,2) NOT NULL)",
    "CREATE TABLE district (w_id int, d_id int, next_o_id int NOT NULL, ytd numeric(12,2) NOT NULL, PRIMARY KEY (w_id, d_id))",
    "CREATE TABLE customer (w_id int, c_id int, balance bigint NOT NULL, orders int NOT NULL, PRIMARY KEY (w_id, c_id))",
    "CREATE TABLE item (i_id int PRIMARY KEY, name varchar(24) NOT NULL, price numeric(5,2) NOT NULL)",
    "CREATE TABLE stock (w_id int, i_id int, quantity int NOT NULL, ordered int NOT NULL, PRIMARY KEY (w_id, i_id))",
    "CREATE TABLE orders (w_id int, d_id int, o_id int, c_id int NOT NULL, lines int NOT NULL, entered timestamp NOT NULL,"
        + " PRIMARY KEY (w_id, d_id, o_id))",
    "CREATE TABLE order_line (w_id int, d_id int, o_id int, number int, i_id int NOT NULL, supply_w_id int NOT NULL,"
        + " quantity int NOT NULL, amount numeric(8,2) NOT NULL, PRIMARY KEY (w_id, d_id, o_id, number))",
    // Of a transfer each of its two shards keeps a row.
    "CREATE TABLE journal (transfer bigint, w_id int, c_id int NOT NULL, amount bigint NOT NULL, PRIMARY KEY (transfer, w_id))",
  };

  static void create(Cluster cluster) throws SQLException {
    try (Connection c = cluster.connect(); Statement statement = c.createStatement()) {
      for (String table : TABLES) statement.execute(table);
    }
  }

  static void load(Cluster cluster, int warehouses) throws SQLException {
    inTransaction(cluster, c -> fill(c, "INSERT INTO item (i_id, name, price) VALUES (?, ?, ?)", ITEMS,
        (row, i) -> { row.setInt(1, i); row.setString(2, "item " + i); row.setBigDecimal(3, Work.price(i)); }));
    for (int i = 1; i <= warehouses; ++i) {
      int w = i;
      inTransaction(cluster, c -> loadWarehouse(c, w));
    }
  }

  private interface Body {
    void run(Connection c) throws SQLException;
  }

  /** ShardingSphere begins an XA transaction where autocommit is switched off, and only there. */
  private static void inTransaction(Cluster cluster, Body body) throws SQLException {
    try (Connection c = cluster.connect()) {
      c.setAutoCommit(false);
      body.run(c);
      c.commit();
    }
  }

  private static void loadWarehouse(Connection c, int w) throws SQLException {
    fill(c, "INSERT INTO warehouse (w_id, name, ytd) VALUES (?, ?, 0)", 1,
        (row, i) -> { row.setInt(1, w); row.setString(2, "house " + w); });
    fill(c, "INSERT INTO district (w_id, d_id, next_o_id, ytd) VALUES (?, ?, 1, 0)", DISTRICTS,
        (row, i) -> { row.setInt(1, w); row.setInt(2, i); });
    fill(c, "INSERT INTO customer (w_id, c_id, balance, orders) VALUES (?, ?, ?, 0)", CUSTOMERS,
        (row, i) -> { row.setInt(1, w); row.setInt(2, i); row.setLong(3, BALANCE); });
    fill(c, "INSERT INTO stock (w_id, i_id, quantity, ordered) VALUES (?, ?, 100, 0)", ITEMS,
        (row, i) -> { row.setInt(1, w); row.setInt(2, i); });
  }

  private interface Row {
    void set(PreparedStatement row, int number) throws SQLException;
  }

  private static void fill(Connection c, String sql, int count, Row values) throws SQLException {
    try (PreparedStatement row = c.prepareStatement(sql)) {
      for (int i = 1; i <= count; ++i) {
        values.set(row, i);
        row.addBatch();
      }
      row.executeBatch();
    }
  }
}
