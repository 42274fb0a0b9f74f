/**
 * Names of tables and columns that migrations have lately taken from a collection or field: a process whose model is older
 * still means that one by them.
 */
export default `
create table service.given_up_name (
  workspace_id uuid not null references service.workspace (id) on delete cascade,
  name text not null,
  owner_id uuid not null,
  given_up_at timestamptz not null,
  primary key (workspace_id, name)
);
`
