-- Temporal, a service of workflows (schema/postgresql/v12/temporal/schema.sql). Origin:
-- https://github.com/temporalio/temporal, MIT licence; the structure written down from memory; tables may be missing.

CREATE TABLE namespaces(
  partition_id INTEGER NOT NULL,
  id BYTEA NOT NULL,
  name VARCHAR(255) UNIQUE NOT NULL,
  notification_version BIGINT NOT NULL,
  data BYTEA NOT NULL,
  data_encoding VARCHAR(16) NOT NULL,
  is_global BOOLEAN NOT NULL,
  PRIMARY KEY(partition_id, id)
);
CREATE TABLE namespace_metadata (partition_id INTEGER NOT NULL, notification_version BIGINT NOT NULL, PRIMARY KEY(partition_id));
INSERT INTO namespace_metadata (partition_id, notification_version) VALUES (54321, 1);
CREATE TABLE shards (
  shard_id INTEGER NOT NULL,
  range_id BIGINT NOT NULL,
  data BYTEA NOT NULL,
  data_encoding VARCHAR(16) NOT NULL,
  PRIMARY KEY (shard_id)
);
CREATE TABLE executions(
  shard_id INTEGER NOT NULL,
  namespace_id BYTEA NOT NULL,
  workflow_id VARCHAR(255) NOT NULL,
  run_id BYTEA NOT NULL,
  next_event_id BIGINT NOT NULL,
  last_write_version BIGINT NOT NULL,
  data BYTEA NOT NULL,
  data_encoding VARCHAR(16) NOT NULL,
  state BYTEA NOT NULL,
  state_encoding VARCHAR(16) NOT NULL,
  db_record_version BIGINT NOT NULL DEFAULT 0,
  PRIMARY KEY (shard_id, namespace_id, workflow_id, run_id)
);
CREATE TABLE current_executions(
  shard_id INTEGER NOT NULL,
  namespace_id BYTEA NOT NULL,
  workflow_id VARCHAR(255) NOT NULL,
  run_id BYTEA NOT NULL,
  create_request_id VARCHAR(255) NOT NULL,
  state INTEGER NOT NULL,
  status INTEGER NOT NULL,
  start_version BIGINT NOT NULL DEFAULT 0,
  start_time TIMESTAMP NULL,
  last_write_version BIGINT NOT NULL,
  data BYTEA NULL,
  data_encoding VARCHAR(16) NOT NULL DEFAULT '',
  PRIMARY KEY (shard_id, namespace_id, workflow_id)
);
CREATE TABLE buffered_events (
  shard_id INTEGER NOT NULL,
  namespace_id BYTEA NOT NULL,
  workflow_id VARCHAR(255) NOT NULL,
  run_id BYTEA NOT NULL,
  id BIGSERIAL NOT NULL UNIQUE,
  data BYTEA NOT NULL,
  data_encoding VARCHAR(16) NOT NULL,
  PRIMARY KEY (shard_id, namespace_id, workflow_id, run_id, id)
);
CREATE TABLE tasks (
  range_hash BIGINT NOT NULL,
  task_queue_id BYTEA NOT NULL,
  task_id BIGINT NOT NULL,
  data BYTEA NOT NULL,
  data_encoding VARCHAR(16) NOT NULL,
  PRIMARY KEY (range_hash, task_queue_id, task_id)
);
CREATE TABLE task_queues (
  range_hash BIGINT NOT NULL,
  task_queue_id BYTEA NOT NULL,
  range_id BIGINT NOT NULL,
  data BYTEA NOT NULL,
  data_encoding VARCHAR(16) NOT NULL,
  PRIMARY KEY (range_hash, task_queue_id)
);
CREATE TABLE timer_tasks (
  shard_id INTEGER NOT NULL,
  visibility_timestamp TIMESTAMP NOT NULL,
  task_id BIGINT NOT NULL,
  data BYTEA NOT NULL,
  data_encoding VARCHAR(16) NOT NULL,
  PRIMARY KEY (shard_id, visibility_timestamp, task_id)
);
CREATE TABLE replication_tasks_dlq (
  source_cluster_name VARCHAR(255) NOT NULL,
  shard_id INTEGER NOT NULL,
  task_id BIGINT NOT NULL,
  data BYTEA NOT NULL,
  data_encoding VARCHAR(16) NOT NULL,
  PRIMARY KEY (source_cluster_name, shard_id, task_id)
);
CREATE TABLE history_node (
  shard_id INTEGER NOT NULL,
  tree_id BYTEA NOT NULL,
  branch_id BYTEA NOT NULL,
  node_id BIGINT NOT NULL,
  txn_id BIGINT NOT NULL,
  prev_txn_id BIGINT NOT NULL DEFAULT 0,
  data BYTEA NOT NULL,
  data_encoding VARCHAR(16) NOT NULL,
  PRIMARY KEY (shard_id, tree_id, branch_id, node_id, txn_id)
);
CREATE TABLE history_tree (
  shard_id INTEGER NOT NULL,
  tree_id BYTEA NOT NULL,
  branch_id BYTEA NOT NULL,
  data BYTEA NOT NULL,
  data_encoding VARCHAR(16) NOT NULL,
  PRIMARY KEY (shard_id, tree_id, branch_id)
);
CREATE TABLE cluster_membership (
  membership_partition INTEGER NOT NULL,
  host_id BYTEA NOT NULL,
  rpc_address VARCHAR(128) NOT NULL,
  rpc_port SMALLINT NOT NULL,
  role SMALLINT NOT NULL,
  session_start TIMESTAMP DEFAULT '1970-01-01 00:00:01+00:00',
  last_heartbeat TIMESTAMP DEFAULT '1970-01-01 00:00:01+00:00',
  record_expiry TIMESTAMP DEFAULT '1970-01-01 00:00:01+00:00',
  PRIMARY KEY (membership_partition, host_id)
);
CREATE UNIQUE INDEX cm_idx_rolehost ON cluster_membership (role, host_id);
CREATE INDEX cm_idx_lasthb ON cluster_membership (last_heartbeat);
CREATE TABLE executions_visibility (
  namespace_id CHAR(64) NOT NULL,
  run_id CHAR(64) NOT NULL,
  start_time TIMESTAMP NOT NULL,
  execution_time TIMESTAMP NOT NULL,
  workflow_id VARCHAR(255) NOT NULL,
  workflow_type_name VARCHAR(255) NOT NULL,
  status INTEGER NOT NULL,
  close_time TIMESTAMP NULL,
  history_length BIGINT,
  memo BYTEA,
  encoding VARCHAR(64) NOT NULL,
  task_queue VARCHAR(255) DEFAULT '' NOT NULL,
  search_attributes JSONB NULL,
  TemporalChangeVersion JSONB GENERATED ALWAYS AS (search_attributes->'TemporalChangeVersion') STORED,
  BatcherNamespace VARCHAR(255) GENERATED ALWAYS AS (search_attributes->>'BatcherNamespace') STORED,
  Bool01 BOOLEAN GENERATED ALWAYS AS ((search_attributes->'Bool01')::boolean) STORED,
  Int01 BIGINT GENERATED ALWAYS AS ((search_attributes->'Int01')::bigint) STORED,
  Keyword01 VARCHAR(255) GENERATED ALWAYS AS (search_attributes->>'Keyword01') STORED,
  Text01 TSVECTOR GENERATED ALWAYS AS (to_tsvector('simple'::regconfig, coalesce(search_attributes->>'Text01', ''))) STORED,
  PRIMARY KEY (namespace_id, run_id)
);
