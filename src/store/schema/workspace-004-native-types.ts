/** The types of columns that the types of fields lack; null until the next introspection. */
export default `
alter table {meta}.primitive_field add column native jsonb;
`
