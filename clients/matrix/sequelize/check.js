// Sequelize: models, associations, sync with alter, upserts, introspection.
import { DataTypes, Op, Sequelize } from "sequelize";

let failures = 0;
async function step(name, body) {
  try {
    await body();
    console.log(`ok ${name}`);
  } catch (error) {
    console.log(`FAIL ${name}: ${error.name} ${error.message}`.replaceAll("\n", " "));
    ++failures;
  }
}
function expect(fine) {
  if (!fine) throw new Error("wrong answer");
}

const { PGHOST, PGPORT, PGUSER, PGPASSWORD, PGDATABASE } = process.env;
const db = new Sequelize(PGDATABASE, PGUSER, PGPASSWORD, { host: PGHOST, port: PGPORT, dialect: "postgres", logging: false });
const Person = db.define("SqPerson", {
  name: { type: DataTypes.STRING(50), allowNull: false, unique: true },
  age: DataTypes.INTEGER,
  balance: { type: DataTypes.DECIMAL(10, 2), defaultValue: 0 },
  tags: DataTypes.ARRAY(DataTypes.TEXT),
  data: DataTypes.JSONB,
  key: { type: DataTypes.UUID, defaultValue: DataTypes.UUIDV4 },
  born: DataTypes.DATEONLY,
  bytes: DataTypes.BLOB,
}, { indexes: [{ fields: ["age"] }, { fields: ["name", "age"], unique: true, where: { age: { [Op.gt]: 3 } } }], paranoid: true });
const Post = db.define("SqPost", { title: DataTypes.STRING, n: DataTypes.BIGINT }, { comment: "posts" });
const Tag = db.define("SqTag", { label: DataTypes.STRING });
Person.hasMany(Post, { onDelete: "CASCADE" });
Post.belongsTo(Person);
Post.belongsToMany(Tag, { through: "SqPostTags" });
Tag.belongsToMany(Post, { through: "SqPostTags" });

await step("sync", () => db.sync({ force: true }));
await step("sync with alter", () => db.sync({ alter: true }));
let ann;
await step("create with associations", async () => {
  ann = await Person.create({
    name: "ann", age: 30, balance: "12.50", tags: ["a", "b"], data: { x: 1, y: { z: [1] } }, born: "2000-01-02",
    bytes: Buffer.from([0, 255]), SqPosts: [{ title: "one", n: 5 }, { title: "two" }],
  }, { include: Post });
  await Person.bulkCreate([{ name: "bob", age: 20 }, { name: "cy", age: 25 }]);
  const tag = await Tag.create({ label: "x" });
  await (await ann.getSqPosts({ order: ["id"] }))[0].addSqTag(tag);
});
await step("JSON and arrays in conditions", async () => {
  const [row] = await Person.findAll({ where: { "data.x": 1, tags: { [Op.contains]: ["a"] } } });
  expect(row.name === "ann" && row.balance === "12.50" && row.bytes[1] === 255 && row.born === "2000-01-02");
});
await step("joins, groups and counts", async () => {
  const rows = await Person.findAll({
    attributes: ["name", [db.fn("COUNT", db.col("SqPosts.id")), "posts"]], include: [{ model: Post, attributes: [] }],
    group: ["SqPerson.id"], order: [["name", "ASC"]], raw: true,
  });
  expect(rows.map((row) => row.posts).join() === "2,0,0");
  const found = await Post.findAndCountAll({ include: [{ model: Person, where: { age: { [Op.between]: [1, 99] } } }, Tag], limit: 1, distinct: true, order: [["id", "ASC"]] });
  expect(found.count === 2 && found.rows[0].SqTags.length === 1);
});
await step("transactions and row locks", async () => {
  const work = await db.transaction({ isolationLevel: "SERIALIZABLE" });
  await ann.update({ age: 31 }, { transaction: work });
  expect((await Person.findOne({ where: { name: "ann" }, lock: work.LOCK.UPDATE, skipLocked: true, transaction: work })).age === 31);
  await work.rollback();
  expect((await ann.reload()).age === 30);
});
await step("upsert and increment", async () => {
  const [row] = await Person.upsert({ name: "bob", age: 77 }, { conflictFields: ["name"] });
  expect(row.age === 77);
  await Person.increment("age", { by: 2, where: { name: "bob" } });
  expect((await Person.findOne({ where: { name: "bob" } })).age === 79);
});
await step("errors", async () => {
  const twice = await Person.create({ name: "ann" }).catch((e) => e);
  expect(twice.name === "SequelizeUniqueConstraintError" && twice.errors[0].path === "name");
  const orphan = await Post.create({ SqPersonId: 999 }).catch((e) => e);
  expect(orphan.name === "SequelizeForeignKeyConstraintError" && orphan.table === "SqPosts");
});
await step("introspection and changes", async () => {
  const schema = db.getQueryInterface();
  const columns = await schema.describeTable("SqPeople");
  expect(columns.name.type === "CHARACTER VARYING(50)" && columns.id.primaryKey && columns.tags.type === "ARRAY");
  const indexes = (await schema.showIndex("SqPeople")).map((index) => index.name);
  expect(indexes.includes("sq_people_age") && indexes.includes("sq_people_name_age"));
  await schema.addColumn("SqPosts", "extra", { type: DataTypes.FLOAT, defaultValue: 1.5 });
  await schema.changeColumn("SqPosts", "extra", { type: DataTypes.STRING });
  await schema.renameColumn("SqPosts", "extra", "more");
  await schema.removeColumn("SqPosts", "more");
  await schema.addIndex("SqPosts", ["title"], { concurrently: true });
});
await step("drop", () => db.drop());
await db.close();
process.exit(failures);
