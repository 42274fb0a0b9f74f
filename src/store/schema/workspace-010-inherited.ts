/** Whether other tables inherit from it; null for no, and until the next introspection. */
export default `
alter table {meta}.collection add column if not exists is_inherited boolean;
`
