/**
 * How collections and fields are called and shown, and saved views of lists. They go with what they are of. What is said of a field
 * has its collection beside it, which a trigger sets: fields are in two tables, so that a trigger keeps their reference, too.
 */
export default `
create table {meta}.collection_meta (
  collection_id uuid primary key references {meta}.collection (id) on delete cascade,
  display_name text check (char_length(display_name) <= 200),
  description text check (char_length(description) <= 4000),
  icon text check (char_length(icon) <= 100),
  color text check (char_length(color) <= 100),
  display_template text check (char_length(display_template) <= 1000),
  sort integer,
  is_hidden boolean not null default false
);
create table {meta}.field_meta (
  field_id uuid primary key,
  collection_id uuid not null references {meta}.collection (id) on delete cascade,
  display_name text check (char_length(display_name) <= 200),
  description text check (char_length(description) <= 4000),
  icon text check (char_length(icon) <= 100),
  color text check (char_length(color) <= 100),
  display_template text check (char_length(display_template) <= 1000),
  sort integer,
  is_hidden boolean not null default false
);
create index on {meta}.field_meta (collection_id);
create table {meta}.view (
  id uuid primary key,
  name text not null check (char_length(name) between 1 and 200),
  collection_id uuid not null references {meta}.collection (id) on delete cascade deferrable initially deferred,
  user_id uuid references service."user" (id) on delete cascade deferrable initially deferred,
  role_id uuid references service.role (id) on delete cascade deferrable initially deferred,
  query jsonb not null,
  layout jsonb,
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
`
