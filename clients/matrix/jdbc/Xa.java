// The JDBC driver's XA: what a transaction manager does with its connections, also with those that
// it had before it, or one of them, went away.
import java.sql.*;
import java.util.Arrays;
import javax.sql.XAConnection;
import javax.transaction.xa.*;
import org.postgresql.xa.PGXADataSource;

public class Xa {
  interface Body {
    boolean run() throws Exception;
  }

  static int failures = 0;

  static void step(String name, Body body) {
    try {
      if (body.run()) {
        System.out.println("ok " + name);
        return;
      }
      System.out.println("FAIL " + name + ": wrong answer");
    } catch (XAException error) {
      System.out.println("FAIL " + name + ": XA error " + error.errorCode + " " + error.getCause());
    } catch (Exception error) {
      System.out.println("FAIL " + name + ": " + error.getMessage().replace('\n', ' '));
    }
    ++failures;
  }

  /// A branch of a global transaction.
  static final class Branch implements Xid {
    private final byte[] global;
    private final byte[] branch;

    Branch(String global, int branch) {
      this.global = global.getBytes();
      this.branch = new byte[] {(byte) branch, 0, (byte) 255};
    }
    public int getFormatId() {
      return 0x5357495a;
    }
    public byte[] getGlobalTransactionId() {
      return global;
    }
    public byte[] getBranchQualifier() {
      return branch;
    }
    boolean is(Xid other) {
      return other.getFormatId() == getFormatId()
          && Arrays.equals(other.getGlobalTransactionId(), global)
          && Arrays.equals(other.getBranchQualifier(), branch);
    }
  }

  static PGXADataSource source() {
    PGXADataSource source = new PGXADataSource();
    source.setServerNames(new String[] {System.getenv("PGHOST")});
    source.setPortNumbers(new int[] {Integer.parseInt(System.getenv("PGPORT"))});
    source.setDatabaseName(System.getenv("PGDATABASE"));
    source.setUser(System.getenv("PGUSER"));
    source.setPassword(System.getenv("PGPASSWORD"));
    return source;
  }

  static int balance(Connection c, String table) throws SQLException {
    ResultSet row = c.createStatement().executeQuery("SELECT balance FROM " + table);
    row.next();
    return row.getInt(1);
  }

  static int errorOf(Body body) throws Exception {
    try {
      body.run();
      return 0;
    } catch (XAException error) {
      return error.errorCode;
    }
  }

  static void move(XAConnection on, Xid xid, String table, int amount) throws Exception {
    XAResource resource = on.getXAResource();
    Connection c = on.getConnection();
    resource.start(xid, XAResource.TMNOFLAGS);
    try (PreparedStatement put =
             c.prepareStatement("UPDATE " + table + " SET balance = balance + ?")) {
      put.setInt(1, amount);
      put.executeUpdate();
    }
    resource.end(xid, XAResource.TMSUCCESS);
  }

  public static void main(String[] arguments) throws Exception {
    XAConnection plain = source().getXAConnection();
    Connection c = plain.getConnection();
    for (String table : new String[] {"m_xa_one", "m_xa_two"}) {
      c.createStatement().execute("CREATE TABLE " + table + " (balance int)");
      c.createStatement().execute("INSERT INTO " + table + " VALUES (100)");
    }
    XAConnection one = source().getXAConnection();
    XAConnection two = source().getXAConnection();

    step("two branches, prepared and committed", () -> {
      Branch first = new Branch("transfer 1", 1);
      Branch second = new Branch("transfer 1", 2);
      move(one, first, "m_xa_one", -10);
      move(two, second, "m_xa_two", 10);
      if (one.getXAResource().prepare(first) != XAResource.XA_OK) return false;
      if (two.getXAResource().prepare(second) != XAResource.XA_OK) return false;
      if (balance(c, "m_xa_one") != 100) return false;
      one.getXAResource().commit(first, false);
      two.getXAResource().commit(second, false);
      return balance(c, "m_xa_one") == 90 && balance(c, "m_xa_two") == 110;
    });
    step("two branches, prepared and rolled back", () -> {
      Branch first = new Branch("transfer 2", 1);
      Branch second = new Branch("transfer 2", 2);
      move(one, first, "m_xa_one", -10);
      move(two, second, "m_xa_two", 10);
      one.getXAResource().prepare(first);
      two.getXAResource().prepare(second);
      one.getXAResource().rollback(first);
      two.getXAResource().rollback(second);
      return balance(c, "m_xa_one") == 90 && balance(c, "m_xa_two") == 110;
    });
    step("a branch in one phase", () -> {
      Branch only = new Branch("transfer 3", 1);
      move(one, only, "m_xa_one", 5);
      one.getXAResource().commit(only, true);
      return balance(c, "m_xa_one") == 95;
    });
    step("a branch rolled back before it is prepared", () -> {
      Branch only = new Branch("transfer 4", 1);
      move(one, only, "m_xa_one", 5);
      one.getXAResource().rollback(only);
      return balance(c, "m_xa_one") == 95;
    });
    step("what a lost connection has prepared is found and committed by another", () -> {
      Branch lost = new Branch("transfer 5", 7);
      XAConnection dying = source().getXAConnection();
      move(dying, lost, "m_xa_one", 5);
      dying.getXAResource().prepare(lost);
      dying.close();
      Xid[] found = two.getXAResource().recover(XAResource.TMSTARTRSCAN | XAResource.TMENDRSCAN);
      if (found.length != 1 || !lost.is(found[0])) return false;
      two.getXAResource().commit(found[0], false);
      return balance(c, "m_xa_one") == 100
          && two.getXAResource().recover(XAResource.TMSTARTRSCAN | XAResource.TMENDRSCAN).length == 0;
    });
    step("nobody finishes what is not there", () -> {
      Branch unknown = new Branch("never", 1);
      return errorOf(() -> { one.getXAResource().commit(unknown, false); return true; }) == XAException.XAER_NOTA
          && errorOf(() -> { one.getXAResource().rollback(unknown); return true; }) == XAException.XAER_NOTA;
    });
    step("one identifier, one branch", () -> {
      Branch same = new Branch("transfer 6", 1);
      move(one, same, "m_xa_one", 5);
      one.getXAResource().prepare(same);
      move(two, same, "m_xa_two", 5);
      int error = errorOf(() -> two.getXAResource().prepare(same) == XAResource.XA_OK);
      one.getXAResource().rollback(same);
      return error != 0 && balance(c, "m_xa_two") == 110;
    });
    step("a branch that failed is rolled back", () -> {
      Branch broken = new Branch("transfer 7", 1);
      XAConnection third = source().getXAConnection();
      Connection on = third.getConnection();
      third.getXAResource().start(broken, XAResource.TMNOFLAGS);
      try {
        on.createStatement().execute("SELECT 1 / 0");
        return false;
      } catch (SQLException expected) {
        third.getXAResource().end(broken, XAResource.TMFAIL);
        third.getXAResource().rollback(broken);
      }
      third.close();
      return balance(c, "m_xa_one") == 100;
    });
    step("the same resource manager", () -> one.getXAResource().isSameRM(one.getXAResource()));
    for (String table : new String[] {"m_xa_one", "m_xa_two"}) {
      c.createStatement().execute("DROP TABLE " + table);
    }
    one.close();
    two.close();
    plain.close();
    System.exit(failures);
  }
}
