/** What check constraints say about the values of a column; null for nothing, and until the next introspection. */
export default `
alter table {meta}.primitive_field add column if not exists checks jsonb;
`
