/** Views and foreign tables have keys and relations in the model alone; false until the next introspection. */
export default `
alter table {meta}.collection add column if not exists is_view boolean not null default false;
`
