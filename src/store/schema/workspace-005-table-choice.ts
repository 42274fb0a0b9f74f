/** Which tables of a source an introspection imports; null for all. */
export default `
alter table {meta}.data_source add column if not exists table_choice jsonb;
`
