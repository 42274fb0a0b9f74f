/**
 * The data model of one workspace, in a schema of its own; `{meta}` and `{data}` are placeholders for the quoted schema
 * names. The tables of the model have no foreign keys: the pure core writes its records as a whole and keeps them consistent.
 */

import { MOST_ACCESS_TESTS } from '../../core/access/expectation.ts'
import { LONGEST_JSON, MOST_NAMES, MOST_VIEWS } from '../../core/model/presentation.ts'

/** What `lineFault` refuses, of what PostgreSQL stores. */
const controls = "'[\\u0001-\\u001f\\u007f-\\u009f\\u2028\\u2029]'"

/** Columns of how something is called and shown. */
const shown = `  display_name text check (char_length(display_name) <= 200) constraint display_name_line check (display_name !~ ${controls}),
  description text check (char_length(description) <= 4000),
  icon text check (char_length(icon) <= 100),
  color text check (char_length(color) <= 100),
  display_template text check (char_length(display_template) <= 1000),
  sort integer,
  is_hidden boolean not null default false`

export default `
create schema {meta};
create schema {data};

create table {meta}.data_source (
  id uuid primary key,
  -- At the end of a statement, since names may be swapped.
  api_name text not null unique deferrable,
  provider text not null,
  preset text,
  sealed_credentials text,
  -- Which tables an introspection imports; null for all.
  table_choice jsonb,
  -- Where the ledger of writes is, empty for the schema of its connection; null where there is none.
  ledger_schema text,
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
  -- At the end of a statement, since names may be swapped.
  api_name text not null unique deferrable,
  -- The id that the database gives to it, which proves a rename; null where unknown.
  catalog_id text,
  is_read_only boolean not null default false,
  is_system boolean not null default false,
  -- Views and foreign tables have keys and relations in the model alone.
  is_view boolean not null default false,
  -- Whether other tables inherit from it, and whether triggers act when a row is written; null for no.
  is_inherited boolean,
  is_triggering boolean,
  -- Whether its table records its changes; null for no.
  has_history boolean,
  -- Whether a migration that did not end has changed its table; null for no.
  is_closed boolean,
  -- The version of the model that has changed it, or any part of it, last.
  touched bigint not null default 0,
  ordinal bigint generated always as identity
);

create table {meta}.primitive_field (
  id uuid primary key,
  collection_id uuid not null,
  db_name text not null,
  api_name text not null,
  catalog_id text,
  type jsonb not null,
  -- The type of the column where the types of fields lack it.
  native jsonb,
  -- What check constraints say about its values; null for nothing.
  checks jsonb,
  -- Whether the column treats different texts as equal.
  is_loose boolean not null,
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
  -- A many-to-many field leads through two others, {nearId, farId}; null for all others.
  through jsonb,
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

-- Who changed what of the collections of the system database that record it. Their triggers write it, in the transaction of the
-- change; its columns are those of core/sql/history.ts. An item is known by a digest of its key, which may be long.

create table {meta}.change (
  collection_id uuid not null,
  item text not null,
  id bigint generated always as identity,
  -- What cursors know it by, which has to tell nothing of other changes.
  mark uuid not null default gen_random_uuid(),
  "at" timestamptz not null default clock_timestamp(),
  actor text,
  action text not null,
  -- The fields that it is about, and of each what answers rendered before and after. Of what is too large there is neither.
  fields uuid[] not null,
  before text[],
  after text[],
  primary key (collection_id, item, id)
);
create index on {meta}.change using brin ("at");

-- How collections and fields are called and shown, and saved views of lists. They go with what they are of. What is said
-- of a field has its collection beside it, which a trigger sets: fields are in two tables, so that a trigger keeps their
-- reference, too.

create table {meta}.collection_meta (
  collection_id uuid primary key references {meta}.collection (id) on delete cascade,
${shown}
);
create table {meta}.field_meta (
  field_id uuid primary key,
  collection_id uuid not null references {meta}.collection (id) on delete cascade,
${shown}
);
create index on {meta}.field_meta (collection_id);
create table {meta}.view (
  id uuid primary key,
  name text not null check (char_length(name) between 1 and 200) constraint view_name_line check (name !~ ${controls}),
  collection_id uuid not null references {meta}.collection (id) on delete cascade deferrable initially deferred,
  user_id uuid references service."user" (id) on delete cascade deferrable initially deferred,
  role_id uuid references service.role (id) on delete cascade deferrable initially deferred,
  query jsonb not null check (char_length(query::text) <= ${LONGEST_JSON}),
  layout jsonb check (char_length(layout::text) <= ${LONGEST_JSON}),
  check (user_id is null or role_id is null)
);
create index on {meta}.view (collection_id);
create index on {meta}.view (user_id);
create index on {meta}.view (role_id);

create function {meta}.place_field_meta() returns trigger language plpgsql as $$ begin
  select f.collection_id into new.collection_id from {meta}.primitive_field f where f.id = new.field_id for key share; --
  if not found then select f.collection_id into new.collection_id from {meta}.single_relation_field f where f.id = new.field_id for key share; end if; --
  if not found then raise exception 'there is no such field' using errcode = 'foreign_key_violation', table = 'field_meta', constraint = 'field_meta_field_id_fkey'; end if; --
  return new; --
end $$;
create trigger place before insert or update of field_id on {meta}.field_meta for each row execute function {meta}.place_field_meta();
create function {meta}.forget_field_meta() returns trigger language plpgsql as $$ begin
  delete from {meta}.field_meta where field_id = old.id; --
  return null; --
end $$;
create trigger forget after delete on {meta}.primitive_field for each row execute function {meta}.forget_field_meta();
create trigger forget after delete on {meta}.single_relation_field for each row execute function {meta}.forget_field_meta();

-- All of them are loaded by one answer, to describe the model: together they are bounded, as JSON has them.

create function {meta}.bound_names() returns trigger language plpgsql as $$ begin
  if (
    select sum(octet_length(to_json(concat(x.display_name, x.description, x.icon, x.color, x.display_template))::text)) from (
      select display_name, description, icon, color, display_template from {meta}.collection_meta union all
      select display_name, description, icon, color, display_template from {meta}.field_meta) x
  ) > ${MOST_NAMES}
  then raise exception 'the names are too long' using errcode = 'check_violation', table = tg_table_name, constraint = 'names_limit'; end if; --
  return null; --
end $$;
create trigger bound after insert or update on {meta}.collection_meta for each statement execute function {meta}.bound_names();
create trigger bound after insert or update on {meta}.field_meta for each statement execute function {meta}.bound_names();

-- A view is of a role of its own workspace: another one's is refused as one that there is not.

create function {meta}.keep_view_role() returns trigger language plpgsql as $$ begin
  if new.role_id is not null and not exists (
    select 1 from service.role r join service.workspace w on w.id = r.workspace_id
    where r.id = new.role_id and 'service_' || w.api_name || '_meta' = tg_table_schema
  ) then raise exception 'there is no such role' using errcode = 'foreign_key_violation', table = 'view', constraint = 'view_role_id_fkey'; end if; --
  return new; --
end $$;
create trigger keep before insert or update of role_id on {meta}.view for each row execute function {meta}.keep_view_role();

-- Whoever uses a collection keeps views of it for themselves, and nobody else sees how many. Those of a role, and those of the
-- workspace, are bounded like those of a user.

create function {meta}.bound_views() returns trigger language plpgsql as $$ begin
  perform pg_advisory_xact_lock(hashtextextended(concat_ws(' ', tg_table_schema, 'view', new.user_id, new.role_id), 0)); --
  if (case
    when new.user_id is not null then (select count(*) from {meta}.view where user_id = new.user_id and id <> new.id)
    when new.role_id is not null then (select count(*) from {meta}.view where role_id = new.role_id and id <> new.id)
    else (select count(*) from {meta}.view where user_id is null and role_id is null and id <> new.id)
  end) >= ${MOST_VIEWS}
  then raise exception 'too many views' using errcode = 'check_violation', table = 'view', constraint = case
    when new.user_id is not null then 'view_user_id_limit' when new.role_id is not null then 'view_role_id_limit' else 'view_shared_limit' end; end if; --
  return new; --
end $$;
create trigger bound before insert or update of user_id, role_id on {meta}.view for each row execute function {meta}.bound_views();

-- What is expected of the rights of somebody, as ids of the model have it. It goes with its collection, with whom it is of, and with
-- each field that it names.

create table {meta}.access_test (
  id uuid primary key,
  name text not null unique check (char_length(name) between 1 and 200),
  collection_id uuid not null references {meta}.collection (id) on delete cascade deferrable initially deferred,
  user_id uuid references service."user" (id) on delete cascade,
  role_id uuid references service.role (id) on delete cascade,
  expectation jsonb not null,
  check (user_id is null or role_id is null)
);
create index on {meta}.access_test (collection_id);
create index on {meta}.access_test (user_id);
create index on {meta}.access_test (role_id);

create function {meta}.bound_access_tests() returns trigger language plpgsql as $$ begin
  perform pg_advisory_xact_lock(hashtextextended(concat_ws(' ', tg_table_schema, 'access_test'), 0)); --
  if (select count(*) from {meta}.access_test) >= ${MOST_ACCESS_TESTS}
  then raise exception 'too many access tests' using errcode = 'check_violation', table = 'access_test', constraint = 'access_test_limit'; end if; --
  return new; --
end $$;
create trigger bound before insert on {meta}.access_test for each row execute function {meta}.bound_access_tests();

create function {meta}.forget_access_test() returns trigger language plpgsql as $$ begin
  delete from {meta}.access_test where position(old.id::text in expectation::text) > 0; --
  return null; --
end $$;
create trigger forget_test after delete on {meta}.primitive_field for each row execute function {meta}.forget_access_test();
create trigger forget_test after delete on {meta}.single_relation_field for each row execute function {meta}.forget_access_test();

-- Files, and the bytes that are of no file: those of uploads that go on, and of what was deleted or replaced. A file gets its
-- bytes out of them and leaves them there, in the same transaction, so that neither is without the other. The service
-- removes those that are old.

create table {meta}.file (
  id uuid primary key,
  file_name text not null check (octet_length(file_name) between 1 and 255),
  file_size double precision not null check (file_size >= 0),
  media_type text not null,
  title text check (char_length(title) <= 200) constraint file_title_line check (title !~ ${controls}),
  description text check (char_length(description) <= 4000),
  tags jsonb check (char_length(tags::text) <= ${LONGEST_JSON}),
  created_at timestamp not null,
  updated_at timestamp not null,
  content_key uuid not null unique,
  content_hash text not null,
  -- Who has sent these bytes in parts; null for others.
  uploaded_by uuid
);

create table {meta}.loose_content (
  key uuid primary key,
  since timestamptz not null default now(),
  -- Its size where it is known; of an upload in parts whose it is, the name and size that were told.
  upload jsonb,
  -- The numbers of the parts of it that have come.
  stored int4multirange not null default '{}',
  -- Until when each part that is being stored counts, unless it is said again; by which word, and until when, it is being completed. Neither begins beside the other.
  puts jsonb not null default '{}',
  completed_by uuid,
  completed_until timestamptz,
  -- The file that it was of, empty for an upload that was given up; null for one that goes on.
  file jsonb
);
create index on {meta}.loose_content (since);

create function {meta}.take_content() returns trigger language plpgsql as $$ begin
  delete from {meta}.loose_content where key = new.content_key
    and case when file is null then upload->>'userId' is null or completed_until > now() else file->>'id' = new.id::text end
    returning coalesce(upload->>'userId', file->>'uploaded_by')::uuid into new.uploaded_by; --
  if not found then raise exception 'there is no such content' using errcode = 'foreign_key_violation', table = 'file', constraint = 'file_content_key_fkey'; end if; --
  return new; --
end $$;
create trigger take before insert on {meta}.file for each row execute function {meta}.take_content();
create trigger retake before update of content_key on {meta}.file for each row
  when (new.content_key <> old.content_key) execute function {meta}.take_content();

create function {meta}.leave_content() returns trigger language plpgsql as $$ begin
  insert into {meta}.loose_content (key, file) values (old.content_key, to_jsonb(old)); --
  return null; --
end $$;
create trigger record after insert or update or delete on {meta}.file for each row execute function service.record_file();
create trigger leave after delete on {meta}.file for each row execute function {meta}.leave_content();
create trigger leave_old after update of content_key on {meta}.file for each row
  when (new.content_key <> old.content_key) execute function {meta}.leave_content();
`
