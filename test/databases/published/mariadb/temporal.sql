-- Temporal, a service of workflows (schema/mysql/v8/temporal/schema.sql). Origin:
-- https://github.com/temporalio/temporal, MIT licence; the structure written down from memory; tables may be missing.

CREATE TABLE namespaces(
  partition_id INT NOT NULL,
  id BINARY(16) NOT NULL,
  name VARCHAR(255) UNIQUE NOT NULL,
  notification_version BIGINT NOT NULL,
  data MEDIUMBLOB NOT NULL,
  data_encoding VARCHAR(16) NOT NULL,
  is_global TINYINT(1) NOT NULL,
  PRIMARY KEY(partition_id, id)
);
CREATE TABLE namespace_metadata (partition_id INT NOT NULL, notification_version BIGINT NOT NULL, PRIMARY KEY(partition_id));
INSERT INTO namespace_metadata (partition_id, notification_version) VALUES (54321, 1);
CREATE TABLE shards (
  shard_id INT NOT NULL,
  range_id BIGINT NOT NULL,
  data MEDIUMBLOB NOT NULL,
  data_encoding VARCHAR(16) NOT NULL,
  PRIMARY KEY (shard_id)
);
CREATE TABLE executions(
  shard_id INT NOT NULL,
  namespace_id BINARY(16) NOT NULL,
  workflow_id VARCHAR(255) NOT NULL,
  run_id BINARY(16) NOT NULL,
  next_event_id BIGINT NOT NULL,
  last_write_version BIGINT NOT NULL,
  data MEDIUMBLOB NOT NULL,
  data_encoding VARCHAR(16) NOT NULL,
  state MEDIUMBLOB NOT NULL,
  state_encoding VARCHAR(16) NOT NULL,
  db_record_version BIGINT NOT NULL DEFAULT 0,
  PRIMARY KEY (shard_id, namespace_id, workflow_id, run_id)
);
CREATE TABLE current_executions(
  shard_id INT NOT NULL,
  namespace_id BINARY(16) NOT NULL,
  workflow_id VARCHAR(255) NOT NULL,
  run_id BINARY(16) NOT NULL,
  create_request_id VARCHAR(255) NOT NULL,
  state INT NOT NULL,
  status INT NOT NULL,
  start_version BIGINT NOT NULL DEFAULT 0,
  start_time DATETIME(6),
  last_write_version BIGINT NOT NULL,
  data MEDIUMBLOB NULL,
  data_encoding VARCHAR(16) NOT NULL DEFAULT '',
  PRIMARY KEY (shard_id, namespace_id, workflow_id)
);
CREATE TABLE buffered_events (
  shard_id INT NOT NULL,
  namespace_id BINARY(16) NOT NULL,
  workflow_id VARCHAR(255) NOT NULL,
  run_id BINARY(16) NOT NULL,
  id BIGINT AUTO_INCREMENT NOT NULL UNIQUE,
  data MEDIUMBLOB NOT NULL,
  data_encoding VARCHAR(16) NOT NULL,
  PRIMARY KEY (shard_id, namespace_id, workflow_id, run_id, id)
);
CREATE TABLE tasks (
  range_hash INT UNSIGNED NOT NULL,
  task_queue_id VARBINARY(272) NOT NULL,
  task_id BIGINT NOT NULL,
  data MEDIUMBLOB NOT NULL,
  data_encoding VARCHAR(16) NOT NULL,
  PRIMARY KEY (range_hash, task_queue_id, task_id)
);
CREATE TABLE timer_tasks (
  shard_id INT NOT NULL,
  visibility_timestamp DATETIME(6) NOT NULL,
  task_id BIGINT NOT NULL,
  data MEDIUMBLOB NOT NULL,
  data_encoding VARCHAR(16) NOT NULL,
  PRIMARY KEY (shard_id, visibility_timestamp, task_id)
);
CREATE TABLE history_node (
  shard_id INT NOT NULL,
  tree_id BINARY(16) NOT NULL,
  branch_id BINARY(16) NOT NULL,
  node_id BIGINT NOT NULL,
  txn_id BIGINT NOT NULL,
  prev_txn_id BIGINT NOT NULL DEFAULT 0,
  data MEDIUMBLOB NOT NULL,
  data_encoding VARCHAR(16) NOT NULL,
  PRIMARY KEY (shard_id, tree_id, branch_id, node_id, txn_id)
);
CREATE TABLE cluster_membership (
  membership_partition INT NOT NULL,
  host_id BINARY(16) NOT NULL,
  rpc_address VARCHAR(128),
  rpc_port SMALLINT NOT NULL,
  role TINYINT NOT NULL,
  session_start TIMESTAMP DEFAULT '1970-01-02 00:00:01',
  last_heartbeat TIMESTAMP DEFAULT '1970-01-02 00:00:01',
  record_expiry TIMESTAMP DEFAULT '1970-01-02 00:00:01',
  INDEX (role, host_id),
  INDEX (rpc_address, role),
  PRIMARY KEY (membership_partition, host_id)
);
CREATE TABLE executions_visibility (
  namespace_id CHAR(64) NOT NULL,
  run_id CHAR(64) NOT NULL,
  start_time DATETIME(6) NOT NULL,
  workflow_id VARCHAR(255) NOT NULL,
  status INT NOT NULL,
  close_time DATETIME(6) NULL,
  memo BLOB NULL,
  search_attributes JSON NULL,
  TemporalChangeVersion JSON GENERATED ALWAYS AS (JSON_EXTRACT(search_attributes, '$.TemporalChangeVersion')) VIRTUAL,
  BatcherNamespace VARCHAR(255) GENERATED ALWAYS AS (JSON_UNQUOTE(JSON_EXTRACT(search_attributes, '$.BatcherNamespace'))) VIRTUAL,
  HistorySizeBytes BIGINT GENERATED ALWAYS AS (JSON_EXTRACT(search_attributes, '$.HistorySizeBytes')) STORED,
  PRIMARY KEY (namespace_id, run_id)
);
CREATE INDEX default_idx ON executions_visibility (namespace_id, close_time, start_time, run_id);
