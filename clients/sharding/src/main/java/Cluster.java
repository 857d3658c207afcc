import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import javax.sql.DataSource;
import org.apache.shardingsphere.driver.api.yaml.YamlShardingSphereDataSourceFactory;

/** The shards, one by one and as ShardingSphere shows them: one database, its rows by warehouse. */
final class Cluster {
  private static final String[] SHARDED = {"warehouse", "district", "customer", "stock", "orders", "order_line", "journal"};

  private final String[] urls;
  private final DataSource all;

  Cluster(String[] urls, int connections) throws Exception {
    this.urls = urls;
    all = YamlShardingSphereDataSourceFactory.createDataSource(
        configuration(connections).getBytes(StandardCharsets.UTF_8));
  }

  int size() {
    return urls.length;
  }

  Connection connect() throws SQLException {
    return all.getConnection();
  }

  /** Past ShardingSphere. */
  Connection shard(int number) throws SQLException {
    return DriverManager.getConnection(urls[number], "postgres", "");
  }

  private String configuration(int connections) {
    StringBuilder text = new StringBuilder("dataSources:\n");
    for (int i = 0; i < urls.length; ++i) {
      text.append("  ds_").append(i).append(":\n")
          .append("    dataSourceClassName: com.zaxxer.hikari.HikariDataSource\n")
          .append("    driverClassName: org.postgresql.Driver\n")
          .append("    jdbcUrl: '").append(urls[i]).append("'\n")
          .append("    username: postgres\n    password: ''\n")
          .append("    connectionTimeoutMilliseconds: 5000\n")
          .append("    maxPoolSize: ").append(connections).append("\n    minPoolSize: 1\n");
    }
    text.append("rules:\n- !SHARDING\n  tables:\n");
    for (String table : SHARDED) {
      text.append("    ").append(table).append(":\n      actualDataNodes: ds_${0..").append(urls.length - 1)
          .append("}.").append(table)
          .append("\n      databaseStrategy:\n        standard:\n          shardingColumn: w_id\n")
          .append("          shardingAlgorithmName: by_warehouse\n");
    }
    text.append("  bindingTables:\n  - warehouse,district,customer,stock,orders,order_line\n")
        .append("  broadcastTables:\n  - item\n")
        .append("  shardingAlgorithms:\n    by_warehouse:\n      type: INLINE\n      props:\n")
        .append("        algorithm-expression: ds_${w_id % ").append(urls.length).append("}\n")
        .append("- !TRANSACTION\n  defaultType: XA\n  providerType: Atomikos\n")
        .append("props:\n  sql-show: false\n");
    return text.toString();
  }
}
