/**
 * Which columns take different texts for equal; null is none. Texts of databases of PostgreSQL that were imported before
 * may be such until their next introspection. The tables that the service made have none.
 */
export default `
alter table {meta}.primitive_field add column is_loose boolean;
update {meta}.primitive_field f set is_loose = true
  from {meta}.collection c join {meta}.data_source s on s.id = c.source_id
  where c.id = f.collection_id and f.type ->> 'name' = 'string'
    and s.api_name <> '_system' and s.provider in ('postgres', 'neon');
`
