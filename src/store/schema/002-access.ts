/**
 * Policies, invitations and the audit log, and the views behind their lists. What a policy names is stored apart from
 * its content, so that a migration can tell whether it would remove it.
 */
export default `
create table service.policy (
  id uuid primary key,
  workspace_id uuid not null references service.workspace (id) on delete cascade,
  name text not null,
  description text,
  content jsonb not null,
  created_at timestamptz not null default now(),
  unique (workspace_id, name)
);

create table service.policy_use (
  policy_id uuid not null references service.policy (id) on delete cascade,
  target_id uuid not null,
  primary key (policy_id, target_id)
);
create index policy_use_by_target on service.policy_use (target_id);

create table service.role_policy (
  role_id uuid not null references service.role (id) on delete cascade,
  policy_id uuid not null references service.policy (id) on delete cascade,
  primary key (role_id, policy_id)
);
create index role_policy_by_policy on service.role_policy (policy_id);
create index member_by_user on service.member (user_id);
create index member_role_by_role on service.member_role (role_id);

create table service.invitation (
  id uuid primary key,
  workspace_id uuid not null references service.workspace (id) on delete cascade,
  email text not null,
  token_hash text not null unique,
  invited_by uuid references service."user" (id) on delete set null,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null
);
create unique index invitation_email on service.invitation (workspace_id, lower(email));

create table service.invitation_role (
  invitation_id uuid not null references service.invitation (id) on delete cascade,
  role_id uuid not null references service.role (id) on delete cascade,
  primary key (invitation_id, role_id)
);

create table service.audit_entry (
  id uuid primary key,
  "time" timestamptz not null default clock_timestamp(),
  action text not null,
  label text not null,
  outcome text not null check (outcome in ('success', 'failure')),
  actor_type text not null check (actor_type in ('user', 'service', 'anonymous', 'system')),
  actor_id uuid,
  actor_email text,
  workspace_id uuid,
  target_type text,
  target_id uuid,
  ip text,
  payload jsonb not null
);
create index audit_entry_by_time on service.audit_entry ("time");
create index audit_entry_by_action on service.audit_entry (action, id);
create index audit_entry_by_workspace on service.audit_entry (workspace_id, id);

create function service.refuse_change() returns trigger language plpgsql as
  $$ begin raise exception 'audit entries are never changed'; end $$;
create trigger audit_entry_is_append_only before update on service.audit_entry
  for each row execute function service.refuse_change();

create view service.role_view as
select r.id, r.workspace_id, r.name, r.description, r.kind,
  array(select rp.policy_id from service.role_policy rp where rp.role_id = r.id order by rp.policy_id) as policies
from service.role r;

create view service.member_view as
select m.user_id, m.workspace_id, u.email, u.full_name, u.is_service, m.status, m.created_at,
  array(select mr.role_id from service.member_role mr
    where mr.workspace_id = m.workspace_id and mr.user_id = m.user_id order by mr.role_id) as roles
from service.member m join service."user" u on u.id = m.user_id;

create view service.invitation_view as
select i.id, i.workspace_id, i.email, i.invited_by, i.created_at, i.expires_at,
  array(select ir.role_id from service.invitation_role ir where ir.invitation_id = i.id order by ir.role_id)
    as workspace_roles
from service.invitation i;
`
