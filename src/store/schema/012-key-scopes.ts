/** The scope of a key, and the key that created it and whose deletion deletes it. */
export default `
alter table service.api_key add column scope jsonb;
alter table service.api_key add column made_by uuid references service.api_key (id) on delete cascade;
create index api_key_by_maker on service.api_key (made_by);

create function service.key_line(key uuid) returns table (id uuid, active boolean, expires_at timestamptz)
language sql stable as $$
  with recursive line as (
    select k.id, k.active, k.expires_at, k.made_by from service.api_key k where k.id = key
    union
    select m.id, m.active, m.expires_at, m.made_by from service.api_key m join line l on m.id = l.made_by)
  select l.id, l.active, l.expires_at from line l
$$;

create or replace view service.api_key_view as
select k.id, k.user_id, u.service_account_owner_id as owner_id, k.name, k.description, k.active, k.expires_at,
  k.created_at, k.last_used_at, k.scope, k.made_by
from service.api_key k join service."user" u on u.id = k.user_id;
`
