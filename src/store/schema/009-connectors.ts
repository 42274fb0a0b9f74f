/** The capabilities that connectors declared when their schema was imported. */
export default `
create table service.connector_capability (
  workspace_id uuid not null references service.workspace (id) on delete cascade,
  source_id uuid not null,
  revision text not null,
  document jsonb not null,
  primary key (workspace_id, source_id)
);
`
