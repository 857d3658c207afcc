-- Rows that a statement is about to write, changed by what its triggers and functions do meanwhile.
CREATE FUNCTION own() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF pg_trigger_depth() = 1 THEN EXECUTE tg_argv[0]; END IF; RETURN coalesce(new, old); END $$; CREATE FUNCTION doing(text) RETURNS int LANGUAGE plpgsql AS $$ BEGIN EXECUTE $1; RETURN 1; END $$;
CREATE TABLE b (id int PRIMARY KEY, n int, s text); CREATE FUNCTION refill() RETURNS text LANGUAGE sql AS $$ DELETE FROM b; INSERT INTO b SELECT i, i, 'x' FROM generate_series(1, 6) i; SELECT 'filled' $$; SELECT refill();
CREATE TRIGGER z BEFORE UPDATE ON b FOR EACH ROW EXECUTE FUNCTION own('delete from b where id = 4'); UPDATE b SET n = n + 1 WHERE id IN (2, 4);
CREATE TRIGGER z BEFORE UPDATE ON b FOR EACH ROW EXECUTE FUNCTION own('update b set n = 100 where id = 4'); UPDATE b SET n = n + 1 WHERE id IN (2, 4);
CREATE TRIGGER z BEFORE UPDATE ON b FOR EACH ROW EXECUTE FUNCTION own('update b set n = 100 where id = 4'); UPDATE b SET n = n + 1 WHERE id = 2; SELECT * FROM b ORDER BY id; DROP TRIGGER z ON b; SELECT refill();
CREATE TRIGGER z BEFORE UPDATE ON b FOR EACH ROW EXECUTE FUNCTION own('update b set n = 100 where id = 2'); UPDATE b SET n = n + 1 WHERE id IN (2, 4);
CREATE TRIGGER z BEFORE UPDATE ON b FOR EACH ROW EXECUTE FUNCTION own('update b set id = 40 where id = 4'); UPDATE b SET n = n + 1 WHERE id IN (2, 4);
CREATE TRIGGER z BEFORE DELETE ON b FOR EACH ROW EXECUTE FUNCTION own('delete from b where id = 4'); DELETE FROM b WHERE id IN (2, 4);
CREATE TRIGGER z BEFORE DELETE ON b FOR EACH ROW EXECUTE FUNCTION own('update b set n = 7 where id = 4'); DELETE FROM b WHERE id IN (2, 4);
CREATE TRIGGER z BEFORE DELETE ON b FOR EACH ROW EXECUTE FUNCTION own('delete from b where id = 5'); DELETE FROM b WHERE id IN (2, 4); SELECT id FROM b ORDER BY id; DROP TRIGGER z ON b; SELECT refill();
CREATE TRIGGER z AFTER UPDATE ON b FOR EACH ROW EXECUTE FUNCTION own('update b set n = 100 where id = 4'); UPDATE b SET n = n + 1 WHERE id IN (2, 4); SELECT * FROM b WHERE id IN (2, 4) ORDER BY id; DROP TRIGGER z ON b; SELECT refill();
CREATE TRIGGER z BEFORE UPDATE ON b FOR EACH STATEMENT EXECUTE FUNCTION own('update b set n = 100 where id = 4'); UPDATE b SET n = n + 1 WHERE id IN (2, 4);
CREATE TRIGGER z BEFORE UPDATE ON b FOR EACH STATEMENT EXECUTE FUNCTION own('delete from b where id = 4'); UPDATE b SET n = n + 1 WHERE id IN (2, 4);
CREATE TRIGGER z BEFORE INSERT ON b FOR EACH ROW EXECUTE FUNCTION own('update b set n = 100'); INSERT INTO b VALUES (7, 7); SELECT id, n FROM b ORDER BY id; DROP TRIGGER z ON b; SELECT refill();
-- differs: what a trigger has made of the row in conflict is updated further
CREATE TRIGGER z BEFORE INSERT ON b FOR EACH ROW EXECUTE FUNCTION own('update b set n = 100 where id = 5'); INSERT INTO b VALUES (5, 7) ON CONFLICT (id) DO UPDATE SET n = excluded.n; SELECT id, n FROM b WHERE id = 5; DROP TRIGGER z ON b; SELECT refill();
UPDATE b SET n = doing('update b set n = 50 where id = 4') WHERE id IN (2, 4);
UPDATE b SET n = doing('delete from b where id = 4') WHERE id IN (2, 4);
-- differs: bug: what a function in SET does to the row that is set is overwritten
UPDATE b SET n = doing('update b set n = 50 where id = 2') WHERE id IN (2, 4);
DELETE FROM b WHERE id IN (2, 4) AND doing('update b set n = 50 where id = 4') = 1;
DELETE FROM b WHERE id IN (2, 4) AND doing('delete from b where id = 2') = 1;
DELETE FROM b WHERE id IN (2, 4) AND doing('delete from b where id = 5') = 1; SELECT id FROM b ORDER BY id; SELECT refill();
-- differs: what writes in WITH is written first
WITH d AS (DELETE FROM b WHERE id = 4 RETURNING id) UPDATE b SET n = 9 WHERE id IN (2, 4) RETURNING id; SELECT refill();
WITH d AS (UPDATE b SET n = 5 WHERE id = 4 RETURNING id) DELETE FROM b WHERE id IN (2, 4) RETURNING id; SELECT refill();
UPDATE b SET n = o.id FROM (VALUES (2, 1), (2, 2), (4, 3)) o (b, id) WHERE b.id = o.b RETURNING b.id; SELECT refill();
DELETE FROM b USING (VALUES (2, 1), (2, 2), (4, 3)) o (b, id) WHERE b.id = o.b RETURNING b.id; SELECT refill();
UPDATE b SET id = id + 1; SELECT count(*), sum(id) FROM b; SELECT refill();
UPDATE b SET id = id + 10 WHERE id > 0 RETURNING id; SELECT refill();
BEGIN; UPDATE b SET n = 1; UPDATE b SET n = 2 WHERE n = 1 RETURNING id; DELETE FROM b WHERE n = 2 RETURNING id; ROLLBACK;
DO $$ DECLARE r record; BEGIN FOR r IN SELECT * FROM b LOOP UPDATE b SET n = n + 1 WHERE id = r.id; DELETE FROM b WHERE id = r.id AND r.id > 4; END LOOP; END $$; SELECT id, n FROM b ORDER BY id; SELECT refill();
CREATE TABLE p (id int PRIMARY KEY, up int REFERENCES p ON DELETE CASCADE ON UPDATE CASCADE, n int); INSERT INTO p VALUES (1, NULL, 0), (2, 1, 0), (3, 2, 0), (4, 1, 0);
DELETE FROM p WHERE id IN (1, 2, 3) RETURNING id; SELECT * FROM p; INSERT INTO p VALUES (1, NULL, 0), (2, 1, 0), (3, 2, 0), (4, 1, 0);
CREATE TRIGGER z BEFORE DELETE ON p FOR EACH ROW EXECUTE FUNCTION own('delete from p where up = 1'); DELETE FROM p WHERE id IN (1, 2);
UPDATE p SET id = id + 10, n = 5; SELECT * FROM p ORDER BY id;
BEGIN ISOLATION LEVEL REPEATABLE READ; CREATE TRIGGER z BEFORE UPDATE ON b FOR EACH ROW EXECUTE FUNCTION own('update b set n = 100 where id = 4');
UPDATE b SET n = n + 1 WHERE id IN (2, 4);
ROLLBACK;
BEGIN ISOLATION LEVEL SERIALIZABLE; CREATE TRIGGER z BEFORE UPDATE ON b FOR EACH ROW EXECUTE FUNCTION own('delete from b where id = 4');
UPDATE b SET n = n + 1 WHERE id IN (2, 4);
ROLLBACK;
SELECT id, n FROM b ORDER BY id;
