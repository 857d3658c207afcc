-- What such a shop asks. The order of the rows is fixed everywhere, so that the answers can be
-- compared.

-- The best customers.
SELECT c.name, count(*) AS purchases, sum(t.total) AS spent
FROM shop.purchase_total t JOIN shop.customer c ON c.id = t.customer
WHERE t.status <> 'cancelled'
GROUP BY c.id, c.name ORDER BY spent DESC, c.name LIMIT 5;

-- Turnover by category, with the categories above.
WITH RECURSIVE under AS (
  SELECT id AS root, id, name FROM shop.category WHERE parent IS NULL
  UNION ALL
  SELECT u.root, c.id, u.name FROM shop.category c JOIN under u ON c.parent = u.id)
SELECT u.name, sum(l.quantity * l.price) AS turnover
FROM under u
JOIN shop.product p ON p.category = u.id
JOIN shop.purchase_line l ON l.product = p.id
GROUP BY u.name ORDER BY u.name;

-- Each month against the one before.
SELECT to_char(month, 'YYYY-MM') AS month, turnover,
       turnover - lag(turnover) OVER (ORDER BY month) AS change
FROM (SELECT date_trunc('month', placed AT TIME ZONE 'UTC') AS month, sum(total) AS turnover
      FROM shop.purchase_total GROUP BY 1) monthly
ORDER BY month;

-- Customers who never bought.
SELECT count(*) FROM shop.customer c
WHERE NOT EXISTS (SELECT 1 FROM shop.purchase p WHERE p.customer = c.id);

-- Products that are often bought together.
SELECT a.product AS one, b.product AS other, count(*) AS times
FROM shop.purchase_line a JOIN shop.purchase_line b
  ON a.purchase = b.purchase AND a.product < b.product
GROUP BY a.product, b.product ORDER BY times DESC, one, other LIMIT 3;

-- Somebody buys, and the stock goes down with it, or not at all.
BEGIN;
INSERT INTO shop.purchase (customer, placed) VALUES (42, '2026-06-01 12:00:00+00')
  RETURNING id, status;
INSERT INTO shop.purchase_line SELECT 2001, 1, id, 2, price FROM shop.product WHERE id = 7;
UPDATE shop.product SET stock = stock - 2 WHERE id = 7 RETURNING name, stock;
COMMIT;

-- More than there is: the constraint says no, and nothing of it stays.
BEGIN;
INSERT INTO shop.purchase (customer, placed) VALUES (42, '2026-06-02 12:00:00+00');
UPDATE shop.product SET stock = stock - 1000 WHERE id = 7;
ROLLBACK;
SELECT count(*) FROM shop.purchase WHERE placed >= '2026-06-01 00:00:00+00';
