"""Clients that move money, and note which commits they were told of."""
import threading
import time

import psycopg2

ACCOUNTS = 1000
BALANCE = 1000


def prepare(conninfo, clients):
    with connect(conninfo) as session, session.cursor() as cursor:
        cursor.execute("CREATE TABLE accounts (id int PRIMARY KEY, balance bigint NOT NULL, moves int NOT NULL DEFAULT 0)")
        cursor.execute("INSERT INTO accounts SELECT n, %s FROM generate_series(1, %s) n", (BALANCE, ACCOUNTS))
        cursor.execute("CREATE TABLE moves (client int, number int, amount int, PRIMARY KEY (client, number))")
    session.close()


def connect(conninfo):
    return psycopg2.connect(conninfo)


class Client(threading.Thread):
    """Each transaction moves an amount between two accounts and has a number that is used once."""

    def __init__(self, number, conninfo):
        super().__init__(daemon=True)
        self.client, self.conninfo = number, conninfo
        self.next = 1
        # When each acknowledged one was acknowledged, by its number.
        self.acknowledged = {}
        self.stopping = False
        self.session = None

    def run(self):
        while not self.stopping:
            try:
                if self.session is None:
                    self.session = connect(self.conninfo)
                self.move()
            except psycopg2.Error:
                self.hang_up()
                time.sleep(0.02)
        self.hang_up()

    def hang_up(self):
        if self.session is not None:
            try:
                self.session.close()
            except psycopg2.Error:
                pass
        self.session = None

    def move(self):
        number = self.next
        # A commit whose answer was lost may be there: its number is not used again.
        self.next += 1
        amount = 1 + (number * 7 + self.client) % 9
        source = 1 + (number * 31 + self.client * 17) % ACCOUNTS
        target = 1 + (number * 57 + self.client * 29 + 1) % ACCOUNTS
        with self.session.cursor() as cursor:
            # In one order, so that there are no deadlocks.
            for account in sorted({source, target}):
                change = (amount if account == target else 0) - (amount if account == source else 0)
                cursor.execute("UPDATE accounts SET balance = balance + %s, moves = moves + 1 WHERE id = %s",
                               (change, account))
            cursor.execute("INSERT INTO moves VALUES (%s, %s, %s)", (self.client, number, amount))
        self.session.commit()
        self.acknowledged[number] = time.monotonic()


def judge(conninfo, clients):
    """What is wrong with the rows that are there: acknowledged commits that are lost, and faults of the sums."""
    session = connect(conninfo)
    with session, session.cursor() as cursor:
        cursor.execute("SELECT client, number FROM moves")
        there = set(cursor.fetchall())
        cursor.execute("SELECT sum(balance), sum(moves) FROM accounts")
        balance, moves = cursor.fetchone()
        cursor.execute("SELECT count(*) FROM moves")
        counted = cursor.fetchone()[0]
    session.close()
    lost = [(client.client, number) for client in clients for number in client.acknowledged
            if (client.client, number) not in there]
    faults = []
    if balance != ACCOUNTS * BALANCE:
        faults.append(f"the balances are {balance} in sum")
    if counted != len(there):
        faults.append(f"{counted} rows of {len(there)} numbers")
    expected = sum(1 if (n * 31 + c * 17) % ACCOUNTS == (n * 57 + c * 29 + 1) % ACCOUNTS else 2 for c, n in there)
    if moves != expected:
        faults.append(f"{moves} moves of accounts, but {expected} by the rows")
    invented = [row for row in there if not any(client.client == row[0] and row[1] < client.next for client in clients)]
    if invented:
        faults.append(f"rows that nobody wrote: {invented[:5]}")
    return lost, faults
