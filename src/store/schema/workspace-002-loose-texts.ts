/**
 * Marks columns that treat different texts as equal; null means no. Previously imported text columns of PostgreSQL
 * databases may be such columns until their next introspection; tables created by the service have none.
 */
export default `
alter table {meta}.primitive_field add column is_loose boolean;
update {meta}.primitive_field f set is_loose = true
  from {meta}.collection c join {meta}.data_source s on s.id = c.source_id
  where c.id = f.collection_id and f.type ->> 'name' = 'string'
    and s.api_name <> '_system' and s.provider in ('postgres', 'neon');
`
