/** What was last seen of the schema of each data source, and since when it is another than that of the model. */
export default `
alter table service.workspace add column schema_looked_at timestamptz;

create table service.source_drift (
  source_id uuid primary key,
  workspace_id uuid not null references service.workspace (id) on delete cascade,
  model_version bigint,
  outline text,
  since timestamptz,
  hash text,
  operations jsonb
);
create index on service.source_drift (workspace_id);
`
