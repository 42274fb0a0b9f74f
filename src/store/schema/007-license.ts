/**
 * The license of the instance, shared by all its processes and isolates: the last answer of the licensing service, the
 * lease of the process that is calling it, and the starts that were answered.
 */
export default `
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

alter table service.instance add column license_version bigint not null default 0;
`
