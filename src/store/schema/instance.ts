/** The tables of the instance, in the schema `service` of the system database. */
import { auditActions } from '../../core/audit.ts'

export default `
-- The instance: users, workspaces and members.

create table service.instance (
  "only" boolean primary key default true check ("only"),
  environment_id uuid not null default gen_random_uuid(),
  access_version bigint not null default 0,
  rights_version bigint not null default 0,
  license_version bigint not null default 0,
  installed_at timestamptz not null default now()
);
insert into service.instance default values;

create sequence service.fence;

create table service.signing_key (
  id text primary key,
  public_jwk jsonb not null,
  sealed_private_jwk text not null,
  created_at timestamptz not null default now()
);

create table service."user" (
  id uuid primary key,
  email text,
  -- When somebody proved to read the mail of that address; without it somebody else may have set the account up.
  email_proven_at timestamptz,
  full_name text,
  description text,
  password_hash text,
  is_administrator boolean not null default false,
  is_service boolean not null default false,
  service_account_owner_id uuid references service."user" (id) on delete cascade,
  status text not null default 'active' check (status in ('active', 'suspended')),
  created_at timestamptz not null default now()
);
create unique index user_email on service."user" (lower(email));
create index user_by_service_account_owner on service."user" (service_account_owner_id);

create table service.session (
  id uuid primary key,
  user_id uuid not null references service."user" (id) on delete cascade,
  refresh_token_id uuid not null,
  created_at timestamptz not null default now(),
  last_used_at timestamptz not null default now(),
  expires_at timestamptz not null,
  revoked_at timestamptz,
  -- Null for a password. No foreign key: a session keeps the id of a deleted provider.
  provider_id uuid,
  name text,
  user_agent text,
  ip text
);
create index session_by_user on service.session (user_id);

create table service.api_key (
  id uuid primary key,
  user_id uuid not null references service."user" (id) on delete cascade,
  name text not null,
  description text,
  active boolean not null default true,
  scope jsonb,
  -- The key that created it, and whose deletion deletes it.
  made_by uuid references service.api_key (id) on delete cascade,
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  last_used_at timestamptz
);
create index api_key_by_user on service.api_key (user_id);
create index api_key_by_maker on service.api_key (made_by);

create table service.workspace (
  id uuid primary key,
  api_name text not null unique,
  display_name text,
  model_version bigint not null default 0,
  fence bigint not null default 0,
  schema_number integer not null,
  schema_looked_at timestamptz,
  created_at timestamptz not null default now()
);

-- Counts the changes of a workspace's rights; those of the instance are counted in its row.
create table service.workspace_rights (
  workspace_id uuid primary key references service.workspace (id) on delete cascade,
  version bigint not null
);

create table service.role (
  id uuid primary key,
  workspace_id uuid not null references service.workspace (id) on delete cascade,
  name text not null,
  description text,
  kind text not null check (kind in ('administrator', 'public', 'custom')),
  unique (workspace_id, name)
);

create table service.member (
  workspace_id uuid not null references service.workspace (id) on delete cascade,
  user_id uuid not null references service."user" (id) on delete cascade,
  status text not null default 'active' check (status in ('active', 'suspended')),
  created_at timestamptz not null default now(),
  primary key (workspace_id, user_id)
);
create index member_by_user on service.member (user_id);

create table service.member_role (
  workspace_id uuid not null,
  user_id uuid not null,
  role_id uuid not null references service.role (id) on delete cascade,
  primary key (workspace_id, user_id, role_id),
  foreign key (workspace_id, user_id) references service.member (workspace_id, user_id) on delete cascade
);
create index member_role_by_role on service.member_role (role_id);

-- Policies, invitations and the audit log, and the views behind their lists. What a policy names is stored apart from
-- its content, so that a migration can tell whether it would remove it.

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

create table service.invitation (
  id uuid primary key,
  workspace_id uuid not null references service.workspace (id) on delete cascade,
  email text not null,
  -- Of the token in the answer, and of that in the mail, which proves that the mail is read.
  token_hash text not null unique,
  mail_token_hash text unique,
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
-- Sorted by time, as all ids of entries are.

create function service.next_id() returns uuid language sql volatile as $$
  select encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid())
    placing substring(int8send(floor(extract(epoch from clock_timestamp()) * 1000)::bigint) from 3) from 1 for 6), 52, 1), 53, 1), 'hex')::uuid
$$;

create trigger audit_entry_is_append_only before update on service.audit_entry
  for each row execute function service.refuse_change();

-- What becomes of files, whichever statement does it. Who writes says so in its transaction (tellActor in core/sql/write/batch.ts).

create function service.record_file() returns trigger language plpgsql as $$
declare
  one jsonb := to_jsonb(case when tg_op = 'DELETE' then old else new end); --
  told jsonb := jsonb_build_object('fileName', one->'file_name', 'fileSize', one->'file_size', 'mediaType', one->'media_type'); --
  actor text := coalesce(current_setting('service.actor', true), ''); --
begin
  if tg_op = 'INSERT' and one->'created_at' <> one->'updated_at' then told := told || '{"restored": true}'; end if; --
  if tg_op = 'UPDATE' then
    told := told || jsonb_build_object('changed', (
      select coalesce(jsonb_agg(c.name order by c.at), '[]') from (values (1, 'file_name', 'fileName'), (2, 'media_type', 'mediaType'),
        (3, 'title', 'title'), (4, 'description', 'description'), (5, 'tags', 'tags'), (6, 'content_key', 'content')) c (at, stored, name)
      where to_jsonb(old)->c.stored is distinct from to_jsonb(new)->c.stored)); --
    if told->'changed' = '[]' then return null; end if; --
  end if; --
  insert into service.audit_entry (id, action, label, outcome, actor_type, actor_id, actor_email, workspace_id, target_type,
    target_id, payload)
  select service.next_id(), a.action, a.label, 'success',
    case when u.is_service then 'service' when u.id is not null then 'user' when actor = '' then 'system' else 'anonymous' end,
    u.id, u.email, (select w.id from service.workspace w where 'service_' || w.api_name || '_meta' = tg_table_schema),
    'file', (one->>'id')::uuid, told
  from (values ('INSERT', 'file.create.v1', '${auditActions['file.create.v1']}'),
    ('UPDATE', 'file.update.v1', '${auditActions['file.update.v1']}'),
    ('DELETE', 'file.delete.v1', '${auditActions['file.delete.v1']}')) a (op, action, label)
  left join service."user" u on u.id::text = actor where a.op = tg_op; --
  return null; --
end $$;

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

-- API keys and service accounts for lists, each row with the users who may manage it.

create function service.key_line(key uuid) returns table (id uuid, active boolean, expires_at timestamptz)
language sql stable as $$
  with recursive line as (
    select k.id, k.active, k.expires_at, k.made_by from service.api_key k where k.id = key
    union
    select m.id, m.active, m.expires_at, m.made_by from service.api_key m join line l on m.id = l.made_by)
  select l.id, l.active, l.expires_at from line l
$$;

create view service.api_key_view as
select k.id, k.user_id, u.service_account_owner_id as owner_id, k.name, k.description, k.active, k.expires_at,
  k.created_at, k.last_used_at, k.scope, k.made_by
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

-- Counters of attempts at secrets, and tokens that reset passwords.

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

-- Sign-in providers, the accounts of their subjects, and returned sign-ins.

create table service.provider (
  id uuid primary key,
  name text not null unique,
  server jsonb not null,
  client_id text not null,
  sealed_client_secret text not null,
  scopes jsonb not null,
  enabled boolean not null,
  auto_join_role_id uuid references service.role (id) on delete set null,
  created_at timestamptz not null default now()
);
create index provider_by_role on service.provider (auto_join_role_id);

create table service.identity (
  issuer text not null,
  subject text not null,
  provider_id uuid not null references service.provider (id) on delete cascade,
  user_id uuid not null references service."user" (id) on delete cascade,
  created_at timestamptz not null default now(),
  primary key (issuer, subject)
);
create index identity_by_provider on service.identity (provider_id);
create index identity_by_user on service.identity (user_id);

create table service.returned_sign_in (
  state_hash text primary key,
  expires_at timestamptz not null
);
create index returned_sign_in_by_expiry on service.returned_sign_in (expires_at);

create view service.provider_view as
select p.id, p.name, p.server ->> 'issuer' as issuer, p.server ->> 'authorizationEndpoint' as authorization_endpoint,
  p.server ->> 'tokenEndpoint' as token_endpoint, p.server ->> 'userinfoEndpoint' as userinfo_endpoint,
  p.server ->> 'emailsEndpoint' as emails_endpoint, p.server -> 'claims' as claims,
  p.server ->> 'clientAuthentication' as client_authentication, p.client_id, p.scopes, p.enabled, p.created_at,
  case when r.id is not null then jsonb_build_object('workspace', w.api_name, 'roleId', r.id) end as auto_join
from service.provider p
left join service.role r on r.id = p.auto_join_role_id
left join service.workspace w on w.id = r.workspace_id;

-- Sign-ins of devices that have no browser, until somebody decides on them, and links of a local run that sign in once.

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

create table service.sign_in_link (
  token_hash text primary key,
  user_id uuid not null references service."user" (id) on delete cascade,
  expires_at timestamptz not null
);

-- Data sources with a running or failed migration, whose databases may hold changes that the model lacks. The row is
-- deleted when the model is saved, or when the source is introspected.

create table service.source_mark (
  source_id uuid primary key,
  workspace_id uuid not null references service.workspace (id) on delete cascade,
  steps jsonb not null,
  marked_at timestamptz not null default now()
);

-- Which database a data source leads to: digests of what it is known by, and the schema of what names none.

create table service.source_place (
  source_id uuid primary key,
  workspace_id uuid not null references service.workspace (id) on delete cascade,
  known_as jsonb not null,
  default_schema text
);
create index on service.source_place (workspace_id);
create index on service.source_place using gin (known_as);

-- What was last seen of the schema of a data source, and since when it is another than that of the model.

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

-- Names of tables and columns that migrations have lately taken from a collection or field: a process whose model is
-- older still means that one by them.

create table service.given_up_name (
  workspace_id uuid not null references service.workspace (id) on delete cascade,
  name text not null,
  owner_id uuid not null,
  given_up_at timestamptz not null,
  primary key (workspace_id, name)
);

-- Names that workspaces have lately had: a process that has not seen the deletion still means that one by them.

create table service.given_up_workspace (
  api_name text primary key,
  given_up_at timestamptz not null
);

-- Names of the API that collections and fields had: nobody but an Administrator gives them to another one that is there.

create table service.former_name (
  workspace_id uuid not null references service.workspace (id) on delete cascade,
  -- The collection of a field; empty for a collection.
  place text not null,
  name text not null,
  owner_id uuid not null,
  primary key (workspace_id, place, name, owner_id)
);

-- What connectors declared when their schema was imported.

create table service.connector_capability (
  workspace_id uuid not null references service.workspace (id) on delete cascade,
  source_id uuid not null,
  revision text not null,
  document jsonb not null,
  primary key (workspace_id, source_id)
);

-- Sealed named secrets of workspaces, and the data sources that use them: a secret in use cannot be deleted, and a
-- source cannot be created with a missing secret.

create table service.secret (
  id uuid primary key,
  workspace_id uuid not null references service.workspace (id) on delete cascade,
  name text not null,
  sealed_value text not null,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  unique (workspace_id, name)
);

create table service.source_secret (
  workspace_id uuid not null references service.workspace (id) on delete cascade,
  source_id uuid not null,
  secret_id uuid not null references service.secret (id),
  primary key (source_id, secret_id)
);
create index on service.source_secret (secret_id);
create index on service.source_secret (workspace_id);

-- Writes that were sent with an Idempotency-Key, each with its answer until it expires. Without a reference to the
-- workspace, whose row every write would lock; its deletion deletes them.

create table service.ledger (
  scope text not null,
  workspace_id text not null,
  fingerprint text not null,
  rights text not null,
  outcome text not null,
  body text,
  item_keys text,
  started_at bigint not null,
  expires_at bigint not null,
  constraint service_ledger_key primary key (scope)
);
create index on service.ledger (expires_at);
create index on service.ledger (workspace_id);

-- The license, shared by all processes and isolates: the last answer of the licensing service, the lease of the process
-- that is calling it, and the starts that were answered.

create table service.license (
  "only" boolean primary key default true check ("only"),
  key_digest text,
  activation_id text,
  document text,
  verdict text check (verdict in ('valid', 'expired', 'suspended', 'canceled')),
  validated_at timestamptz,
  attempted_at timestamptz,
  fault jsonb,
  lease_id uuid,
  lease_until timestamptz not null default '-infinity'
);
insert into service.license default values;

create table service.license_start (
  id text primary key,
  at timestamptz not null default now()
);

-- The time of the last telemetry post, and the random name it is posted under, which has no other use.

create table service.telemetry (
  "only" boolean primary key default true check ("only"),
  id uuid not null default gen_random_uuid(),
  posted_at timestamptz not null default '-infinity'
);
insert into service.telemetry default values;

-- Workspaces that are being deleted, and those that were, until the bytes of their files are as well.

create table service.deleted_workspace (
  id uuid primary key
);

-- The bytes of files where no bucket or folder has them: each part in pieces of at most 1 MiB. Without a reference to the
-- workspace, since they are removed like those of the other stores.

create table service.file_part (
  workspace_id uuid not null,
  file_id uuid not null,
  number integer not null,
  piece integer not null,
  bytes bytea not null,
  primary key (workspace_id, file_id, number, piece)
);
-- Bytes of files are compressed already, and a range of what is not compressed is read without the rest.
alter table service.file_part alter column bytes set storage external;

-- The assistant of the console: its settings by workspace, what its users said and were told, the calls that wait for
-- them, and what was used of a day.

create table service.assistant_settings (
  -- That of the workspace.
  id uuid primary key references service.workspace (id) on delete cascade,
  settings jsonb not null,
  sealed_key text
);

create table service.conversation (
  id uuid primary key,
  workspace_id uuid not null references service.workspace (id) on delete cascade,
  user_id uuid not null references service."user" (id) on delete cascade,
  title text not null,
  allows_writes boolean not null default false,
  -- Whether it may have values of items in it.
  has_rows boolean not null,
  -- Of all entries, in bytes.
  size bigint not null default 0,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  -- Who answers in it: one at a time, and until when if it says nothing more.
  held_by uuid,
  held_until timestamptz
);
create index on service.conversation (workspace_id, user_id, updated_at);
create index on service.conversation (user_id);
create index on service.conversation (updated_at);

create table service.conversation_entry (
  conversation_id uuid not null references service.conversation (id) on delete cascade,
  position bigint generated always as identity,
  -- JSON, in which every text can be.
  entry text not null,
  primary key (conversation_id, position)
);

create table service.assistant_approval (
  id uuid primary key,
  conversation_id uuid not null references service.conversation (id) on delete cascade,
  tool text not null,
  arguments text not null,
  model_version bigint not null,
  state text not null default 'pending' check (state in ('pending', 'approved', 'declined')),
  expires_at timestamptz not null
);
create index on service.assistant_approval (conversation_id);

create table service.assistant_usage (
  workspace_id uuid not null references service.workspace (id) on delete cascade,
  user_id uuid not null references service."user" (id) on delete cascade,
  day date not null,
  requests integer not null default 0,
  tokens bigint not null default 0,
  primary key (workspace_id, day, user_id)
);
create index on service.assistant_usage (user_id);
`
