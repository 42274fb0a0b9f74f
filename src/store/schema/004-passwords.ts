/** Rate limit counters for attempts at secrets, and password reset tokens. */
export default `
create table service.attempt (
  key text primary key,
  times timestamptz[] not null,
  is_refused boolean not null,
  ends_at timestamptz not null
);
create index attempt_by_end on service.attempt (ends_at);

create table service.password_reset (
  token_hash text primary key,
  user_id uuid not null references service."user" (id) on delete cascade,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null
);
create index password_reset_by_user on service.password_reset (user_id);
create index password_reset_by_end on service.password_reset (expires_at);
`
