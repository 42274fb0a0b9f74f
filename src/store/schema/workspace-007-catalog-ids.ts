/** The ids that a source's database gives to tables and columns, which prove a rename; null where unknown. */
export default `
alter table {meta}.collection add column if not exists catalog_id text;
alter table {meta}.primitive_field add column if not exists catalog_id text;
`
