-- run.db as version 3 of the journal wrote it
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE shard (n INTEGER PRIMARY KEY, kind TEXT NOT NULL, state TEXT NOT NULL, attempt INTEGER NOT NULL);
CREATE TABLE chunk (key TEXT PRIMARY KEY, shard INTEGER NOT NULL, place INTEGER NOT NULL, state TEXT NOT NULL, first_unit INTEGER, first_bundle INTEGER, first_n INTEGER, last_unit INTEGER, last_bundle INTEGER, last_n INTEGER, sent_at REAL, code TEXT) WITHOUT ROWID;
CREATE INDEX chunk_shard ON chunk (shard, first_unit, first_bundle, first_n);
CREATE TABLE entity (n INTEGER PRIMARY KEY, state TEXT NOT NULL, id TEXT, file TEXT, sha256 TEXT, bytes INTEGER);
CREATE TABLE left_out (bundle INTEGER PRIMARY KEY, state TEXT NOT NULL, code TEXT NOT NULL, data TEXT NOT NULL);
CREATE TABLE guard (shard INTEGER PRIMARY KEY, id TEXT NOT NULL, version TEXT NOT NULL);
CREATE TABLE late_link (entity INTEGER NOT NULL, name TEXT NOT NULL, other INTEGER NOT NULL, state TEXT NOT NULL, PRIMARY KEY (entity, name, other)) WITHOUT ROWID;
CREATE TABLE finding (kind TEXT NOT NULL, key TEXT NOT NULL, entity INTEGER, data TEXT NOT NULL, state TEXT NOT NULL, at REAL, who TEXT, PRIMARY KEY (kind, key)) WITHOUT ROWID;
CREATE TABLE retraction (n INTEGER PRIMARY KEY, type TEXT NOT NULL, id TEXT NOT NULL, state TEXT NOT NULL, reason TEXT NOT NULL, detail TEXT NOT NULL, at REAL NOT NULL);
CREATE TABLE event (n INTEGER PRIMARY KEY, at REAL NOT NULL, name TEXT NOT NULL, data TEXT NOT NULL);
INSERT INTO meta VALUES ('version', '3'), ('archive', 'an-archive'), ('started', '1700000000.0');
INSERT INTO shard VALUES (1, 'unit', 'open', 1);
INSERT INTO chunk VALUES ('1/1', 1, 1, 'done', 0, 1, 1, 0, 1, 4, 1699999999.0, NULL);
INSERT INTO chunk VALUES ('1/2', 1, 2, 'in_doubt', 0, 5, 5, 0, 5, 8, 1700000000.0, 'F302');
INSERT INTO chunk VALUES ('1/3', 1, 3, 'intent', 0, 9, 9, 0, 9, 12, NULL, NULL);
INSERT INTO entity VALUES (1, 'done', '11', NULL, NULL, NULL), (2, 'done', '12', '7', 'abc', 3);
INSERT INTO entity VALUES (3, 'already_there', '13', NULL, NULL, NULL);
