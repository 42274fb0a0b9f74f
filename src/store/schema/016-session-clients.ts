/** What a person recognises a session by, as of its sign-in or last refresh. */
export default `
alter table service.session add column last_used_at timestamptz, add column user_agent text, add column ip text;
update service.session set last_used_at = created_at;
alter table service.session alter column last_used_at set default now(), alter column last_used_at set not null;
`
