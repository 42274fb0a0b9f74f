/**
 * Sealed named secrets of workspaces, and the data sources that use them: a secret in use cannot be deleted, and a
 * source cannot be created with a missing secret.
 */
export default `
create table service.secret (
  id uuid primary key,
  workspace_id uuid not null references service.workspace (id) on delete cascade,
  name text not null,
  sealed_value text not null,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  unique (workspace_id, name)
);

create table service.source_secret (
  workspace_id uuid not null references service.workspace (id) on delete cascade,
  source_id uuid not null,
  secret_id uuid not null references service.secret (id),
  primary key (source_id, secret_id)
);
create index on service.source_secret (secret_id);
create index on service.source_secret (workspace_id);
`
