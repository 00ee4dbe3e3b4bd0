-- The tables of the leaderboard's file. Each version adds to the one before, so none is changed.

-- Version 1
CREATE TABLE entries (
    id TEXT PRIMARY KEY, token_sha256 TEXT NOT NULL UNIQUE, name TEXT NOT NULL,
    task TEXT NOT NULL, rules TEXT NOT NULL, commitment TEXT NOT NULL, created REAL NOT NULL,
    deadline REAL NOT NULL, begun INTEGER NOT NULL DEFAULT 0, bytes INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE TABLE games (
    entry TEXT NOT NULL REFERENCES entries ON DELETE CASCADE, number INTEGER NOT NULL,
    seed TEXT NOT NULL, ended TEXT, grade REAL, PRIMARY KEY (entry, number)
) STRICT, WITHOUT ROWID;
CREATE TABLE moves (
    entry TEXT NOT NULL, number INTEGER NOT NULL, step INTEGER NOT NULL, action TEXT NOT NULL,
    PRIMARY KEY (entry, number, step),
    FOREIGN KEY (entry, number) REFERENCES games ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX entries_of_task ON entries (task);

-- Version 2: entries of people, what Sauda and the oracle made of their games, games of a day
ALTER TABLE entries ADD COLUMN person INTEGER NOT NULL DEFAULT 0;
CREATE TABLE pairs (
    entry TEXT NOT NULL, number INTEGER NOT NULL, sauda REAL NOT NULL, oracle REAL NOT NULL,
    PRIMARY KEY (entry, number),
    FOREIGN KEY (entry, number) REFERENCES games ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE TABLE days (
    day TEXT NOT NULL, visitor TEXT NOT NULL, grade REAL NOT NULL,
    PRIMARY KEY (day, visitor)
) STRICT, WITHOUT ROWID;

-- Version 3: a task's new name
UPDATE entries SET task = 'bazaar/sell' WHERE task = 'bazaar/seller_brief';

-- Version 4: names as they are compared, when each game was first shown and seconds per move in it
ALTER TABLE entries ADD COLUMN skeleton TEXT NOT NULL DEFAULT '';
UPDATE entries SET skeleton = skeleton(name);
CREATE INDEX entries_by_name ON entries (task, rules, skeleton);
ALTER TABLE games ADD COLUMN shown REAL;
ALTER TABLE games ADD COLUMN pace REAL;

-- Version 5: how many entries were withdrawn by those who hold their tokens
CREATE TABLE withdrawn (
    task TEXT NOT NULL, rules TEXT NOT NULL, person INTEGER NOT NULL, entries INTEGER NOT NULL,
    PRIMARY KEY (task, rules, person)
) STRICT, WITHOUT ROWID;

-- Version 6: the fingerprint of the prompt that a language model was given
ALTER TABLE entries ADD COLUMN prompt TEXT NOT NULL DEFAULT '';
