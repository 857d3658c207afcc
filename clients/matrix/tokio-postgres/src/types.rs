//! Values of every kind of type: their bytes as they come, sent back, and what the catalog says of types of ours.
use bytes::{BufMut, BytesMut};
use std::error::Error as StdError;
use tokio_postgres::types::{FromSql, IsNull, Kind, ToSql, Type};
use tokio_postgres::{Client, Error};

pub const DEFINITIONS: &str = "CREATE TYPE mood_tokio AS ENUM ('sad', 'happy');
    CREATE DOMAIN price_tokio AS numeric(8,2) CHECK (value >= 0);
    CREATE TYPE pair_tokio AS (a int, b text);
    CREATE TYPE textrange_tokio AS RANGE (subtype = text)";
pub const DROPS: &str = "DROP TYPE textrange_tokio, pair_tokio, mood_tokio; DROP DOMAIN price_tokio";

const TEXTS: &[(&str, &str)] = &[
    ("mood_tokio", "happy"), ("mood_tokio[]", "{sad,NULL,happy}"), ("price_tokio", "12.50"), ("pair_tokio", "(1,\"a b\")"),
    ("pair_tokio[]", "{\"(1,a)\",\"(2,)\"}"), ("textrange_tokio", "[a,b)"), ("textmultirange_tokio", "{[a,b),[c,d)}"),
    ("int4range", "[1,5)"), ("int4range", "empty"), ("int8range", "(,7)"), ("numrange", "(1.5,2.25]"),
    ("daterange", "[2024-02-29,infinity)"), ("tsrange", "(,)"), ("tstzrange", "[\"2024-02-29 12:00:00+00\",)"),
    ("int4range[]", "{\"[1,2)\",empty}"), ("int4multirange", "{[1,3),[5,7)}"), ("nummultirange", "{}"),
    ("jsonb", "{\"a\": [1, 2.50, null], \"b\": \"€\"}"), ("jsonb[]", "{\"[1, 2]\",null}"), ("json", "{\"a\" : 1}"), ("jsonpath", "$.\"a\"[*]?(@ > 1)"),
    ("bit(4)", "1010"), ("varbit", "10101"), ("varbit", ""), ("macaddr", "08:00:2b:01:02:03"),
    ("macaddr8", "08:00:2b:01:02:03:04:05"), ("money", "-1234.50"), ("xml", "<a b=\"1\">€</a>"), ("point", "(1,-2.5)"),
    ("line", "{1,-1,0}"), ("lseg", "[(0,0),(1,1)]"), ("box", "(2,2),(0,0)"), ("path", "((0,0),(1,1),(2,0))"),
    ("path", "[(0,0),(1,1)]"), ("polygon", "((0,0),(1,1),(2,0))"), ("circle", "<(0.5,0),2>"), ("tsvector", "'a':1A,3 'b c':2"),
    ("tsquery", "'a' & !( 'b':*A <-> 'c' )"), ("inet", "10.1.2.3/16"), ("cidr", "fe80::/10"), ("interval", "1 mon -2 days"),
    ("date", "infinity"), ("time", "24:00:00"), ("timetz", "12:30:00.5+02"), ("timestamp", "0044-03-15 12:00:00 BC"),
    ("timestamptz", "-infinity"), ("uuid", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"), ("pg_lsn", "16/B374D848"),
    ("text[]", "{a,\"b,c\",NULL}"), ("int2[]", "[0:1]={1,2}"), ("int4[]", "{{1,2},{3,4}}"), ("numeric", "-0.00012300"),
    ("numeric", "NaN"), ("float4", "1e-05"), ("float8", "-Infinity"), ("bool", "t"), ("\"char\"", "x"), ("name", "n"),
    ("char(3)", "ab"), ("varchar(3)", "abc"), ("bytea", "\\x00ff"), ("oid", "4294967295"), ("regtype", "integer"),
    ("regclass", "pg_class"), ("int2vector", "1 2"), ("oidvector", "1 2"), ("xid8", "5"), ("pg_snapshot", "10:20:10,14"),
];

/// A value of any type as its bytes.
#[derive(Debug)]
struct Raw(Vec<u8>);

impl<'a> FromSql<'a> for Raw {
    fn from_sql(_: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn StdError + Sync + Send>> {
        Ok(Raw(raw.to_vec()))
    }
    fn accepts(_: &Type) -> bool {
        true
    }
}

impl ToSql for Raw {
    fn to_sql(&self, _: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn StdError + Sync + Send>> {
        out.put_slice(&self.0);
        Ok(IsNull::No)
    }
    fn accepts(_: &Type) -> bool {
        true
    }
    tokio_postgres::types::to_sql_checked!();
}

/// What the server sends as a value's bytes it takes as that value.
pub async fn bytes_and_back(client: &Client) -> Result<bool, Error> {
    let mut fine = true;
    for (kind, text) in TEXTS {
        let sent = client.query_one(&format!("SELECT $1::text::{kind}"), &[text]).await;
        let answer = match sent {
            Ok(row) => {
                let value: Raw = row.get(0);
                let back = format!("SELECT $1::{kind}::text, $2::text::{kind}::text");
                client.query_one(&back, &[&value, text]).await
            }
            Err(error) => Err(error),
        };
        let same = answer.as_ref().is_ok_and(|row| row.get::<_, &str>(0) == row.get::<_, &str>(1));
        if !same {
            println!("{kind}: {text}: {answer:?}");
            fine = false;
        }
    }
    Ok(fine)
}

/// The driver asks the catalog for each type that it does not know.
pub async fn kinds(client: &Client) -> Result<bool, Error> {
    let names = "SELECT NULL::mood_tokio, NULL::pair_tokio, NULL::textrange_tokio, NULL::mood_tokio[], NULL::pair_tokio[]";
    let statement = client.prepare(names).await?;
    let kind = |column: usize| statement.columns()[column].type_().kind();
    let domain = client.prepare("SELECT $1::price_tokio").await?;
    let labels = matches!(kind(0), Kind::Enum(labels) if labels[..] == ["sad", "happy"]);
    let fields = matches!(kind(1), Kind::Composite(fields) if fields.len() == 2 && fields[0].name() == "a"
        && *fields[0].type_() == Type::INT4 && *fields[1].type_() == Type::TEXT);
    let range = matches!(kind(2), Kind::Range(of) if *of == Type::TEXT);
    let arrays = matches!(kind(3), Kind::Array(of) if of.name() == "mood_tokio")
        && matches!(kind(4), Kind::Array(of) if matches!(of.kind(), Kind::Composite(_)));
    let domains = matches!(domain.params()[0].kind(), Kind::Domain(of) if *of == Type::NUMERIC);
    if !(labels && fields && range && arrays && domains) {
        println!("{:?} {:?}", statement.columns(), domain.params());
    }
    Ok(labels && fields && range && arrays && domains)
}
