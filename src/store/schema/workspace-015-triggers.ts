/** Whether triggers act when a row of it is written; null for no, and until the next introspection. */
export default `
alter table {meta}.collection add column if not exists is_triggering boolean;
`
