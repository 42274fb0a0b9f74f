/**
 * Writes that were sent with an Idempotency-Key, each with its answer until it expires: those of the system database in
 * the transaction of the write, those of other data sources before and after it. Without a reference to the workspace,
 * whose row every write would lock; its deletion deletes them.
 */
export default `
create table service.ledger (
  scope text not null,
  workspace_id text not null,
  fingerprint text not null,
  rights text not null,
  outcome text not null,
  body text,
  item_keys text,
  started_at bigint not null,
  expires_at bigint not null,
  constraint service_ledger_key primary key (scope)
);
create index on service.ledger (expires_at);
create index on service.ledger (workspace_id);
`
