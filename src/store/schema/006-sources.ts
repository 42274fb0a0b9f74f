/**
 * Data sources with a running or failed migration: their databases may hold changes that the model lacks. The row is
 * deleted when the model is saved, or when the source is introspected.
 */
export default `
create table service.source_mark (
  source_id uuid primary key,
  workspace_id uuid not null references service.workspace (id) on delete cascade,
  steps jsonb not null,
  marked_at timestamptz not null default now()
);
`
