/** The instance: users, workspaces and members. */
export default `
create table service.instance (
  "only" boolean primary key default true check ("only"),
  environment_id uuid not null default gen_random_uuid(),
  access_version bigint not null default 0,
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
  full_name text,
  password_hash text,
  is_administrator boolean not null default false,
  is_service boolean not null default false,
  service_account_owner_id uuid references service."user" (id) on delete cascade,
  status text not null default 'active' check (status in ('active', 'suspended')),
  created_at timestamptz not null default now()
);
create unique index user_email on service."user" (lower(email));

create table service.session (
  id uuid primary key,
  user_id uuid not null references service."user" (id) on delete cascade,
  refresh_token_id uuid not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  revoked_at timestamptz
);
create index session_by_user on service.session (user_id);

create table service.api_key (
  id uuid primary key,
  user_id uuid not null references service."user" (id) on delete cascade,
  name text not null,
  description text,
  active boolean not null default true,
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  last_used_at timestamptz
);
create index api_key_by_user on service.api_key (user_id);

create table service.workspace (
  id uuid primary key,
  api_name text not null unique,
  display_name text,
  model_version bigint not null default 0,
  fence bigint not null default 0,
  schema_number integer not null,
  created_at timestamptz not null default now()
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

create table service.member_role (
  workspace_id uuid not null,
  user_id uuid not null,
  role_id uuid not null references service.role (id) on delete cascade,
  primary key (workspace_id, user_id, role_id),
  foreign key (workspace_id, user_id) references service.member (workspace_id, user_id) on delete cascade
);
`
