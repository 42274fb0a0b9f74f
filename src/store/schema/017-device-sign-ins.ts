/** Sign-ins of devices that have no browser, until somebody decides on them; and the name of a session. */
export default `
alter table service.session add column name text;

create table service.device_sign_in (
  device_hash text primary key,
  user_hash text not null unique,
  name text,
  user_agent text,
  ip text,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  asked_at timestamptz,
  session_id uuid,
  is_denied boolean not null default false
);
create index device_sign_in_by_end on service.device_sign_in (expires_at);
`
