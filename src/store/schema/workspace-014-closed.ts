/** Whether a migration that did not end has changed its table; null for no. */
export default `
alter table {meta}.collection add column if not exists is_closed boolean;
`
