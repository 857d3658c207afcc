-- MERGE may insert a row that the policies of SELECT do not show; an updated row must be shown.
CREATE TABLE document (id int PRIMARY KEY, author name, note text DEFAULT '');
CREATE ROLE bob;
GRANT ALL ON document TO bob;
ALTER TABLE document ENABLE ROW LEVEL SECURITY;
CREATE POLICY shown ON document FOR SELECT USING (note <> 'hidden');
CREATE POLICY added ON document FOR INSERT WITH CHECK (author = current_user);
CREATE POLICY changed ON document FOR UPDATE USING (true) WITH CHECK (author = current_user);
SET ROLE bob;
MERGE INTO document d USING (VALUES (1)) s(id) ON d.id = s.id WHEN MATCHED THEN UPDATE SET note = 'more'
WHEN NOT MATCHED THEN INSERT VALUES (s.id, 'bob', 'hidden');
MERGE INTO document d USING (VALUES (2)) s(id) ON d.id = s.id WHEN MATCHED THEN UPDATE SET note = 'more'
WHEN NOT MATCHED THEN INSERT VALUES (s.id, 'eve', 'plain');
MERGE INTO document d USING (VALUES (3)) s(id) ON d.id = s.id WHEN NOT MATCHED THEN INSERT VALUES (s.id, 'bob', 'plain');
MERGE INTO document d USING (VALUES (3)) s(id) ON d.id = s.id WHEN MATCHED THEN UPDATE SET note = 'hidden';
MERGE INTO document d USING (VALUES (1)) s(id) ON d.id = s.id WHEN MATCHED THEN UPDATE SET note = 'more'
WHEN NOT MATCHED THEN INSERT VALUES (s.id, 'bob', 'again');
INSERT INTO document VALUES (4, 'bob', 'hidden');
MERGE INTO document d USING (VALUES (6)) s(id) ON d.id = s.id WHEN NOT MATCHED THEN INSERT VALUES (s.id, 'bob', 'hidden') RETURNING d.id;
INSERT INTO document VALUES (5, 'bob', 'hidden') RETURNING id;
RESET ROLE;
SELECT * FROM document ORDER BY id;
