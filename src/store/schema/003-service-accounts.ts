/** Views of service accounts and API keys for lists, each row with the users who may manage it. */
export default `
alter table service."user" add column description text;
create index user_by_service_account_owner on service."user" (service_account_owner_id);

create view service.api_key_view as
select k.id, k.user_id, u.service_account_owner_id as owner_id, k.name, k.description, k.active, k.expires_at,
  k.created_at, k.last_used_at
from service.api_key k join service."user" u on u.id = k.user_id;

create view service.service_account_view as
select u.id, u.id as user_id, u.service_account_owner_id as owner_id, u.full_name as name, u.description, u.is_service,
  u.status, u.created_at,
  (select json_build_object('id', o.id, 'email', o.email, 'fullName', o.full_name)
    from service."user" o where o.id = u.service_account_owner_id) as owner,
  (select coalesce(json_agg(json_build_object('workspace', w.api_name, 'roleId', mr.role_id)
      order by w.api_name, mr.role_id), '[]'::json)
    from service.member_role mr join service.workspace w on w.id = mr.workspace_id where mr.user_id = u.id) as roles
from service."user" u where u.is_service;
`
