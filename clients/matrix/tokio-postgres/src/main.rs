//! tokio-postgres: named statements, all binary, pipelining, COPY, every type's bytes.
use bytes::Bytes;
use futures_util::{future::join_all, pin_mut, SinkExt};
use std::env::var;
use tokio_postgres::{error::SqlState, Error, NoTls};

mod types;

struct Report(i32);

impl Report {
    fn step(&mut self, name: &str, result: Result<bool, Error>) {
        match result {
            Ok(true) => println!("ok {name}"),
            Ok(false) => println!("FAIL {name}: wrong answer"),
            Err(ref error) => println!("FAIL {name}: {error} {:?}", error.as_db_error().map(|e| e.message())),
        }
        if !matches!(result, Ok(true)) {
            self.0 += 1;
        }
    }
}

#[tokio::main]
async fn main() {
    let config = format!(
        "host={} port={} user={} password={} dbname={}",
        var("PGHOST").unwrap(),
        var("PGPORT").unwrap(),
        var("PGUSER").unwrap(),
        var("PGPASSWORD").unwrap_or_default(),
        var("PGDATABASE").unwrap()
    );
    let (mut client, connection) = tokio_postgres::connect(&config, NoTls).await.unwrap();
    tokio::spawn(connection);
    let mut report = Report(0);

    let create = client.batch_execute("CREATE TEMP TABLE m (k int PRIMARY KEY, t text, b bytea)").await;
    report.step("create", create.map(|_| true));

    let inserted = client.execute("INSERT INTO m VALUES ($1, $2, $3)", &[&1i32, &"text €", &&b"\0\xff"[..]]).await;
    report.step("insert", inserted.map(|n| n == 1));
    let row = client.query_one("SELECT t, b FROM m WHERE k = $1", &[&1i32]).await;
    report.step("select", row.map(|r| r.get::<_, &str>(0) == "text €" && r.get::<_, &[u8]>(1) == b"\0\xff"));

    let null = client.query_one("SELECT NULL::int8", &[]).await;
    report.step("null", null.map(|r| r.get::<_, Option<i64>>(0).is_none()));

    let unique = client.execute("INSERT INTO m (k) VALUES ($1)", &[&1i32]).await;
    report.step("unique violation", Ok(unique.is_err_and(|e| e.code() == Some(&SqlState::UNIQUE_VIOLATION))));

    let rolled_back = async {
        let transaction = client.transaction().await?;
        transaction.execute("DELETE FROM m", &[]).await?;
        transaction.rollback().await?;
        Ok(client.query_one("SELECT count(*) FROM m", &[]).await?.get::<_, i64>(0) == 1)
    };
    report.step("rollback", rolled_back.await);

    let statement = client.prepare("SELECT $1::int4 + 1").await.unwrap();
    let numbers: Vec<i32> = (0..50).collect();
    let answers = join_all(numbers.iter().map(|n| {
        let (client, statement) = (&client, &statement);
        async move { client.query_one(statement, &[n]).await }
    }))
    .await;
    let fine = answers.into_iter().enumerate().all(|(i, row)| row.is_ok_and(|r| r.get::<_, i32>(0) == i as i32 + 1));
    report.step("pipelined", Ok(fine));

    let copied = async {
        let sink = client.copy_in("COPY m (k, t) FROM STDIN").await?;
        pin_mut!(sink);
        for i in 100..600 {
            sink.send(Bytes::from(format!("{i}\trow {i}\n"))).await?;
        }
        Ok(sink.finish().await? == 500)
    };
    report.step("copy", copied.await);

    let portal = async {
        let transaction = client.transaction().await?;
        let portal = transaction.bind("SELECT k FROM m ORDER BY k", &[]).await?;
        let first = transaction.query_portal(&portal, 10).await?;
        let rest = transaction.query_portal(&portal, 0).await?;
        transaction.commit().await?;
        Ok(first.len() == 10 && rest.len() == 491)
    };
    report.step("portal", portal.await);

    let array = client.query_one("SELECT $1::int4[]", &[&vec![1i32, 2, 3]]).await;
    report.step("arrays", array.map(|r| r.get::<_, Vec<i32>>(0) == [1, 2, 3]));

    let made = client.batch_execute(types::DEFINITIONS).await;
    report.step("types of ours", made.map(|_| true));
    report.step("bytes of every type", types::bytes_and_back(&client).await);
    report.step("kinds of types", types::kinds(&client).await);
    let dropped = client.batch_execute(types::DROPS).await;
    report.step("types dropped", dropped.map(|_| true));
    std::process::exit(report.0);
}
