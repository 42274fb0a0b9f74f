/**
 * The data model of one workspace, in a schema of its own; `{meta}` and `{data}` are placeholders for the quoted schema
 * names. There are no foreign keys: the pure core writes the records as a whole and keeps them consistent.
 */
export default `
create schema {meta};
create schema {data};

create table {meta}.data_source (
  id uuid primary key,
  api_name text not null unique,
  provider text not null,
  preset text,
  sealed_credentials text,
  ordinal bigint generated always as identity
);

create table {meta}.namespace (
  id uuid primary key,
  source_id uuid not null,
  db_name text not null,
  is_system boolean not null default false,
  ordinal bigint generated always as identity
);

create table {meta}.collection (
  id uuid primary key,
  source_id uuid not null,
  namespace_id uuid,
  db_name text not null,
  api_name text not null unique,
  is_read_only boolean not null default false,
  is_system boolean not null default false,
  ordinal bigint generated always as identity
);

create table {meta}.primitive_field (
  id uuid primary key,
  collection_id uuid not null,
  db_name text not null,
  api_name text not null,
  type jsonb not null,
  is_nullable boolean not null,
  is_list boolean not null,
  is_read_only boolean not null default false,
  default_value jsonb,
  ordinal bigint generated always as identity
);
create index on {meta}.primitive_field (collection_id);

create table {meta}.single_relation_field (
  id uuid primary key,
  collection_id uuid not null,
  api_name text not null,
  opposite_collection_id uuid not null,
  opposite_relation_field_id uuid,
  constraint_id uuid,
  is_list boolean not null,
  is_nullable boolean not null,
  ordinal bigint generated always as identity
);
create index on {meta}.single_relation_field (collection_id);

create table {meta}.single_constraint (
  id uuid primary key,
  db_name text not null,
  on_delete text not null,
  on_update text not null,
  ordinal bigint generated always as identity
);

create table {meta}.single_constraint_field (
  constraint_id uuid not null,
  constrained_field_id uuid not null,
  referenced_field_id uuid not null,
  "order" integer not null,
  primary key (constraint_id, "order")
);

create table {meta}."index" (
  id uuid primary key,
  collection_id uuid not null,
  db_name text not null,
  kind text not null,
  ordinal bigint generated always as identity
);
create index on {meta}."index" (collection_id);

create table {meta}.index_field (
  index_id uuid not null,
  field_id uuid not null,
  "order" integer not null,
  primary key (index_id, "order")
);
`
