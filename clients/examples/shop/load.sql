-- 500 customers, 200 products and 2,000 purchases, the same every time.
BEGIN;

INSERT INTO shop.category VALUES
  (1, 'Books', NULL), (2, 'Novels', 1), (3, 'Science', 1),
  (4, 'Kitchen', NULL), (5, 'Pots', 4), (6, 'Knives', 4);

INSERT INTO shop.product (id, category, name, price, stock)
  SELECT i, 2 + i % 5, 'Product ' || i, 5 + (i * 37 % 200)::numeric / 2, 50 + i % 40
  FROM generate_series(1, 200) i;

INSERT INTO shop.customer (id, email, name, country, registered)
  SELECT i, 'customer' || i || '@example.org', 'Customer ' || i,
         CASE i % 4 WHEN 0 THEN 'DE' WHEN 1 THEN 'FR' WHEN 2 THEN 'IT' ELSE 'PL' END,
         timestamptz '2026-01-01 08:00:00+00' + i * interval '3 hours'
  FROM generate_series(1, 500) i;

INSERT INTO shop.purchase (id, customer, placed, status)
  SELECT i, 1 + i * 7 % 480, timestamptz '2026-03-01 00:00:00+00' + i * interval '40 minutes',
         CASE WHEN i % 20 = 0 THEN 'cancelled' WHEN i % 3 = 0 THEN 'sent' ELSE 'paid' END
  FROM generate_series(1, 2000) i;

INSERT INTO shop.purchase_line (purchase, number, product, quantity, price)
  SELECT p.id, n, q.id, 1 + (p.id + n) % 3, q.price
  FROM shop.purchase p
  CROSS JOIN generate_series(1, 3) n
  JOIN shop.product q ON q.id = 1 + (p.id * 13 + n * 31) % 200
  WHERE n <= 1 + p.id % 3;

SELECT setval(pg_get_serial_sequence('shop.customer', 'id'), 500),
       setval(pg_get_serial_sequence('shop.purchase', 'id'), 2000);

COMMIT;
