/** Links of a local run that sign in once. */
export default `
create table service.sign_in_link (
  token_hash text primary key,
  user_id uuid not null references service."user" (id) on delete cascade,
  expires_at timestamptz not null
);
`
