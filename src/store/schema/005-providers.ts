/**
 * Sign-in providers, the accounts of their subjects, and returned sign-ins. `email_proven_at` is set when somebody has
 * proved to read the mail of that address; an account without it may have been set up by somebody else.
 */
export default `
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

alter table service."user" add column email_proven_at timestamptz;

create view service.provider_view as
select p.id, p.name, p.server ->> 'issuer' as issuer, p.server ->> 'authorizationEndpoint' as authorization_endpoint,
  p.server ->> 'tokenEndpoint' as token_endpoint, p.server ->> 'userinfoEndpoint' as userinfo_endpoint,
  p.server ->> 'emailsEndpoint' as emails_endpoint, p.server -> 'claims' as claims,
  p.server ->> 'clientAuthentication' as client_authentication, p.client_id, p.scopes, p.enabled, p.created_at,
  case when r.id is not null then jsonb_build_object('workspace', w.api_name, 'roleId', r.id) end as auto_join
from service.provider p
left join service.role r on r.id = p.auto_join_role_id
left join service.workspace w on w.id = r.workspace_id;
`
